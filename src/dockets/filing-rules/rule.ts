/** The notation for the rules of filing types. */
import type { FilingType } from '../filing-type.ts';

/**
 * The types of a text that continues like this. The pattern sees the head of the text from the keyword on, in lower
 * case, without accents. Types come primary first; none means that the keyword decides nothing here and the search
 * continues.
 */
export type Rule = readonly [when: RegExp, ...types: readonly FilingType[]];

/** Rules by keyword; one key may have several keywords, separated by spaces. The first rule that matches wins. */
export type Rules = Readonly<Record<string, readonly Rule[]>>;

/** For a keyword that decides by itself if nothing before it did. */
export const ALWAYS = /^/;
