/** Server-side filters. Each is one regular expression or one list of prefixes, on a single field. */
import { eventTypeFilter, type Filter, streamNameFilter } from '@eventstore/db-client';
import type { EventFilter } from '../event-log.ts';

/** How many events the server examines for one page. */
const SEARCH_WINDOW = 512;
/**
 * A checkpoint comes after this many pages. It shows that the subscription is alive and where to resume after a drop.
 */
const PAGES_TO_CHECKPOINT = 4;

/** The node's own system events have types that begin with `$`. */
const NOT_OF_THE_NODE = '^[^$]';
const NOTHING = '^$';

type CheckpointReached = NonNullable<Filter['checkpointReached']>;

export function serverFilter(filter: EventFilter, checkpointReached: CheckpointReached): Filter {
  const options = { maxSearchWindow: SEARCH_WINDOW, checkpointInterval: PAGES_TO_CHECKPOINT, checkpointReached };
  switch (filter.by) {
    case 'all':
      return eventTypeFilter({ ...options, regex: NOT_OF_THE_NODE });
    case 'types':
      // Not by prefixes: PaymentSettled is a prefix of PaymentSettledLate.
      return eventTypeFilter({ ...options, regex: filter.types.length ? anyOf(filter.types) : NOTHING });
    case 'streams':
      if (filter.prefixes.length === 0) return eventTypeFilter({ ...options, regex: NOTHING });
      return streamNameFilter({ ...options, prefixes: [...filter.prefixes] });
  }
}

const anyOf = (types: readonly string[]): string =>
  `^(?:${types.map((type) => type.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')})$`;
