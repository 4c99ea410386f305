/**
 * Whole dockets in the shapes that courts really have, invented and always the same: reused numbers, entries without a
 * number, many parties, attachments, and a short report beside the full sheet of the same case.
 */
import { type RawEntryFields, rawDocket, rawEntry } from './raw-docket.ts';

export interface Sheet {
  readonly court_id: string;
  readonly docket_number: string;
  readonly docket_entries: readonly unknown[];
  readonly parties?: readonly unknown[];
}

/** What a report must not show: it is in the address of every attorney and party. */
export const ADDRESS = '12 Secret Street';

/** The day so many days after the first of January 2019. */
const day = (count: number): string => new Date(Date.UTC(2019, 0, 1 + count)).toISOString().slice(0, 10);

const sheet = (court_id: string, docket_number: string, entries: readonly unknown[], more: RawEntryFields = {}) =>
  rawDocket(entries, { court_id, docket_number, federal_dn_office_code: null, ...more }) as unknown as Sheet;

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));

/** 263 entries: 71 without a number, and 40 numbers that stand for two different documents. */
const bankruptcy = sheet(
  'casb',
  '95-05684',
  times(263, (at) => {
    if (at % 37 < 10) return rawEntry(null, day(at), `Hearing held, item ${at} of the calendar.`);
    const number = at < 40 + 10 ? at + 1 : at >= 200 && at < 240 ? at - 199 : at + 1_000;
    return rawEntry(number, day(at), `Claim ${at} of the Sample Supply Company.`, {
      pacer_doc_id: `1220${String(100_000 + at)}`,
      pacer_seq_no: String(at * 3),
    });
  }),
);

/** 159 entries, of which each fourth has no number; some of one day have the same text. */
const criminal = sheet(
  'casd',
  '3:17-cr-01234',
  times(159, (at) =>
    at % 4 === 0
      ? rawEntry(null, day(Math.floor(at / 8)), `Minute entry of session ${Math.floor(at / 12)}.`)
      : rawEntry(at + 1, day(Math.floor(at / 8)), `Order ${at} as to Sample Person.`),
  ),
);

const appellate = sheet(
  'ca9',
  '17-15589',
  times(14, (at) => rawEntry(at + 1, day(at), `Brief ${at} of an amicus curiae, filed.`)),
  {
    parties: times(153, (at) => ({
      name: `Sample Amicus ${at}`,
      type: at === 0 ? 'Appellant' : 'Amicus Curiae',
      date_terminated: null,
      extra_info: '',
      attorneys: [{ name: `Alex Attorney ${at}`, roles: ['COR LD NTC'], contact: `${ADDRESS}\nHiddenville, CA 94100` }],
    })),
  },
);

/** No entry has a number. */
const sealed = sheet(
  'ca9',
  '18-50001',
  times(7, (at) => rawEntry(null, day(at), `Filed under seal: document ${at}.`)),
);

const attachments = sheet('dcd', '1:20-cv-03010', [
  rawEntry(null, day(0), 'Case assigned to Judge Robin Judge.'),
  ...times(6, (at) =>
    rawEntry(at + 1, day(at + 1), `Motion ${at} of the United States.`, {
      file_size_bytes: 1_000_000 + at,
      file_size_str: '1.0 MB',
      page_count: 64,
      attachments: times(at, (each) => ({
        attachment_number: each + 1,
        description: `Exhibit ${each + 1}`,
        file_size_bytes: 38_000,
        file_size_str: '37.6 KB',
        pacer_doc_id: `0450${String(800_000 + at * 100 + each)}`,
        pacer_seq_no: String((at + 1) * 3),
        page_count: 2,
      })),
    }),
  ),
]);

/** Ids of ACMS: numbers as numbers, GUIDs, and a time in each date. */
const acms = sheet(
  'ca2',
  '23-7331',
  times(21, (at) =>
    rawEntry(at + 1, `${day(at)}T00:00:00`, `LETTER ${at}, on behalf of Petitioner, FILED.`, {
      date_entered: `${day(at)}T17:45:00`,
      description_html: `<p>LETTER ${at}, on behalf of Petitioner, FILED.</p>`,
      document_number: at + 1,
      pacer_doc_id: `a3da328e-2562-ee11-be6e-0000000000${String(10 + at)}`,
      page_count: 5,
    }),
  ),
);

const CASE = ['casd', '3:18-cr-03298'] as const;
/** Numbers of the short report: entries that have a document. */
const WITH_DOCUMENT = [1, 2, 3, 4, 5, 7, 8, 9, 10, 12, 13, 14, 16, 17, 18, 20, 24];
/** Of the full sheet, in its order: those, and ten that a report by documents does not show; null has no number. */
const IN_FULL = [1, 2, 3, 4, 5, null, 6, 7, null, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25];
/** The ten, as they are announced. */
export const ONLY_IN_FULL = IN_FULL.filter((number) => number === null || !WITH_DOCUMENT.includes(number));

const dayIn = (at: number) => day(at * 5);

/** The report of a case by its documents: a name and no text for each. */
export const shortReport = sheet(
  ...CASE,
  WITH_DOCUMENT.map((number) =>
    rawEntry(number, dayIn(IN_FULL.indexOf(number)), '', { short_description: `Order ${number}` }),
  ),
  { parties: [] },
);

/** The sheet of the same case: texts, and entries without a document. */
export const fullSheet = sheet(
  ...CASE,
  IN_FULL.map((number, at) =>
    rawEntry(
      number,
      dayIn(at),
      `ORDER ${number ?? 'of the clerk'} of Judge Robin Judge as to Sample Person, item ${at}.`,
      {
        ids: number !== null && WITH_DOCUMENT.includes(number),
      },
    ),
  ),
);

export const SHEETS: Readonly<Record<string, Sheet>> = {
  'bankruptcy with reused numbers': bankruptcy,
  'criminal with unnumbered entries': criminal,
  'appellate with many parties': appellate,
  'appellate without numbers': sealed,
  'district with attachments': attachments,
  'appellate of ACMS': acms,
  'district by documents': shortReport,
  'district in full': fullSheet,
};
