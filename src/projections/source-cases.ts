/** Read model of the ids that sources have for cases. A case may have several, and a deleted id is not listed. */
import { parseCaseNumber } from '../courts/case-number.ts';
import { findCourt } from '../courts/registry.ts';
import type { EventOf } from '../events/event.ts';
import { type LiveSourceName, SourceCaseFound, SourceCaseGone } from '../events/source.ts';
import type { Instant } from '../runtime/instant.ts';
import type { Projection } from './projection.ts';

export const SOURCE_CASES = 'source-cases';

export type SourceCaseRecord = {
  readonly source: LiveSourceName;
  readonly sourceCaseId: string;
  readonly court: string;
  /** In the canonical form. */
  readonly caseNumber: string;
  /** The number without its office, by which it is found if a caller omits that. */
  readonly core: string;
  readonly foundAt: Instant;
};

type Found = EventOf<typeof SourceCaseFound>;

export const sourceCases: Projection<Found | EventOf<typeof SourceCaseGone>> = {
  name: SOURCE_CASES,
  events: [SourceCaseFound, SourceCaseGone],
  forOperators: true,
  collections: [{ name: SOURCE_CASES, indexes: [['core'], ['source', 'foundAt']] }],

  targets: ({ event: { data } }) => [{ collection: SOURCE_CASES, id: sourceCaseId(data.source, data.sourceCaseId) }],

  fold(_, __, { event, recorded }) {
    if (event.type === 'SourceCaseGone') return null;
    const { data } = event;
    const court = findCourt(data.court);
    const core = (court && parseCaseNumber(court, data.caseNumber)?.core) ?? data.caseNumber;
    return { ...data, core, foundAt: recorded.metadata.recordedAt };
  },
};

export const sourceCaseId = (source: LiveSourceName, id: string): string => `${source}/${id}`;
