/** Read model of courts: how many cases of each are known, and when one was last read from a source. */
import { courtOfDocket, DocketChecked, DocketOpened } from '../events/docket.ts';
import type { EventOf } from '../events/event.ts';
import type { Instant } from '../runtime/instant.ts';
import type { Projection } from './projection.ts';

export const COURT_RECORDS = 'court-records';

/** By court code, which is the document's id. */
export type CourtRecord = {
  readonly casesKnown: number;
  /** When a source last provided a docket of the court. */
  readonly lastSuccessAt: Instant | null;
  /** Which one; absent before the first, and in records of earlier versions. */
  readonly lastSource?: string;
};

type CourtEvent = EventOf<typeof DocketOpened> | EventOf<typeof DocketChecked>;

const NOTHING: CourtRecord = { casesKnown: 0, lastSuccessAt: null };

export const courtRecords: Projection<CourtEvent> = {
  name: COURT_RECORDS,
  events: [DocketOpened, DocketChecked],
  collections: [{ name: COURT_RECORDS, indexes: [] }],

  targets({ recorded }) {
    const court = courtOfDocket(recorded.stream);
    return court === undefined ? [] : [{ collection: COURT_RECORDS, id: court }];
  },

  fold(_target, document, { event: { type, data } }) {
    const before = (document as CourtRecord | null) ?? NOTHING;
    if (type === 'DocketOpened') return { ...before, casesKnown: before.casesKnown + 1 };
    if (data.outcome === 'abandoned' || data.outcome === 'failed') return document;
    const isNewer = before.lastSuccessAt === null || data.askedAt > before.lastSuccessAt;
    return isNewer ? { ...before, lastSuccessAt: data.askedAt, lastSource: data.source } : before;
  },
};
