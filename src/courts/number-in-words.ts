/** Describes a court's case numbers in words, for the hint of an error. */
import type { Court } from './court.ts';

const PIECES = /\d+|[A-Za-z]+|[^\dA-Za-z]/g;
const YEAR = /^(?:(?:19|20)\d\d|2[3-6])$/;
const SEPARATORS: ReadonlyMap<string, string> = new Map([
  ['-', 'a dash'],
  [':', 'a colon'],
  ['/', 'a slash'],
  [' ', 'a space'],
  [',', 'a comma'],
  ['.', 'a period'],
]);

/** The pieces of the court's example: `the year in 2 digits, a dash, 5 digits`; null if it publishes no format. */
export function numberInWords({ example }: Court): string | null {
  const pieces = example?.match(PIECES) ?? null;
  if (pieces === null) return null;
  // If several pieces look like a year in 2 digits, some are county codes, and the example does not show which.
  const years = pieces.filter((piece) => YEAR.test(piece));
  const year = years.find((piece) => piece.length === 4) ?? (years.length === 1 ? years[0] : undefined);
  const words = pieces.map((piece) => {
    if (/^[A-Za-z]/.test(piece)) return piece.length === 1 ? `a letter like ${piece}` : `letters like ${piece}`;
    if (!/^\d/.test(piece)) return SEPARATORS.get(piece) ?? `“${piece}”`;
    if (piece === year) return `the year in ${piece.length} digits`;
    return piece.length === 1 ? '1 digit' : `${piece.length} digits`;
  });
  return words.join(', ');
}
