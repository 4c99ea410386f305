/** US district courts: `3:23-cv-04557`, office, year, type, sequence. */
import type { CaseNumber } from '../court.ts';
import { type Grammar, padded, setAside, shortYear } from './grammar.ts';
import { withoutShortLabel } from './typed-number.ts';

const YEAR = '(?<year>(?:19|20)?\\d{2})';
const OFFICE = '(?:(?<office>\\d{1,2}|[A-Z])\\s?[:-]\\s?)?';
/**
 * Judges' initials and a defendant's number: `-AMO`, `-ABC-(DEFx)`, ` (JPO)`, `-KBF-9`, ` DSF (JTLx)`, ` (JRT/FLN)`.
 */
const ASIDE = '(?<aside>(?:[ -]{1,2}\\(?[A-Z]{1,5}(?:\\/[A-Z]{1,5}){0,2}\\)?){0,3}(?:-\\d{1,3})?)';

/** `3:23-cv-04557`, `3:23cv4557`, `3-23-cv-04557`, `17 Civ. 8956`, `08 C 1234`. */
const TYPE_AFTER_YEAR = new RegExp(
  `^${OFFICE}${YEAR}[ -]?(?<type>[A-Z]{1,5})\\.?[ -]?(?:No\\. ?)?(?<sequence>\\d{1,6})${ASIDE}$`,
  'i',
);

/** The older style of chambers: `CV 08-1234 DSF (JTLx)`, `C-08-01234 WHA`, `CR 08-0123 MMC`. */
const TYPE_BEFORE_YEAR = new RegExp(
  `^${OFFICE}(?<type>C|CV|CIV|CR|CRIM|MC|MISC|MJ|MAG|MD)\\.?[ -]?${YEAR}-(?<sequence>\\d{1,6})${ASIDE}$`,
  'i',
);

/** `24-1234 (RC)` after the label `Civil Action No.`, which names the type. */
const TYPE_IN_LABEL = new RegExp(`^${OFFICE}${YEAR}-(?<sequence>\\d{1,6})${ASIDE}$`, 'i');

/**
 * The same with more around it: a superseding indictment (`S1 24 Cr. 123`), two initials without a space between them
 * (`(LGS)(SN)`), a judge's full name, a defendant as `-p1` or before the judge (`-1 (RC)`), a jury or prisoner's mark
 * (`(PC)`, ` P`).
 */
const PRINTED_ASIDE =
  '(?<aside>(?:-p?\\d{1,3}(?=[ -]{0,2}\\(|-[A-Z])(?![ -]{1,2}(?:C|CV|CIV|CR|CRIM|MC|MJ|MD)(?![A-Z])))?(?:[ -]{0,2}\\([A-Z]{1,5}(?:\\/[A-Z]{1,5}){0,2}\\)|[ -]{1,2}[A-Z]{1,5}(?:\\/[A-Z]{1,5}){0,2}|-[A-Z]{6,20}(?:\\/[A-Z]{1,20}){0,2}){0,5}(?:-p?\\d{1,3}){0,2})';
const PRINTED = new RegExp(
  `^(?:(?<superseding>S\\d{1,2})[ -])?${OFFICE}${YEAR}[ -]?(?<type>[A-Z]{1,5})\\.?[ -]?(?:No\\. ?)?(?<sequence>\\d{1,6})${PRINTED_ASIDE}$`,
  'i',
);
const PRINTED_IN_LABEL = new RegExp(`^${OFFICE}${YEAR}-(?<sequence>\\d{1,6})${PRINTED_ASIDE}$`, 'i');
/** `C24-1234JLR`, and a defendant and a division before the judge: `CR-24-00123-001-TUC-RM (BGM)`. */
const PRINTED_TYPE_FIRST = new RegExp(
  `^${OFFICE}(?<type>C|CV|CIV|CR|CRIM|MC|MISC|MJ|MAG|MD)\\.?[ -]?${YEAR}-(?<sequence>\\d{1,6})(?:(?<judge>[A-Z]{2,4})|${PRINTED_ASIDE})$`,
  'i',
);

