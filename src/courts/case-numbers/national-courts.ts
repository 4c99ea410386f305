/** US courts with one seat for the whole country: Tax Court, Federal Claims, International Trade, the MDL panel. */
import type { CaseNumber } from '../court.ts';
import { type Grammar, padded, plainNumber, setAside, shortYear } from './grammar.ts';

/**
 * Number first, year second, then the letters of its kind without a separator: `12345-24S`. The letters are often
 * omitted.
 */
const TAX = /^(?<sequence>\d{1,5})-(?<year>(?:19|20)?\d{2}) ?-?(?<kind>[A-Z]{0,2})$/i;

export const taxGrammar: Grammar = ({ text }) => {
  const parts = TAX.exec(text)?.groups;
  if (!parts) return null;
  const number = `${padded(parts.sequence ?? '', 1)}-${shortYear(parts.year ?? '')}`;
  const kind = (parts.kind ?? '').toUpperCase();
  return plainNumber(`${number}${kind}`, { core: number, complete: kind !== '' });
};

/** `1:24-cv-00123`, and as the courts' own papers write it: `24-123C`, `24-00012`. */
const ONE_OFFICE =
  /^(?:(?<office>0?1)[:-])?(?<year>(?:19|20)?\d{2})(?:[ -]?(?<type>cv|vv|pv|cg)[ -]?|-)(?<sequence>\d{1,5}) ?(?<letter>[A-Z]?)(?<aside>(?:[ -]\(?[A-Z]{2,5}\)?){0,2})$/i;

const CLAIMS_LETTERS: Readonly<Record<string, string>> = { C: 'cv', V: 'vv' };

/** Court of Federal Claims; `C` and `V` after a number mark civil and vaccine cases. */
export const federalClaimsGrammar: Grammar = ({ text, labelType }) => {
  const parts = ONE_OFFICE.exec(text)?.groups;
  if (!parts) return null;
  const letter = (parts.letter ?? '').toUpperCase();
  const typed = parts.type?.toLowerCase();
  // A letter that contradicts the type is not a valid number.
  if (typed !== undefined && letter !== '' && (CLAIMS_LETTERS[letter] ?? typed) !== typed) return null;
  const type = typed ?? CLAIMS_LETTERS[letter] ?? labelType;
  const unread = CLAIMS_LETTERS[letter] === undefined ? letter : '';
  return oneOffice(parts, type, setAside(unread, parts.aside));
};

/** Court of International Trade; all of its cases are of one type. */
export const internationalTradeGrammar: Grammar = ({ text }) => {
  const parts = ONE_OFFICE.exec(text)?.groups;
  if (!parts || (parts.type ?? 'cv').toLowerCase() !== 'cv') return null;
  return oneOffice(parts, 'cv', setAside(parts.letter, parts.aside));
};

/** There is only one office, so it is not named; a number without it leaves only its type open. */
function oneOffice(
  parts: Readonly<Record<string, string | undefined>>,
  type: string | null,
  aside: string | null,
): CaseNumber {
  const year = shortYear(parts.year ?? '');
  const sequence = padded(parts.sequence ?? '', 5);
  const core = `${year}-${sequence}`;
  if (type === null) return { ...plainNumber(core), complete: false, setAside: aside };
  return { ...plainNumber(`1:${year}-${type}-${sequence}`), core, office: '1', caseType: type, setAside: aside };
}

const MDL = /^(?:m\.?d\.?l\.?(?: docket)?[ -]?(?:(?:no|number)\.?|#)?[ -]?)?(?<sequence>\d{1,4})$/i;

/** Judicial Panel on Multidistrict Litigation. */
export const multidistrictGrammar: Grammar = ({ text }) => {
  const sequence = MDL.exec(text)?.groups?.sequence;
  return sequence === undefined ? null : plainNumber(`MDL No. ${padded(sequence, 1)}`, { caseType: 'mdl' });
};
