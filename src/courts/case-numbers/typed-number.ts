/** What people type around a case number, taken off before any court's grammar looks at it. */

/** Nothing longer is a case number; it is refused unread. */
export const MAX_CASE_NUMBER_LENGTH = 128;

/** A case number as typed, made plain: ASCII dashes, single spaces, no label. */
export interface TypedNumber {
  readonly text: string;
  /** The kind of case that a label named (`Civil Action No.` is `cv`); null where none did. */
  readonly labelType: string | null;
}

const DASHES = /[\u2010-\u2015\u2212\u2043\ufe58\ufe63\uff0d]/g;
const INVISIBLE = /[\u00ad\u200b-\u200f\u2060\ufeff]/g;
const UNFIT = /[^\x20-\x7e]/;

const LABEL_WORD =
  /^(?:case|docket|civil action|civil|criminal|index|court|file|cause|appeal|application|bankruptcy|matter|record|action|adversary(?: proceeding)?|adv\.?(?: ?(?:pro(?:c(?:eeding)?)?|case)\.?)?|c\.a\.|court file|dossier(?: de la cour)?)(?= |$|[:#.])[ :.#]*/i;
const NUMBER_WORD = /^(?:(?:numbers?|numero|nos?|num)(?:[.:] ?| )(?:(?:de|du) (?:dossier|greffe)\b)?|#)[ :#]*/i;
const NUMBER_SIGN = /\u2116|\bn[\u00b0\u00ba]s?/gi;

/** Kinds of case that a label alone can tell, where a court writes them into its numbers. */
const LABEL_TYPES: readonly (readonly [RegExp, string])[] = [
  [/^adv/i, 'ap'],
  [/^civil/i, 'cv'],
  [/^criminal/i, 'cr'],
  [/^bankruptcy/i, 'bk'],
];

/** Makes a typed number plain; null where it is empty, too long, or has characters that no case number has. */
export function readTyped(typed: string): TypedNumber | null {
  // Before normalising too, which can make one character into many.
  if (typed.length > MAX_CASE_NUMBER_LENGTH) return null;
  const plain = typed
    .replace(NUMBER_SIGN, 'No. ')
    .normalize('NFKC')
    .replace(INVISIBLE, '')
    .replace(DASHES, '-')
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  if (plain === '' || plain.length > MAX_CASE_NUMBER_LENGTH || UNFIT.test(plain)) return null;
  return withoutLabel(plain);
}

function withoutLabel(plain: string): TypedNumber | null {
  let text = plain;
  let labelType: string | null = null;
  for (;;) {
    const word = LABEL_WORD.exec(text) ?? NUMBER_WORD.exec(text);
    if (word === null) break;
    const found = LABEL_TYPES.find(([label]) => label.test(word[0]));
    labelType ??= found === undefined ? null : found[1];
    text = text.slice(word[0].length);
  }
  return text === '' ? null : { text, labelType };
}
