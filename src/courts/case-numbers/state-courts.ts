/** State courts whose numbers are typed in more ways than their published pattern covers. */
import { type Form, grammarOfForms, longYear } from './form.ts';
import { padded, setAside, shortYear } from './grammar.ts';

const YEAR = '(?<year>(?:19|20)\\d{2}|\\d{2})';
const LONG_YEAR = '(?<year>(?:19|20)\\d{2})';
const form = (courts: RegExp, read: string, write: Form['write']): Form => ({
  courts,
  read: new RegExp(`^${read}$`, 'i'),
  write,
});

/** The county's number in the example of its court. */
const countyOf = (example: string | null): string => /\d{2}/.exec(example ?? '')?.[0] ?? '';

const FORMS: readonly Form[] = [
  // Oklahoma: OSCN writes no leading zeros, clerks do.
  form(
    /^ok_(?!supreme|civilappeals)/,
    `(?<type>[A-Z]{1,3})(?:[ -]?${LONG_YEAR}[ -]?|[ -]?(?<short>\\d{2})[ -])(?<sequence>\\d{1,6})`,
    ({ type, year, short, sequence = '' }) => ({
      canonical: `${type}-${longYear(year || short || '')}-${padded(sequence, 1)}`,
      caseType: (type ?? '').toLowerCase(),
    }),
  ),
  form(/^ok_(?:supreme|civilappeals)$/, '(?<head>\\d{3}),?(?<tail>\\d{3})', ({ head, tail }) => `${head}${tail}`),
  // West Virginia: the new style names the county; in the old one the first digits are the year.
  form(
    /^wv_(?!supreme|intermediate)/,
    `(?:CC-)?(?<county>\\d{2})-${LONG_YEAR}-(?<type>[A-Z]{1,3})-(?<sequence>\\d{1,5})`,
    ({ county, year, type, sequence = '' }, { example }) =>
      county === countyOf(example)
        ? { canonical: `CC-${county}-${year}-${type}-${padded(sequence, 1)}`, caseType: (type ?? '').toLowerCase() }
        : null,
  ),
  form(
    /^tx_appeals/,
    `(?<court>\\d{1,2})-${YEAR}-(?<sequence>\\d{1,5})-(?<type>CV|CR)`,
    ({ court = '', year = '', sequence = '', type = '' }, { example }) =>
      padded(court, 2) === countyOf(example)
        ? {
            canonical: `${padded(court, 2)}-${shortYear(year)}-${padded(sequence, 5)}-${type}`,
            caseType: type.toLowerCase(),
          }
        : null,
  ),
  form(
    /^tx_criminalappeals$/,
    '(?<type>WR|AP)-(?<head>\\d{2}),?(?<tail>\\d{3})(?<part>(?:-\\d{2,3})?)',
    ({ type, head, tail, part }) => `${type}-${head},${tail}${part}`,
  ),
  form(
    /^ca_losangeles$/,
    '(?<year>\\d{2})(?<type>[A-Z]{4})(?<sequence>\\d{1,5})',
    ({ year, type, sequence = '' }) => `${year}${type}${padded(sequence, 5)}`,
  ),
  // Trial courts of New York: an index number and its year.
  form(
    /^ny_(?!appeals|appdiv|appterm|claims|nyc)/,
    `(?<sequence>\\d{4,6}) ?[/-] ?${YEAR}`,
    ({ sequence, year = '' }) => `${sequence}/${longYear(year)}`,
  ),
  // Before eCourts, a file number had no county; Wake's is 910.
  form(
    /^nc_wake$/,
    '(?<year>\\d{2}) ?(?<type>CV|CR)S? ?(?<sequence>\\d{1,6})(?:-910)?',
    ({ year, type, sequence = '' }) => `${year}${type}${padded(sequence, 6)}-910`,
  ),
  form(
    /^nj_(?!supreme|appellatedivision|tax)/,
    `(?<county>[A-Z]{3})-(?<type>[A-Z]{1,2})-(?<sequence>\\d{1,6})-${YEAR}`,
    ({ county, type, sequence = '', year = '' }) => `${county}-${type}-${padded(sequence, 6)}-${shortYear(year)}`,
  ),
  // The judges' team after a number from before 2024: `A-1234-18T4`.
  form(
    /^nj_appellatedivision$/,
    `(?<type>AM?)-(?<sequence>\\d{1,6})-${YEAR}(?<team>T\\d{1,2})?`,
    ({ type, sequence = '', year = '', team }) => ({
      canonical: `${type}-${padded(sequence, 4)}-${shortYear(year)}`,
      setAside: setAside(team),
    }),
  ),
  form(
    /^pa_(?!supreme|superior|commonwealth)/,
    `(?<court>CP|MC)-(?<county>\\d{1,2})-(?<type>[A-Z]{2})-(?<sequence>\\d{1,7})-${LONG_YEAR}`,
    ({ court, county = '', type, sequence = '', year }) =>
      `${court}-${padded(county, 2)}-${type}-${padded(sequence, 7)}-${year}`,
  ),
  form(
    /^fl_(?:supreme|\w+dca)$/,
    `(?<court>SC|[1-6]D)${YEAR}-(?<sequence>\\d{1,4})`,
    ({ court, year = '', sequence = '' }) => `${court}${longYear(year)}-${padded(sequence, 4)}`,
  ),
  form(
    /^fl_(?!supreme|\w+dca$)/,
    `${LONG_YEAR}-?(?<type>[A-Z]{2})-?(?<sequence>\\d{1,6})`,
    ({ year, type, sequence = '' }) => `${year}-${type}-${padded(sequence, 6)}`,
  ),
  form(
    /^wa_(?!supreme|appeals)/,
    '(?<number>\\d{2}-\\d-\\d{5}-\\d)(?: ?(?<county>[A-Z]{3}))?',
    ({ number = '', county }) => ({ canonical: number, setAside: setAside(county) }),
  ),
  form(
    /^wi_(?!supreme|appeals)/,
    `${YEAR} ?(?<type>[A-Z]{2}) ?(?<sequence>\\d{1,6})`,
    ({ year = '', type, sequence = '' }) => `${longYear(year)}${type}${padded(sequence, 6)}`,
  ),
  form(
    /^va_(?!supreme|appeals)/,
    '(?<type>C[LR])[ -]?(?:(?:20)?(?<year>\\d{2})-(?<sequence>\\d{1,7})|(?<glued>\\d{2})(?<rest>\\d{6}))(?:-(?<part>\\d{2}))?',
    ({ type, year, sequence, glued, rest, part }) =>
      `${type}${year || glued}${padded(sequence || rest || '', 6)}-${part || '00'}`,
  ),
  // The Vice Chancellor's initials change when a case is reassigned.
  form(/^de_chancery$/, '(?<number>\\d{4}-\\d{4})(?:-(?<judge>[A-Z]{2,4}))?', ({ number = '', judge }) => ({
    canonical: number,
    setAside: setAside(judge),
  })),
  form(
    /^md_baltimorecity$/,
    '24-?C-?(?<year>\\d{2})-?(?<sequence>\\d{6})',
    ({ year, sequence }) => `C-24-CV-${year}-${sequence}`,
  ),
];

export const stateCourtGrammar = grammarOfForms(FORMS);
