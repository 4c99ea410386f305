/**
 * Removes personal details from docket texts before anything is stored (docs/design/dockets.md#masking). Every
 * repetition in the rules is bounded, so that the time grows only linearly with the length of the text.
 */
import type { Country } from '../courts/court.ts';
import { ADDRESS_RULES, REMNANT_RULES } from './mask-addresses.ts';
import { CANADIAN_ADDRESSES, CANADIAN_NUMBERS, CANADIAN_PLACES } from './mask-french.ts';
import { NUMBER_RULES } from './mask-numbers.ts';
import { ADDRESS_REMOVED, type MaskRule } from './mask-rule.ts';
import { cleanText, clip } from './text.ts';

/**
 * Version of the rules. It is raised whenever the rules remove something else, and stored content is then masked again.
 * Version 3 removes invisible characters.
 */
export const MASKING_VERSION = 3;

const RULES: Readonly<Record<Country, readonly MaskRule[]>> = {
  US: [...CANADIAN_NUMBERS, ...NUMBER_RULES, ...ADDRESS_RULES],
  // French addresses first: otherwise the other rules would remove only a part of one.
  CA: [...CANADIAN_NUMBERS, ...CANADIAN_ADDRESSES, ...NUMBER_RULES, ...ADDRESS_RULES, ...CANADIAN_PLACES],
};

const RULES_FOR_NAMES = RULES.US.filter(({ replacement }) => replacement !== ADDRESS_REMOVED);

function apply(chosen: readonly MaskRule[], text: string): string {
  let masked = text;
  for (const { sign, pattern, replacement } of chosen) {
    if (sign.test(masked)) masked = masked.replace(pattern, replacement);
  }
  return masked;
}

/**
 * The text without telephone numbers, mail and street addresses, dates of birth, and numbers that identify a person.
 * @param country of the court: outside Canada, French forms of an address are ordinary text
 */
export const maskPersonalDetails = (text: string, country: Country): string => apply(RULES[country], text);

/** As `maskPersonalDetails`, for a text that was masked by earlier rules, which may have left half of an address. */
export const maskStoredText = (text: string, country: Country): string =>
  apply(RULES[country], apply(REMNANT_RULES, cleanText(text)));

/** The longest detail that is recognized as a whole where a text is cut. */
const LONGEST_DETAIL = 300;

/** A clean, masked text of at most `limit` characters; a detail across the cut is never partly visible. */
export const maskedText = (text: string, limit: number, country: Country): string => clean(RULES[country], text, limit);

/** As `maskedText`, for names: a case or a company may be named after its house. */
export const maskedName = (text: string, limit: number): string => clean(RULES_FOR_NAMES, text, limit);

function clean(chosen: readonly MaskRule[], text: string, limit: number): string {
  if (text.length <= limit) return clip(apply(chosen, cleanText(text)), limit);
  const seen = apply(chosen, cleanText(clip(text, limit + LONGEST_DETAIL)));
  return clip(seen, Math.max(0, Math.min(limit, seen.length - LONGEST_DETAIL)));
}
