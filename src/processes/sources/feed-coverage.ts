/** The courts of which a feed shows what is new, so that looks only complete it (docs/design/sources.md#watched-cases). */
import type { Court } from '../../courts/court.ts';
import { MICROS_PER_SECOND, type Micros } from '../../runtime/instant.ts';
import type { CourtFeed } from '../../sources/rss/addresses.ts';
import { type FeedMemory, readMemory } from '../../sources/rss/feed-memory.ts';
import { isSilent } from '../../sources/rss/feed-rules.ts';
import type { ReadStore } from '../../storage/read-store.ts';

export type IsCovered = (known: { readonly court: Court; readonly caseNumber: string }) => boolean;

/** What is covered at a moment. */
export type Coverage = (now: Micros) => Promise<IsCovered>;

/** A feed that was not read whole for so long shows nothing that a look could rely on. */
const READ_WITHIN: Micros = 3_600 * MICROS_PER_SECOND;
const READ_EVERY: Micros = 300 * MICROS_PER_SECOND;

/** Every type of entry: courts choose which types their feeds have, and say so. */
const ALL_TYPES = /^\s*(?:Docket entries of type:\s*all\b|All docket entries|Public filings in the last)/i;

/** Whether a feed shows every new entry now. */
export function isComplete(
  memory: Pick<FeedMemory, 'types' | 'lookedAt' | 'movedAt'>,
  court: Court,
  now: Micros,
): boolean {
  const { types, lookedAt, movedAt } = memory;
  if (lookedAt === null || now - lookedAt > READ_WITHIN || !ALL_TYPES.test(types)) return false;
  return movedAt !== null && !isSilent(court.timeZone, movedAt, now);
}

export function feedCoverage(readStore: Pick<ReadStore, 'cell'>, feeds: readonly CourtFeed[]): Coverage {
  let covered: ReadonlySet<string> = new Set();
  let readAt = Number.NEGATIVE_INFINITY;
  return async (now) => {
    if (Math.abs(now - readAt) >= READ_EVERY) {
      const complete = new Set<string>();
      for (const { court } of feeds) {
        const { memory } = await readMemory(readStore, court.code);
        if (isComplete(memory, court, now)) complete.add(court.code);
      }
      [covered, readAt] = [complete, now];
    }
    return ({ court }) => covered.has(court.code);
  };
}
