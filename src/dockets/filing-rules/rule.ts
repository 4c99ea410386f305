/** How the rules of filing types are written. */
import type { FilingType } from '../filing-type.ts';

/**
 * What a text is when it goes on like this. The pattern sees the head of the text from the keyword on, in lower case,
 * without accents. Types come primary first; none at all means that the keyword says nothing here: look on.
 */
export type Rule = readonly [when: RegExp, ...types: readonly FilingType[]];

/** Rules by their keywords, several of them in one key separated by spaces; the first rule that fits wins. */
export type Rules = Readonly<Record<string, readonly Rule[]>>;

/** For a keyword that decides by itself when nothing before it did. */
export const ALWAYS = /^/;
