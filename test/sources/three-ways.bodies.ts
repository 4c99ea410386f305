/** One court's entries in the three forms in which sources show them, read by the sources' own readers. */
import type { Court } from '../../src/courts/court.ts';
import { dayAt } from '../../src/dockets/court-time.ts';
import type { DocketSnapshot } from '../../src/dockets/snapshot.ts';
import type { JsonObject } from '../../src/events/event.ts';
import { type Instant, MICROS_PER_SECOND, toInstant, toMicros } from '../../src/runtime/instant.ts';
import { composeDocket } from '../../src/sources/courtlistener/courtlistener.ts';
import { readJuriscraperDocket } from '../../src/sources/juriscraper/juriscraper.ts';
import { feedOf } from '../../src/sources/rss/addresses.ts';
import { readFeed } from '../../src/sources/rss/feed.ts';
import { type ReadItem, readItem } from '../../src/sources/rss/item.ts';
import { casesOf, snapshotOf } from '../../src/sources/rss/snapshots.ts';
import { type FeedEntry, feedText } from './feeds/dialects.ts';

/** An entry as the court has it. Its text contains `K` and its key, so that a test recognizes it. */
export interface CourtEntry {
  readonly key: number;
  readonly number: number | null;
  readonly enteredAt: Instant;
  readonly backdatedDays: number;
  /** The name of its event, by which feeds call it. */
  readonly name: string;
  /** Whether CourtListener has its text when it sends the alert. */
  readonly isToldWhole: boolean;
  /** Whether CourtListener knows PACER's sequence number of it. */
  readonly isSequenced: boolean;
  /** What its item in the feed says beside its name and time. */
  readonly feedShows: 'all' | 'no number' | 'nothing';
}

const DOCKET_ID = 7_001;
const CASE_NAME = 'Quill v. Inkwell Works, Inc.';
const textOf = ({ key, name }: CourtEntry): string => `${name.toUpperCase()} K${key} by Ada Quill.`;
const documentOf = ({ key, number }: CourtEntry): string | null => (number === null ? null : `0350000${41_000 + key}`);
const sequenceOf = ({ key }: CourtEntry): number => 500 + key;

const enteredDay = (court: Court, { enteredAt }: CourtEntry): string => dayAt(court.timeZone, toMicros(enteredAt)).day;
const filedDay = (court: Court, entry: CourtEntry): string =>
  toInstant(
    Date.parse(`${enteredDay(court, entry)}T00:00:00Z`) * 1000 - entry.backdatedDays * 86_400 * MICROS_PER_SECOND,
  ).slice(0, 10);

function localTime(court: Court, { enteredAt }: CourtEntry): string {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone: court.timeZone, timeStyle: 'medium' });
  return format.format(new Date(toMicros(enteredAt) / 1000));
}

/** CourtListener knows no more than the feed until it has a docket sheet. */
const numberIn = ({ number, feedShows }: CourtEntry, isWhole: boolean): number | null =>
  isWhole || feedShows === 'all' ? number : null;
const isLinked = ({ feedShows }: CourtEntry): boolean => feedShows !== 'nothing';

/** Rows of CourtListener: at first with what a feed says of them, later with what a docket sheet says. */
const rowOf = (court: Court, entry: CourtEntry, isWhole: boolean, modifiedAt: Instant): JsonObject => ({
  id: 9_000 + entry.key,
  docket: DOCKET_ID,
  date_created: modifiedAt,
  date_modified: modifiedAt,
  date_filed: isWhole ? filedDay(court, entry) : enteredDay(court, entry),
  time_filed: isWhole ? null : localTime(court, entry),
  entry_number: numberIn(entry, isWhole),
  recap_sequence_number: `${enteredDay(court, entry)}.${String(entry.key).padStart(3, '0')}`,
  pacer_sequence_number: entry.isSequenced ? sequenceOf(entry) : null,
  description: isWhole ? textOf(entry) : '',
  recap_documents: [
    {
      id: 8_000 + entry.key,
      document_type: 1,
      document_number: String(numberIn(entry, isWhole) ?? ''),
      attachment_number: null,
      pacer_doc_id: (isWhole || isLinked(entry) ? documentOf(entry) : null) ?? '',
      acms_document_guid: '',
      description: entry.name,
      is_available: false,
      is_sealed: null,
      page_count: null,
    },
  ],
});

