/** Removes what people type around a case number, before a court's grammar reads it. */

/** Longer text is not a case number; it is rejected unread. */
export const MAX_CASE_NUMBER_LENGTH = 128;

/** A normalized typed case number: ASCII dashes, single spaces, no label. */
export interface TypedNumber {
  readonly text: string;
  /** The kind of case that a label named (`Civil Action No.` is `cv`); null if none did. */
  readonly labelType: string | null;
  /** Whether a label said `C.A.` or `C/A`: a civil action in a district court, something else elsewhere. */
  readonly isCivilAction: boolean;
}

/** Labels that are types in some courts' numbers. They are removed only before a word that announces a number. */
const SHORT_LABELS: readonly (readonly [RegExp, string | null])[] = [
  [/^civ\.?(?: ?a(?:ct(?:ion)?)?\.?)?(?= ?#| (?:no|num))/i, 'cv'],
  [/^crim?\.?(?= ?#| (?:no|num))/i, 'cr'],
  [/^misc\.?(?= ?#| (?:no|num))/i, 'mc'],
  [/^mag\.?(?: ?j\.?)?(?= ?#| (?:no|num))/i, 'mj'],
  [/^(?:bky?|bankr?)\.?(?= ?#| (?:no|num))/i, 'bk'],
  [/^usca\d{0,2}(?= )/i, null],
];

/** The number after a short label, and the type that the label names; null if there is no such label. */
export function withoutShortLabel({ text, ...typed }: TypedNumber): TypedNumber | null {
  for (const [label, type] of SHORT_LABELS) {
    const word = label.exec(text)?.[0];
    if (word === undefined) continue;
    const rest = withoutLabel(text.slice(word.length).trim());
    return rest && { ...rest, isCivilAction: typed.isCivilAction, labelType: typed.labelType ?? type };
  }
  return null;
}

const DASHES = /[\u2010-\u2015\u2212\u2043\ufe58\ufe63\uff0d]/g;
const INVISIBLE = /[\u00ad\u200b-\u200f\u2060\ufeff]/g;
const UNFIT = /[^\x20-\x7e]/;

const LABEL_WORD =
  /^(?:case|docket|civil action|civil|criminal|index|court|file|cause|appeal|application|bankruptcy|matter|record|action|adversary(?: proceeding)?|adv\.?(?: ?(?:pro(?:c(?:eeding)?)?|case)\.?)?|c[./]a\.?|court file|dossier(?: de la cour)?)(?= |$|[:#.])[ :.#]*/i;
const NUMBER_WORD = /^(?:(?:numbers?|numero|nos?|num)(?:[.:] ?| )(?:(?:de|du) (?:dossier|greffe)\b)?|#)[ :#]*/i;
const NUMBER_SIGN = /\u2116|\bn[\u00b0\u00ba]s?/gi;

/** Kinds of case that only a label shows, for courts that write them into their numbers. */
const LABEL_TYPES: readonly (readonly [RegExp, string])[] = [
  [/^adv/i, 'ap'],
  [/^civil/i, 'cv'],
  [/^criminal/i, 'cr'],
  [/^bankruptcy/i, 'bk'],
];

/** Normalizes a typed number; null if it is empty, too long, or has characters that no case number has. */
export function readTyped(typed: string): TypedNumber | null {
  // Checked before normalization too, which can expand one character into many.
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
  let isCivilAction = false;
  for (;;) {
    const word = LABEL_WORD.exec(text) ?? NUMBER_WORD.exec(text);
    if (word === null) break;
    const found = LABEL_TYPES.find(([label]) => label.test(word[0]));
    labelType ??= found === undefined ? null : found[1];
    isCivilAction ||= /^c[./]a/i.test(word[0]);
    text = text.slice(word[0].length);
  }
  return text === '' ? null : { text, labelType, isCivilAction };
}
