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

/** Longer than every court's name; longer input is not looked up. */
const MAX_NAME_LENGTH = 64;

/** The court with this code or alias, in any letter case, ignoring spaces around it; null if there is none. */
export function findCourt(code: string): Court | null {
  if (code.length > MAX_NAME_LENGTH) return null;
  return courtsByName.get(code.trim().toLowerCase()) ?? null;
}

/** Whether a court can be queried; a planned one is listed but answers 422 (docs/design/interface.md#3.1). */
export const isLive = (court: Court): boolean => court.coverage !== 'planned';

const liveCourts = courts.filter(isLive);

/** The courts that can be queried and whose codes are closest to `code`, best first (`rankCourts`). */
export const nearestCourts = (code: string, limit: number): Court[] => rankCourts(liveCourts, code, limit);