/**
 * Forms of a single court; elsewhere the same characters are another court's number.
 * Southern Florida prints the type last, with the judges' names: `24-20123-CIV-MOORE`, `24-20123-CR-ALTMAN/REID`.
 * Southern Georgia prints its office before the year: `CV424-123`, `CR 124-012`.
 */
const FORMS_OF_COURTS: ReadonlyMap<string, RegExp> = new Map([
  [
    'flsd',
    /^(?:(?<office>\d{1,2})\s?[:-]\s?)?(?<year>(?:19|20)?\d{2})-(?<sequence>\d{1,6})-(?<type>CV|CIV|CIVIL|CR|CRIM|MC|MISC|MJ|MAG|MD)\.?(?<aside>(?:[ -]{1,2}\(?[A-Z]{1,20}(?:\/[A-Z]{1,20}){0,2}\)?){0,3}(?:-\d{1,3})?)$/i,
  ],
  ['gasd', new RegExp(`^(?<type>CV|CR|MJ|MC) ?(?<office>[1-6])(?<year>\\d{2})-(?<sequence>\\d{1,4})${ASIDE}$`, 'i')],
]);

/** Maryland puts the judge first, after a label that names the type: `Civil Action No. RDB-24-1234`. */
const JUDGE_FIRST = /^(?!(?:SW|PO|MDL|BK|AP|ADV|USCA)\b)(?<judge>[A-Z]{2,4})[ -](?<year>\d{2})-(?<sequence>\d{1,6})$/i;

const WITH_TYPE = [TYPE_AFTER_YEAR, PRINTED, TYPE_BEFORE_YEAR, PRINTED_TYPE_FIRST];

/** Chambers' names for the types that the court's system writes with two letters. */
const CHAMBERS_TYPES: Readonly<Record<string, string>> = {
  c: 'cv',
  civ: 'cv',
  civil: 'cv',
  crim: 'cr',
  mag: 'mj',
  misc: 'mc',
};

export const districtGrammar: Grammar = (typed, court) => {
  const { text } = typed;
  const labelType = typed.labelType ?? (typed.isCivilAction ? 'cv' : null);
  const own = FORMS_OF_COURTS.get(court.code);
  const parts = firstMatch(own ? [...WITH_TYPE, own] : WITH_TYPE, text);
  if (parts) return districtNumber(parts, parts.type ?? '');
  if (labelType !== null) {
    const inLabel = [TYPE_IN_LABEL, PRINTED_IN_LABEL, ...(court.code === 'mdd' ? [JUDGE_FIRST] : [])];
    const labelled = firstMatch(inLabel, text);
    if (labelled) return districtNumber(labelled, labelType);
  }
  const unlabelled = withoutShortLabel(typed);
  return unlabelled && districtGrammar(unlabelled, court);
};

function firstMatch(patterns: readonly RegExp[], text: string): Readonly<Record<string, string | undefined>> | null {
  for (const pattern of patterns) {
    const groups = pattern.exec(text)?.groups;
    if (groups) return groups;
  }
  return null;
}

function districtNumber(parts: Readonly<Record<string, string | undefined>>, typedType: string): CaseNumber | null {
  const type = CHAMBERS_TYPES[typedType.toLowerCase()] ?? typedType.toLowerCase();
  if (type.length < 2) return null;
  // A letter is not an office: `M:13-md-02420` marks a case of a multidistrict litigation.
  const letter = parts.office !== undefined && /[A-Z]/i.test(parts.office) ? parts.office : undefined;
  const office = letter === undefined ? officeOf(parts.office) : null;
  const core = `${shortYear(parts.year ?? '')}-${type}-${padded(parts.sequence ?? '', 5)}`;
  return {
    canonical: office === null ? core : `${office}:${core}`,
    core,
    complete: office !== null,
    office,
    caseType: type,
    setAside: setAside(parts.superseding, letter, parts.judge, parts.aside),
  };
}

/** The office's number without leading zeros; null if none was typed. */
export const officeOf = (typed: string | undefined): string | null =>
  typed === undefined ? null : typed.replace(/^0+(?=\d)/, '');
