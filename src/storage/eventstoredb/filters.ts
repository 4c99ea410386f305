/** Filters on the server: each is one regular expression, or a list of prefixes, on one thing. */
import { eventTypeFilter, type Filter, streamNameFilter } from '@eventstore/db-client';
import type { EventFilter } from '../event-log.ts';

/** How many events the server looks at for one page. */
const SEARCH_WINDOW = 512;
/** A checkpoint comes after so many pages: a sign of life, and where to go on after a drop. */
const PAGES_TO_CHECKPOINT = 4;

/** What the node writes about itself has types that begin with `$`. */
const NOT_OF_THE_NODE = '^[^$]';
const NOTHING = '^$';

type CheckpointReached = NonNullable<Filter['checkpointReached']>;

export function serverFilter(filter: EventFilter, checkpointReached: CheckpointReached): Filter {
  const options = { maxSearchWindow: SEARCH_WINDOW, checkpointInterval: PAGES_TO_CHECKPOINT, checkpointReached };
  switch (filter.by) {
    case 'all':
      return eventTypeFilter({ ...options, regex: NOT_OF_THE_NODE });
    case 'types':
      // Not by prefixes: PaymentSettled is one of PaymentSettledLate.
      return eventTypeFilter({ ...options, regex: filter.types.length ? anyOf(filter.types) : NOTHING });
    case 'streams':
      if (filter.prefixes.length === 0) return eventTypeFilter({ ...options, regex: NOTHING });
      return streamNameFilter({ ...options, prefixes: [...filter.prefixes] });
  }
}

const anyOf = (types: readonly string[]): string =>
  `^(?:${types.map((type) => type.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')})$`;
