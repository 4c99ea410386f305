/** What is known of each court's cases, for the status: read now and then, and never waited for once it was read. */

import { COURT_RECORDS, type CourtRecord } from '../projections/court-records.ts';
import type { Reach } from '../projections/reach.ts';
import { type Clock, MICROS_PER_SECOND } from '../runtime/instant.ts';
import type { QueryStore } from '../storage/read-store.ts';

/** By court code; a court that is not there has no case. */
export type CourtStandings = ReadonlyMap<string, CourtRecord>;

export interface StandingsReader {
  /** What was read last; null while nothing is known. Reads again in the background where that is due. */
  latest(): CourtStandings | null;
  /** The first reading, or null where it takes too long or fails. */
  first(): Promise<CourtStandings | null>;
}

export interface StandingsPorts {
  readonly readStore: Pick<QueryStore, 'find'>;
  /** Of the read model of courts. */
  readonly reach: Reach;
  readonly clock: Clock;
}

/** More courts than the registry will ever have. */
const MOST_COURTS = 10_000;
const READ_EVERY = 5 * MICROS_PER_SECOND;
const PATIENCE_MS = 1_500;

export function createCourtStandings({ readStore, reach, clock }: StandingsPorts): StandingsReader {
  let known: CourtStandings | null = null;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;

  async function read(): Promise<void> {
    // While the model is made from nothing its counts mean nothing.
    if (!reach.wasBuilt && !(await reach.showsEverything())) return;
    const found = await readStore.find<CourtRecord>({ collection: COURT_RECORDS, limit: MOST_COURTS });
    known = new Map(found.map(({ id, document }) => [id, document]));
  }
  const due = (): Promise<void> | null => {
    const now = clock.now();
    if (reading === null && Math.abs(now - readAt) >= READ_EVERY) {
      readAt = now;
      // What cannot be read now leaves what was read before; health tells of the store.
      reading = read()
        .catch(() => {})
        .finally(() => {
          reading = null;
        });
    }
    return reading;
  };
  return {
    latest() {
      due();
      return known;
    },
    async first() {
      const underway = due();
      if (known === null && underway) {
        let timer: NodeJS.Timeout | undefined;
        const late = new Promise<void>((resolve) => {
          timer = setTimeout(resolve, PATIENCE_MS);
        });
        await Promise.race([underway, late]);
        clearTimeout(timer);
      }
      return known;
    },
  };
}
