/** What the grammars of all court families share. */
import type { CaseNumber, Court } from '../court.ts';
import type { TypedNumber } from './typed-number.ts';

/**
 * Reads what was typed as a case number of one court; null where it cannot be one. The canonical form that it gives
 * must read as itself again.
 */
export type Grammar = (typed: TypedNumber, court: Court) => CaseNumber | null;

/** Two digits of a year, however it was written: `2024` and `24` are `24`. */
export const shortYear = (year: string): string => year.slice(-2);

/** A sequence number without leading zeros, filled up with zeros to `width`. */
export const padded = (sequence: string, width: number): string =>
  sequence.replace(/^0+(?=\d)/, '').padStart(width, '0');

/** What follows or precedes a number and is no part of it, tidied: `-AMO`, `(JPO)`; null where there is nothing. */
export function setAside(...parts: readonly (string | undefined)[]): string | null {
  const kept = parts.map((part) => (part ?? '').trim().replace(/^[-\s]+|[-\s]+$/g, '')).filter((part) => part !== '');
  return kept.length === 0 ? null : kept.join(' ');
}

/** A number that has neither office nor anything set aside. */
export const plainNumber = (canonical: string, more: Partial<CaseNumber> = {}): CaseNumber => ({
  canonical,
  core: canonical,
  complete: true,
  office: null,
  caseType: null,
  setAside: null,
  ...more,
});
