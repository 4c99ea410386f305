/** Suggests a valid number for one that the court cannot have, for the hint of an error. */
import { parseCaseNumber } from './case-number.ts';
import { MAX_CASE_NUMBER_LENGTH } from './case-numbers/typed-number.ts';
import type { Court } from './court.ts';

/** The number may be inside a sentence; at most this many pieces are examined. */
const MAX_PIECES = 24;

/**
 * The canonical form of the probably intended number, or null. Covers letters typed for digits, a number within other
 * text, and a district court's number without its type. It is only a hint for a person, never used in place of the
 * typed text.
 */
export function suggestCaseNumber(court: Court, typed: string): string | null {
  const text = typed.slice(0, 2 * MAX_CASE_NUMBER_LENGTH);
  for (const attempt of attempts(text, court)) {
    const number = parseCaseNumber(court, attempt);
    // If a court publishes no pattern, nearly every text would be a number.
    if (number !== null && /\d/.test(number.canonical)) return number.canonical;
  }
  return null;
}

function* attempts(text: string, court: Court): Generator<string> {
  yield text;
  if (court.pattern === null) return;
  yield digitsForLetters(text);
  const pieces = text.split(/[\s,;"'[\]]+/).slice(0, MAX_PIECES);
  for (const piece of pieces) if (/\d/.test(piece)) yield piece;
  for (const piece of pieces)
    if (/\d/.test(piece)) yield digitsForLetters(piece.replace(/^[^a-z0-9]+|[^a-z0-9]+$/gi, ''));
  if (court.system === 'US federal district courts') {
    const untyped = /(\d{1,2}:)?(\d{2,4})-(\d{1,6})/.exec(text);
    if (untyped) yield `${untyped[1] ?? ''}${untyped[2]}-cv-${untyped[3]}`;
  }
}

/** `3:24-cv-O1234` and `3:24-cv-l234`: letters that look like digits, between digits or separators. */
const digitsForLetters = (text: string): string =>
  text
    .replace(/[oO]/g, (letter, at: number) => (nextToDigit(text, at) ? '0' : letter))
    .replace(/[lI]/g, (letter, at: number) => (nextToDigit(text, at) ? '1' : letter));

const nextToDigit = (text: string, at: number): boolean =>
  /\d/.test(text.charAt(at - 1)) || /\d/.test(text.charAt(at + 1));
