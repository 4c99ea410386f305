import { editDistance } from '../courts/nearest-courts.ts';

/** What is typed beyond this is no slip of the keyboard, and comparing it would cost time for nothing. */
const MAX_TYPED_LENGTH = 100;

/** The name that somebody probably meant: the nearest one if it is near enough to be a slip, else null. */
export function nearestName(typed: string, names: Iterable<string>): string | null {
  const text = typed.slice(0, MAX_TYPED_LENGTH).toLowerCase();
  let nearest: string | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const name of names) {
    const distance = editDistance(name, text, Math.max(1, Math.floor(name.length / 3)));
    if (distance < least) {
      least = distance;
      nearest = name;
    }
  }
  return nearest;
}
