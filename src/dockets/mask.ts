/**
 * Personal details found in docket texts are taken out before anything is stored (`dockets.md`, Never serve). Every
 * repetition below is bounded, so that the time grows with the length of the text and never faster.
 */

import { FRENCH_RULES } from './mask-french.ts';
import { ADDRESS_REMOVED, caseless, DATE, type MaskRule, NOT_A_COMPANY } from './mask-rule.ts';
import { cleanText, clip } from './text.ts';

/** Not after a digit, nor inside a longer run of groups such as a case number. */
const START = '(?<![\\p{L}\\d/:.-]|\\d )';
const END = '(?![\\d/]|-\\d|\\.\\d)';

const STATE =
  '(?:A[BKLRZ]|BC|C[AOT]|D[CE]|FL|G[AU]|HI|I[ADLN]|K[SY]|LA|M[ABDEINOPST]|N[BCDEHJLMSTUVY]|O[HKNR]|P[AERW]|QC|RI|S[CDKT]|T[NX]|UT|V[AIT]|W[AIVY]|YT)';
const POSTAL_CODE = '(?:\\d{5}(?:-\\d{4})?|[A-Z]\\d[A-Z] ?\\d[A-Z]\\d)';
const PLACE = `[A-Z][\\p{L}.'-]{1,30}(?: [A-Z][\\p{L}.'-]{0,30}){0,3},? ${STATE}\\.?,? ${POSTAL_CODE}(?!\\d)`;
const UNIT =
  '(?:,? (?:suite|ste|apt|apartment|unit|room|rm|floor|fl|#)\\.? ?#?[\\p{L}\\d-]{1,8}|,? \\d{1,2}(?:st|nd|rd|th) floor)';
/** Words that stand after an entry's number and never in the name of a street. */
const NOT_A_STREET =
  '(?:motion|order|notice|complaint|answer|response|reply|judgment|exhibit|declaration|affidavit|letter|stipulation|memorandum|brief|minute|summons|report|petition|application|request|objection|opposition|certificate|transcript|sealed|amended|proposed|statement|u\\.?s\\.?c?|fed|cfr|days?|counts?)';
const STREET_WORD = `(?!${caseless(NOT_A_STREET)}\\b)(?:[A-Z][\\p{L}.'-]{0,25}|\\d{1,3}(?:st|nd|rd|th))`;
const STREET_KIND =
  '(?:street|st|avenue|ave|road|rd|boulevard|blvd|lane|ln|drive|dr|place|pl|highway|hwy|parkway|pkwy|terrace|ter|circle|cir|turnpike|tpke|square|sq|trail|broadway)';
