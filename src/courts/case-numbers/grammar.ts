/** Shared by the grammars of all court families. */
import type { CaseNumber, Court } from '../court.ts';
import type { TypedNumber } from './typed-number.ts';

/**
 * Reads typed text as a case number of one court; null if it cannot be one. Parsing the returned canonical form must
 * return the same form.
 */
export type Grammar = (typed: TypedNumber, court: Court) => CaseNumber | null;

/** A year in two digits, from either notation: `2024` and `24` are `24`. */
export const shortYear = (year: string): string => year.slice(-2);

/** A sequence number without its leading zeros, then padded with zeros to `width`. */
export const padded = (sequence: string, width: number): string =>
  sequence.replace(/^0+(?=\d)/, '').padStart(width, '0');

/** Text before or after a number that is not part of it, trimmed: `-AMO`, `(JPO)`; null if there is none. */
export function setAside(...parts: readonly (string | undefined)[]): string | null {
  const kept = parts.map((part) => (part ?? '').trim().replace(/^[-\s]+|[-\s]+$/g, '')).filter((part) => part !== '');
  return kept.length === 0 ? null : kept.join(' ');
}

/** A number without an office and with nothing set aside. */
export const plainNumber = (canonical: string, more: Partial<CaseNumber> = {}): CaseNumber => ({
  canonical,
  core: canonical,
  complete: true,
  office: null,
  caseType: null,
  setAside: null,
  ...more,
});
