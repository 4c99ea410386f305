import { editDistance } from '../courts/nearest-courts.ts';

/** A longer text is no typo, and comparing it would only cost time. */
const MAX_TYPED_LENGTH = 100;

/** The name that was probably meant: the nearest one if it is close enough to be a typo, else null. */
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
