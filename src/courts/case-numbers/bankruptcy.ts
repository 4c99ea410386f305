/** US bankruptcy courts: `24-10123`, and in some the office and type of a district court: `8:24-bk-01234`. */
import type { CaseNumber, Court } from '../court.ts';
import { officeOf } from './district.ts';
import { type Grammar, padded, setAside, shortYear } from './grammar.ts';

const YEAR = '(?<year>(?:19|20)?\\d{2})';
const TYPE = '(?<type>bkr|bk|br|ap|adv|mp)';
const JUDGE = '(?<aside>(?:[ -]{1,2}\\(?[A-Z]{1,5}\\)?){0,3})';

const NUMBER = new RegExp(
  `^(?:(?<office>\\d{1,2})\\s?[:-]\\s?)?${YEAR}(?:[ -]?${TYPE}\\.?[ -]?|-)(?<sequence>\\d{1,6})${JUDGE}$`,
  'i',
);

/** Eastern North Carolina writes the office behind: `10-01083-8-RDD`. Its sequence alone tells cases apart. */
const OFFICE_BEHIND = new RegExp(
  `^${YEAR}-(?:${TYPE}-)?(?<sequence>\\d{5})-(?<office>\\d)(?<aside>(?:[ -]{1,2}\\(?[A-Z]{1,5}\\)?){0,3})$`,
  'i',
);

interface Style {
  /** Whether the court writes office and type into every number; else a number without office is whole. */
  readonly writesOffice: boolean;
  write(office: string | null, year: string, type: string | null, sequence: string): string;
}

const PLAIN: Style = {
  writesOffice: false,
  // An office is kept where it was typed: dropping it could make two cases one.
  write: (office, year, type, sequence) =>
    office === null ? `${year}-${sequence}` : `${office}:${year}-${type ?? 'bk'}-${sequence}`,
};

/** Here main cases and adversary proceedings are counted apart, so that the type belongs to the number. */
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

export const bankruptcyGrammar: Grammar = ({ text, labelType }, court) => {
  const behind = court.code === 'nceb' ? OFFICE_BEHIND.exec(text)?.groups : undefined;
  if (behind) {
    const { office, aside, ...parts } = behind;
    return bankruptcyNumber(parts, labelType, PLAIN, setAside(office, aside));
  }
  const parts = NUMBER.exec(text)?.groups;
  return parts ? bankruptcyNumber(parts, labelType, styleOf(court), setAside(parts.aside)) : null;
};

function bankruptcyNumber(
  parts: Readonly<Record<string, string | undefined>>,
  labelType: string | null,
  style: Style,
  aside: string | null,
): CaseNumber {
  const typed = parts.type?.toLowerCase() ?? (labelType === 'ap' ? 'ap' : null);
  const type = typed === 'adv' ? 'ap' : typed;
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
