/** What is known about each court's cases, for the status. Read now and then; after the first read no caller waits. */

import { COURT_RECORDS, type CourtRecord } from '../projections/court-records.ts';
import type { Freshness } from '../projections/freshness.ts';
import { type Clock, MICROS_PER_SECOND } from '../runtime/instant.ts';
import type { QueryStore } from '../storage/read-store.ts';

/** By court code; a missing court has no case. */
export type CourtStandings = ReadonlyMap<string, CourtRecord>;

export interface StandingsReader {
  /** The last result; null before the first. Starts a new read in the background if one is due. */
  latest(): CourtStandings | null;
  /** The first result, or null if it takes too long or fails. */
  first(): Promise<CourtStandings | null>;
}

export interface StandingsPorts {
  readonly readStore: Pick<QueryStore, 'find'>;
  /** Of the read model of courts. */
  readonly freshness: Freshness;
  readonly clock: Clock;
}

/** More than the registry will ever contain. */
const MOST_COURTS = 10_000;
const READ_EVERY = 5 * MICROS_PER_SECOND;
const PATIENCE_MS = 1_500;

export function createCourtStandings({ readStore, freshness, clock }: StandingsPorts): StandingsReader {
  let known: CourtStandings | null = null;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;

  async function read(): Promise<void> {
    // While the model is being built from scratch, its counts mean nothing.
    if (!freshness.wasBuilt && !(await freshness.showsEverything())) return;
    const found = await readStore.find<CourtRecord>({ collection: COURT_RECORDS, limit: MOST_COURTS });
    known = new Map(found.map(({ id, document }) => [id, document]));
  }
  const due = (): Promise<void> | null => {
    const now = clock.now();
    if (reading === null && Math.abs(now - readAt) >= READ_EVERY) {
      readAt = now;
      // If a read fails, the earlier result stays; the health checks report the store.
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
