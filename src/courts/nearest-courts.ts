/** Which courts somebody may have meant by a code that no court has. */
import type { Court } from './court.ts';

/** The longest code has 24 characters; what is typed beyond twice that cannot help. */
const MAX_TYPED_LENGTH = 48;

interface Candidate {
  readonly court: Court;
  readonly distance: number;
  readonly sharedStart: number;
}

/**
 * The courts whose codes or aliases are nearest to what was typed, best first; fewer than `limit`, or none, where
 * nothing is near. A part of a code counts too: `tulsa` finds `ok_tulsa`. The work is bounded whatever was typed.
 */
export function rankCourts(courts: readonly Court[], code: string, limit: number): Court[] {
  const typed = code.slice(0, MAX_TYPED_LENGTH).trim().toLowerCase();
  if (typed === '') return [];
  const furthest = Math.max(1, Math.ceil(typed.length / 3));
  return courts
    .flatMap((court) => candidate(court, typed, furthest) ?? [])
    .sort((a, b) => a.distance - b.distance || b.sharedStart - a.sharedStart || (a.court.code < b.court.code ? -1 : 1))
    .slice(0, limit)
    .map(({ court }) => court);
}

function candidate(court: Court, typed: string, furthest: number): Candidate | null {
  let best: Candidate | null = null;
  const consider = (name: string, penalty: number): void => {
    const distance = penalty + nameDistance(name, typed, furthest);
    if (distance > furthest) return;
    const sharedStart = sharedPrefix(name, typed);
    if (best === null || distance < best.distance) best = { court, distance, sharedStart };
  };
  consider(court.code, 0);
  for (const alias of court.aliases) consider(alias, 0);
  const underscore = court.code.indexOf('_');
  if (underscore > 0) consider(court.code.slice(underscore + 1), 0.5);
  return best;
}

/** Edit distance, where the beginning of a code counts as near as a code with one fault. */
function nameDistance(name: string, typed: string, furthest: number): number {
  if (typed.length >= 3 && name.startsWith(typed)) return 1;
  return editDistance(name, typed, furthest);
}

/** Levenshtein's distance, or anything above `furthest` as soon as that is certain. */
export function editDistance(a: string, b: string, furthest: number): number {
  if (Math.abs(a.length - b.length) > furthest) return Number.POSITIVE_INFINITY;
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    let smallest = row;
    for (let column = 1; column <= b.length; column += 1) {
      const changed = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const value = Math.min(changed, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1);
      current.push(value);
      if (value < smallest) smallest = value;
    }
    if (smallest > furthest) return Number.POSITIVE_INFINITY;
    previous = current;
  }
  return previous[b.length] ?? Number.POSITIVE_INFINITY;
}

function sharedPrefix(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}
