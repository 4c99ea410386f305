/** Suggests courts for a code that no court has. */
import type { Court } from './court.ts';

/** The longest name has 24 characters; longer input is not close to any of them. */
const MAX_TYPED_LENGTH = 32;

/** A code with more differences is another code. This also limits the work on any input. */
const MAX_FAULTS = 3;

interface Candidate {
  readonly court: Court;
  readonly distance: number;
  readonly sharedStart: number;
}

/**
 * The courts whose codes or aliases are closest to the typed code, best first; fewer than `limit`, or none, if few are
 * close. A part of a code counts too: `tulsa` finds `ok_tulsa`. The work is bounded for any input.
 */
export function rankCourts(courts: readonly Court[], code: string, limit: number): Court[] {
  const typed = code
    .slice(0, 4 * MAX_TYPED_LENGTH)
    .trim()
    .toLowerCase();
  if (typed === '' || typed.length > MAX_TYPED_LENGTH) return [];
  const furthest = Math.min(MAX_FAULTS, Math.max(1, Math.ceil(typed.length / 3)));
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
    if (distance > furthest || (best !== null && distance >= best.distance)) return;
    best = { court, distance, sharedStart: sharedPrefix(name, typed) };
  };
  consider(court.code, 0);
  for (const alias of court.aliases) consider(alias, 0);
  const underscore = court.code.indexOf('_');
  if (underscore > 0) consider(court.code.slice(underscore + 1), 0.5);
  return best;
}

/** Edit distance; a prefix of a code counts as close as a code with one difference. */
function nameDistance(name: string, typed: string, furthest: number): number {
  if (typed.length >= 3 && name.startsWith(typed)) return 1;
  return editDistance(name, typed, furthest);
}

// Reused: one answer compares thousands of names, and each would otherwise allocate a row for each letter.
let previous = new Uint16Array(MAX_TYPED_LENGTH + 1);
let current = new Uint16Array(MAX_TYPED_LENGTH + 1);

/**
 * Levenshtein distance, or infinity if it is above `furthest`. The caller must limit both lengths: the work is their
 * product.
 */
export function editDistance(name: string, typed: string, furthest: number): number {
  if (Math.abs(name.length - typed.length) > furthest) return Number.POSITIVE_INFINITY;
  if (previous.length <= typed.length) {
    previous = new Uint16Array(typed.length + 1);
    current = new Uint16Array(typed.length + 1);
  }
  for (let column = 0; column <= typed.length; column += 1) previous[column] = column;
  for (let row = 1; row <= name.length; row += 1) {
    current[0] = row;
    let smallest = row;
    const letter = name.charCodeAt(row - 1);
    for (let column = 1; column <= typed.length; column += 1) {
      const changed = (previous[column - 1] ?? 0) + (letter === typed.charCodeAt(column - 1) ? 0 : 1);
      const value = Math.min(changed, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1);
      current[column] = value;
      if (value < smallest) smallest = value;
    }
    if (smallest > furthest) return Number.POSITIVE_INFINITY;
    [previous, current] = [current, previous];
  }
  const distance = previous[typed.length] ?? 0;
  return distance > furthest ? Number.POSITIVE_INFINITY : distance;
}

function sharedPrefix(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}
