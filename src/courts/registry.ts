/** The courts that this service knows (docs/design/interface.md#1). */
import { readFileSync } from 'node:fs';
import type { Court } from './court.ts';
import { rankCourts } from './nearest-courts.ts';
import { readRegistry } from './registry-file.ts';

/** Every court, in the registry's order: federal courts first, then states, then Canada. */
export const courts: readonly Court[] = readRegistry(
  readFileSync(new URL('../../registry/courts.tsv', import.meta.url), 'utf8'),
);

const courtsByName = new Map<string, Court>();
for (const court of courts) for (const name of [court.code, ...court.aliases]) courtsByName.set(name, court);

/** No name of a court is longer; whatever is, need not be looked at. */
const MAX_NAME_LENGTH = 64;

/** The court that a code or an alias means, in any letter case, spaces around it ignored; null for no court. */
export function findCourt(code: string): Court | null {
  if (code.length > MAX_NAME_LENGTH) return null;
  return courtsByName.get(code.trim().toLowerCase()) ?? null;
}

/**
 * Whether a court can be queried; one that is only planned is listed and answers 422 (docs/design/interface.md#3.1).
 */
export const isLive = (court: Court): boolean => court.coverage !== 'planned';

const liveCourts = courts.filter(isLive);

/** The courts that can be queried and whose codes are nearest to `code`, best first (`rankCourts`). */
export const nearestCourts = (code: string, limit: number): Court[] => rankCourts(liveCourts, code, limit);
