/** Turns the items of a feed into one partial snapshot for each case (docs/design/sources.md#feeds). Pure. */
import type { CaseNumber } from '../../courts/court.ts';
import type { DocketSnapshot, SnapshotEntry } from '../../dockets/snapshot.ts';
import { type Instant, toInstant } from '../../runtime/instant.ts';
import { readJuriscraperDocket } from '../juriscraper/juriscraper.ts';
import type { CourtFeed } from './addresses.ts';
import { entryKey, type ReadItem } from './item.ts';

/** All items of one case in a feed. */
export interface FeedCase {
  readonly number: CaseNumber;
  /** As the feed has them: the newest first. */
  readonly items: readonly ReadItem[];
}

/** Groups items by their case, in the order of the feed. */
export function casesOf(items: readonly ReadItem[]): readonly FeedCase[] {
  return [...groups(items, ({ number }) => number.canonical).values()].flatMap((own) =>
    own[0] ? [{ number: own[0].number, items: own }] : [],
  );
}

function groups<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const byKey = new Map<string, Item[]>();
  for (const item of items) {
    const group = byKey.get(keyOf(item));
    if (group) group.push(item);
    else byKey.set(keyOf(item), [item]);
  }
  return byKey;
}

/**
 * What the feed shows of a case: the entries of which at least one item is chosen, each with all of its events. An entry
 * of a feed is a stub: its event is the short name, and there is no text.
 */
export function snapshotOf(
  feed: CourtFeed,
  { number, items }: FeedCase,
  isChosen: (item: ReadItem) => boolean,
  askedAt: Instant,
): DocketSnapshot | null {
  const { court } = feed;
  const entries = [...groups(items, entryKey).values()].filter((own) => own.some(isChosen)).reverse();
  const named = items.find(({ caseName }) => caseName !== '');
  const read = readJuriscraperDocket(
    {
      court_id: court.code,
      docket_number: number.canonical,
      case_name: named?.caseName ?? null,
      chapter: items.find(({ chapter }) => chapter !== null)?.chapter ?? null,
      docket_entries: entries.map(rawEntry),
    },
    { askedAt, complete: false, source: 'rss' },
  );
  if ('refused' in read || read.snapshot.entries.length === 0) return null;
  const shown = entries.filter((own) => !isEmpty(own));
  return {
    ...read.snapshot,
    isBrief: true,
    entries: read.snapshot.entries.map((entry, index) => withTime(entry, shown[index]?.[0])),
  };
}

function rawEntry(items: readonly ReadItem[]): Record<string, unknown> {
  const [first] = items;
  const events = [...new Set(items.map(({ event }) => event).filter((event) => event !== ''))].sort();
  return {
    document_number: first?.entryNumber ?? null,
    date_entered: first?.at === undefined || first.at === null ? null : toInstant(first.at),
    short_description: events.join(' AND '),
    pacer_doc_id: first?.documentId ?? null,
    pacer_seq_no: first?.sequence ?? null,
  };
}

/** The reader of entries leaves out what has no text, number or id. */
const isEmpty = (items: readonly ReadItem[]): boolean =>
  items.every(
    ({ event, entryNumber, documentId, sequence }) =>
      event === '' && entryNumber === null && documentId === null && sequence === null,
  );

/** The exact second, midnight included, and the id by which appellate courts tell their entries apart. */
function withTime(entry: SnapshotEntry, item: ReadItem | undefined): SnapshotEntry {
  if (!item) return entry;
  return {
    ...entry,
    enteredAt: item.at === null ? null : toInstant(item.at),
    sourceIds: item.partId === null ? entry.sourceIds : { ...entry.sourceIds, appellate_part_id: item.partId },
  };
}
