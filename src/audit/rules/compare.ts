/** Compares what an event says with what its rules require. */
import { canonicalJson } from '../../events/canonical-json.ts';
import type { Json } from '../../events/event.ts';

export interface Difference {
  readonly expected: string;
  readonly found: string;
}

/** The members of two objects that differ, as text; null if these members are the same. */
export function difference(
  expected: Readonly<Record<string, Json | undefined>>,
  found: Readonly<Record<string, Json | undefined>>,
  members: readonly string[],
): Difference | null {
  const differing = members.filter((member) => !isSame(expected[member], found[member]));
  if (differing.length === 0) return null;
  const say = (values: Readonly<Record<string, Json | undefined>>) =>
    differing.map((member) => `${member} ${textOf(values[member])}`).join(', ');
  return { expected: say(expected), found: say(found) };
}

const isSame = (a: Json | undefined, b: Json | undefined): boolean =>
  a === b ||
  (typeof a === 'object' && typeof b === 'object' && a !== null && b !== null && canonicalJson(a) === canonicalJson(b));

/** A number with what it counts. */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

/** Longer values would hide the difference and fill the screen. */
const LONGEST_TEXT = 120;

export function textOf(value: Json | undefined): string {
  if (value === undefined) return 'absent';
  const text = typeof value === 'string' ? value : canonicalJson(value);
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text;
}