const docketOf = (court: Court, caseNumber: string): JsonObject => ({
  id: DOCKET_ID,
  court_id: court.code,
  docket_number: caseNumber,
  case_name: CASE_NAME,
});

function read(value: unknown, askedAt: Instant, complete: boolean, source: string): DocketSnapshot {
  const found = readJuriscraperDocket(value, { askedAt, complete, source });
  if ('refused' in found) throw new Error(found.refused);
  return found.snapshot;
}

/** The alert about entries, of which some have no text yet. */
export const alertOf = (
  court: Court,
  caseNumber: string,
  entries: readonly CourtEntry[],
  askedAt: Instant,
): DocketSnapshot =>
  read(
    composeDocket({
      id: String(DOCKET_ID),
      docket: docketOf(court, caseNumber),
      entries: entries.map((entry) => rowOf(court, entry, entry.isToldWhole, askedAt)),
      parties: [],
      attorneys: [],
    }),
    askedAt,
    false,
    'courtlistener',
  );

/** CourtListener's list of entries. */
export const reportOf = (
  court: Court,
  caseNumber: string,
  entries: readonly CourtEntry[],
  { askedAt, complete }: { readonly askedAt: Instant; readonly complete: boolean },
): DocketSnapshot =>
  read(
    composeDocket({
      id: String(DOCKET_ID),
      docket: docketOf(court, caseNumber),
      entries: entries.map((entry) => rowOf(court, entry, true, askedAt)),
      parties: [],
      attorneys: [],
    }),
    askedAt,
    complete,
    'courtlistener',
  );

/** The court's own docket report, as juriscraper writes it. */
export const reportOfCourt = (
  court: Court,
  caseNumber: string,
  entries: readonly CourtEntry[],
  askedAt: Instant,
): DocketSnapshot =>
  read(
    {
      court_id: court.code,
      docket_number: caseNumber,
      case_name: CASE_NAME,
      docket_entries: entries.map((entry) => ({
        document_number: entry.number,
        date_filed: filedDay(court, entry),
        date_entered: enteredDay(court, entry),
        description: textOf(entry),
        short_description: '',
        pacer_doc_id: documentOf(entry),
        // Appellate courts have no such number.
        pacer_seq_no: court.level === 'appellate' ? null : sequenceOf(entry),
      })),
      parties: [],
    },
    askedAt,
    true,
    'file',
  );

/**
 * The court's feed.
 * @param cut the body ends in the middle of that item, the newest being 0; null: it is whole
 */
export async function feedShown(
  court: Court,
  caseNumber: string,
  entries: readonly CourtEntry[],
  askedAt: Instant,
  cut: number | null,
): Promise<readonly DocketSnapshot[]> {
  const feed = feedOf(court);
  if (!feed) throw new Error(`${court.code} has no feed`);
  const newestFirst = entries.toReversed().map(
    (entry): FeedEntry => ({
      caseNumber,
      caseName: CASE_NAME,
      event: entry.name,
      at: toMicros(entry.enteredAt) / 1000,
      pacerCaseId: '417001',
      number: numberIn(entry, false),
      document: isLinked(entry) ? documentOf(entry) : null,
      sequence: sequenceOf(entry),
      partId: sequenceOf(entry),
    }),
  );
  const text = feedText(feed, newestFirst, toMicros(askedAt) / 1000, 'Docket entries of type: all');
  const items = text.split('<item>');
  const end = cut === null || cut >= newestFirst.length ? null : items.slice(0, cut + 1).join('<item>').length + 30;
  const body = await readFeed(Buffer.from(text.slice(0, end ?? text.length), 'latin1'), 'text/xml');
  if ('fault' in body) return [];
  const now = toMicros(askedAt);
  const read = body.items.map((item) => readItem(feed, item, now)).filter((item) => !('unread' in item));
  return casesOf(read as readonly ReadItem[]).flatMap((one) => snapshotOf(feed, one, () => true, askedAt) ?? []);
}