const rules: readonly MaskRule[] = [
  // Before the English ones, which would take a part of a French address for the whole.
  ...FRENCH_RULES,
  {
    sign: /@/,
    pattern: /[\p{L}\d._%+-]{1,64}@[\p{L}\d-]{1,63}(?:\.[\p{L}\d-]{1,63}){1,6}/gu,
    replacement: '[e-mail address removed]',
  },
  {
    sign: /ssn|social|\bsin\b/i,
    pattern:
      /(\b(?:ssn|s\.s\.n\.?|sin|social (?:security|insurance)(?: (?:number|no\.?|num\.?|#))?)[ :#=.]{0,4}(?:is )?)[\dxX*]{3}[ -]?[\dxX*]{2,3}[ -]?[\dxX*]{3,4}(?!\d)/giu,
    replacement: '$1[social security number removed]',
  },
  {
    sign: /\d{3}[ -]\d\d[ -]\d{4}/,
    pattern: new RegExp(`${START}\\d{3}([ -])\\d{2}\\1\\d{4}${END}`, 'gu'),
    replacement: '[social security number removed]',
  },
  {
    sign: /ein\b|tax|itin/i,
    pattern:
      /(\b(?:ein|itin|tin|fein|tax(?:payer)?(?: id(?:entification)?)?(?: ?\/ ?ein)?(?: (?:number|no\.?))?)[ :#=.]{1,4}(?:is )?)\d{2,3}[ -]?\d{2}[ -]?\d{3,5}(?!\d)/giu,
    replacement: '$1[taxpayer number removed]',
  },
  {
    sign: /\d\d-\d{7}/,
    pattern: new RegExp(`${START}\\d{2}-\\d{7}${END}`, 'gu'),
    replacement: '[taxpayer number removed]',
  },
  {
    sign: /A|alien/,
    pattern:
      /(?<![\p{L}\d])(?:A[ #-]{0,3}\d{3}[ -]?\d{3}[ -]?\d{3}|A[ #-]{0,3}\d{2}[ -]\d{3}[ -]\d{3}|A[#-]{0,2}\d{8})(?![\d-])/gu,
    replacement: '[alien registration number removed]',
  },
  {
    sign: /alien/i,
    pattern: /(\balien (?:registration )?(?:number|no\.?|#)[ :#]{0,3}(?:is )?)\d{2,3}[ -]?\d{3}[ -]?\d{3}(?!\d)/giu,
    replacement: '$1[alien registration number removed]',
  },
  {
    sign: /birth|born|d\.?o\.?b|naiss|n[ée]/i,
    pattern: new RegExp(
      `((?<!\\p{L})(?:d\\.?o\\.?b\\.?|(?:date|year) of birth|birth ?date|born(?: on| in)?|date de naissance|n[ée]e? le)[ :=(-]{0,4}(?:is |was )?)(?:${DATE}|(?:19|20)\\d\\d(?!\\d))`,
      'giu',
    ),
    replacement: '$1[date of birth removed]',
  },
  {
    sign: /tel|phone|fax|facsimile|cell|mobile/i,
    pattern:
      /(\b(?:tel(?:ephone)?|phone|fax|facsimile|cell(?:ular)?|mobile)(?: ?(?:number|no|num|#))?[ :.#]{1,4}(?:is |at )?)\+?\(?\d(?:[\d() .-]{5,18})\d(?: ?(?:x|ext\.?) ?\d{1,6})?/giu,
    replacement: '$1[telephone number removed]',
  },
  {
    sign: /\d{3}[).\s-]{1,2}\d{3}[.\s-]\d{4}/,
    pattern: new RegExp(
      `(?<![\\p{L}\\d/:-]|\\d )(?:\\+?1[ .-]?)?(?:\\(\\d{3}\\) ?|\\d{3}[ .-])\\d{3}[ .-]\\d{4}(?: ?(?:x|ext\\.?) ?\\d{1,6})?${END}`,
      'gu',
    ),
    replacement: '[telephone number removed]',
  },
  {
    sign: /\+\d/,
    pattern: /(?<![\p{L}\d])\+\d{1,3}(?:[ .-]?\(?\d{2,4}\)?){2,4}(?!\d)/gu,
    replacement: '[telephone number removed]',
  },
  {
    sign: /box/i,
    pattern: new RegExp(
      `(?<!\\p{L})(?:[Pp]\\.? ?[Oo]\\.?|[Pp]ost [Oo]ffice|POST OFFICE) (?:[Bb]ox|BOX) #?\\d{1,7}(?:,? ${PLACE})?`,
      'gu',
    ),
    replacement: ADDRESS_REMOVED,
  },
  {
    sign: /\d/,
    pattern: new RegExp(
      `(?<![\\p{L}\\d$:/.,#-])(?<!\\b(?:re|document|doc|entry|no\\.?|nos\\.?|and) )\\d{1,6}(?:-\\d{1,4})?(?: [NSEW]\\.?| (?:North|South|East|West))? (?:${STREET_WORD} ){0,3}${STREET_WORD} (?:${caseless(STREET_KIND)})(?![\\p{L}\\d'])${NOT_A_COMPANY}\\.?(?: (?:[NSEW]{1,2}\\b\\.?|(?:North|South|East|West)\\b))?(?:${caseless(UNIT)})?(?:,? ${PLACE})?`,
      'gu',
    ),
    replacement: ADDRESS_REMOVED,
  },
  {
    sign: /[A-Z]{2}\.?,? (?:\d{5}|[A-Z]\d[A-Z])/,
    pattern: new RegExp(`(?<![\\p{L}\\d])${PLACE}`, 'gu'),
    replacement: ADDRESS_REMOVED,
  },
];

const rulesForNames = rules.filter(({ replacement }) => replacement !== ADDRESS_REMOVED);

function apply(chosen: readonly MaskRule[], text: string): string {
  let masked = text;
  for (const { sign, pattern, replacement } of chosen) {
    if (sign.test(masked)) masked = masked.replace(pattern, replacement);
  }
  return masked;
}

/** The text without telephone numbers, mail and street addresses, and numbers that stand for a person. */
export const maskPersonalDetails = (text: string): string => apply(rules, text);

/** What a detail that is cut in two at a text's end may be long. */
const LONGEST_DETAIL = 300;

/** A clean, masked text of at most `limit` characters; a detail that lies across the end never shows in part. */
export const maskedText = (text: string, limit: number): string => clean(rules, text, limit);

/** As `maskedText`, for names: a case or a company may be called after its house. */
export const maskedName = (text: string, limit: number): string => clean(rulesForNames, text, limit);

function clean(chosen: readonly MaskRule[], text: string, limit: number): string {
  if (text.length <= limit) return clip(apply(chosen, cleanText(text)), limit);
  const seen = apply(chosen, cleanText(clip(text, limit + LONGEST_DETAIL)));
  return clip(seen, Math.max(0, Math.min(limit, seen.length - LONGEST_DETAIL)));
}
