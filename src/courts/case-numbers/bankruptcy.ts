/** US bankruptcy courts: `24-10123`, and in some the office and type of a district court: `8:24-bk-01234`. */
import type { CaseNumber, Court } from '../court.ts';
import { officeOf } from './district.ts';
import { type Grammar, padded, setAside, shortYear } from './grammar.ts';
import { withoutShortLabel } from './typed-number.ts';

const YEAR = '(?<year>(?:19|20)?\\d{2})';
const TYPE = '(?<type>bkr|bk|br|ap|adv|mp)';
const JUDGE = '(?<aside>(?:[ -]{1,2}\\(?[A-Z]{1,5}\\)?){0,3})';

const NUMBER = new RegExp(
  `^(?:(?<office>\\d{1,2})\\s?[:-]\\s?)?${YEAR}(?:[ -]?${TYPE}\\.?[ -]?|-)(?<sequence>\\d{1,6})${JUDGE}$`,
  'i',
);

/**
 * Eastern North Carolina writes the office after the number: `10-01083-8-RDD`. The sequence alone identifies a case.
 */
const OFFICE_BEHIND = new RegExp(
  `^${YEAR}-(?:${TYPE}-)?(?<sequence>\\d{5})-(?<office>\\d)(?<aside>(?:[ -]{1,2}\\(?[A-Z]{1,5}\\)?){0,3})$`,
  'i',
);

/**
 * Suffixes that courts print after a number and that no other pattern reads: the chapter (`-13`, `-LA7`, `-sgj11`,
 * `-A-7`, `, Ch. 7`), a judge and a chapter in parentheses (`(1)(7)`), initials of two judges (`-AB/cd`). Digits must
 * be a chapter's number.
 */
const CHAPTER = '(?:7|9|1[1235])';
const MARK = [
  `[ -]{1,2}\\(?[A-Z]{1,5}(?:\\/[A-Z]{1,5})?(?:${CHAPTER}[A-Z]?)?\\)?`,
  `[ -]{1,2}${CHAPTER}[A-Z]?`,
  ' ?\\((?:[A-Z]{1,5}|\\d{1,2})\\)',
  `,? ?-? ?\\(?ch(?:apter|\\.)? ?${CHAPTER}\\)?`,
].join('|');
/** `BK-S-24-10123`, `Bky. 24-40123`: here Nevada identifies its office by a letter. */
const PREFIX = '(?:(?<prefix>bky?|bkr)\\.?[ -]?(?:(?<letter>[A-Z])-)?)?';

const PRINTED = new RegExp(
  `^${PREFIX}(?:(?<office>\\d{1,2})\\s?[:-]\\s?)?${YEAR}(?:[ -]?(?<type>bkr|bk|br|b|ap|adv|a|mp)\\.?[ -]?|-)(?<sequence>\\d{1,6})(?<aside>(?:${MARK}){0,4})$`,
  'i',
);

/** Courts that print more digits after the number: the office (Northern New York), the judge (Eastern Missouri). */
const DIGITS_BEHIND: ReadonlyMap<string, RegExp> = new Map([
  ['nynb', /^(?<year>\d{2})-(?<sequence>\d{5})-(?<aside>[1-9](?:-[A-Z]{1,5})?)$/i],
  ['moeb', /^(?<year>\d{2})-(?<sequence>\d{5})-(?<aside>[A-Z]?\d{3})$/i],
]);

/** As chambers write: `08 B 12345`, and `08 A 00123` for an adversary proceeding. */
const LETTER_TYPES: Readonly<Record<string, string>> = { a: 'ap', adv: 'ap', b: 'bk' };

interface Style {
  /** Whether the court writes office and type into every number; if not, a number without an office is complete. */
  readonly writesOffice: boolean;
  write(office: string | null, year: string, type: string | null, sequence: string): string;
}

const PLAIN: Style = {
  writesOffice: false,
  // A typed office is kept: dropping it could merge two cases into one.
  write: (office, year, type, sequence) =>
    office === null ? `${year}-${sequence}` : `${office}:${year}-${type ?? 'bk'}-${sequence}`,
};

/** Main cases and adversary proceedings are numbered separately here, so the type is part of the number. */
const LIKE_DISTRICT: Style = {
  writesOffice: true,
  write: (office, year, type, sequence) => `${office === null ? '' : `${office}:`}${year}-${type ?? 'bk'}-${sequence}`,
};

/** Eastern New York: `8-09-78585`. */
const OFFICE_DASH: Style = {
  writesOffice: true,
  write: (office, year, _type, sequence) => `${office === null ? '' : `${office}-`}${year}-${sequence}`,
};

function styleOf(court: Court): Style {
  if (court.code === 'nyeb') return OFFICE_DASH;
  return court.example?.includes(':') ? LIKE_DISTRICT : PLAIN;
}

export const bankruptcyGrammar: Grammar = (typed, court) => {
  const { text, labelType } = typed;
  const behind = court.code === 'nceb' ? OFFICE_BEHIND.exec(text)?.groups : undefined;
  if (behind) {
    const { office, aside, ...parts } = behind;
    return bankruptcyNumber(parts, labelType, PLAIN, setAside(office, aside));
  }
  const parts = (NUMBER.exec(text) ?? DIGITS_BEHIND.get(court.code)?.exec(text) ?? PRINTED.exec(text))?.groups;
  // If main cases and adversary proceedings are numbered separately and the number has no type, `08 A 00123` identifies
  // neither.
  if (parts?.type?.toLowerCase() === 'a' && styleOf(court) !== LIKE_DISTRICT) return null;
  if (parts) return bankruptcyNumber(parts, labelType, styleOf(court), setAside(parts.letter, parts.aside));
  const unlabelled = withoutShortLabel(typed);
  return unlabelled && bankruptcyGrammar(unlabelled, court);
};

function bankruptcyNumber(
  parts: Readonly<Record<string, string | undefined>>,
  labelType: string | null,
  style: Style,
  aside: string | null,
): CaseNumber {
  const typed = parts.type?.toLowerCase() ?? (labelType === 'ap' ? 'ap' : null);
  const type = typed === null ? null : (LETTER_TYPES[typed] ?? typed);
  const year = shortYear(parts.year ?? '');
  const sequence = padded(parts.sequence ?? '', 5);
  const office = officeOf(parts.office);
  return {
    canonical: style.write(office, year, type, sequence),
    core: style.write(null, year, type, sequence),
    complete: office !== null || !style.writesOffice,
    office,
    caseType: type,
    setAside: aside,
  };
}
