/** Reads one item of a feed by its court's way of writing (docs/design/sources.md#feeds). Pure and total. */
import { createHash } from 'node:crypto';
import { parseCaseNumber } from '../../courts/case-number.ts';
import type { CaseNumber } from '../../courts/court.ts';
import { cleanText, clip } from '../../dockets/text.ts';
import { MICROS_PER_SECOND, type Micros } from '../../runtime/instant.ts';
import type { CourtFeed } from './addresses.ts';
import { asWindows } from './decode.ts';
import type { FeedItem } from './feed.ts';
import { readFeedTime } from './feed-time.ts';

export interface ReadItem {
  /** By which the item is remembered: it changes if anything does that is used of the item. */
  readonly key: string;
  readonly number: CaseNumber;
  /** Empty if the court did not say. Courts cut names off. */
  readonly caseName: string;
  /** The name of the event; empty if there is none. */
  readonly event: string;
  readonly entryNumber: number | null;
  readonly documentId: string | null;
  readonly sequence: string | null;
  /** Of appellate courts; two cases may share it. */
  readonly partId: string | null;
  /** When the entry was made; null if the item has no time that can be read. */
  readonly at: Micros | null;
  /** Of a bankruptcy case, as the item states it. */
  readonly chapter: string | null;
}

const UNREAD_ITEMS = ['no_case_number', 'nothing_to_tell_it_apart'] as const;
/** Why an item was left out. */
export type UnreadItem = (typeof UNREAD_ITEMS)[number];

/** No entry is made in the future; clocks of courts may be ahead by so much. */
const AHEAD: Micros = 3_600 * MICROS_PER_SECOND;

export function readItem(feed: CourtFeed, item: FeedItem, now: Micros): ReadItem | { readonly unread: UnreadItem } {
  const title = plain(item.title);
  const said = item.description;
  const labels = feed.kind === 'bankruptcy' ? labelsOf(plain(said)) : NO_LABELS;
  const named = numberIn(feed, title, labels);
  if (!named) return { unread: 'no_case_number' };
  const link = linkIn(said);
  const time = readFeedTime(item.pubDate, feed.court.timeZone);
  const at = time === null || time > now + AHEAD ? null : time;
  const documentId = /\/docs?1\/(\d{5,24})(?!\d)/.exec(link.address)?.[1] ?? null;
  const sequence = sequenceOf(feed, item, link.address);
  const partId = feed.kind === 'appellate' ? (/[?&]partId=(\d{1,15})(?!\d)/.exec(plain(item.guid))?.[1] ?? null) : null;
  if (at === null && documentId === null && sequence === null) return { unread: 'nothing_to_tell_it_apart' };
  const read = {
    number: named.number,
    caseName: named.name,
    event: eventIn(plain(said)),
    entryNumber: entryNumberOf(link),
    documentId,
    sequence,
    partId,
    at,
    chapter: labels.chapter,
  };
  return { key: keyOf(read), ...read };
}

/** What makes two items one entry with two events: everything but the event is equal. */
export const entryKey = ({ number, entryNumber, documentId, sequence, at }: Omit<ReadItem, 'key'>): string =>
  JSON.stringify([number.canonical, entryNumber, documentId, sequence, at]);

/** 60 bits: among the few thousand items of one court within two days no two are alike by chance. */
const keyOf = (read: Omit<ReadItem, 'key'>): string =>
  createHash('sha256')
    .update(`${entryKey(read)}\n${read.event}`)
    .digest('base64url')
    .slice(0, 10);

/** By which an item that could not be read is remembered. */
export const keyOfRaw = ({ title, link, description, guid, pubDate }: FeedItem): string =>
  createHash('sha256')
    .update(JSON.stringify([title, link, description, guid, pubDate]))
    .digest('base64url')
    .slice(0, 10);

interface Labels {
  readonly type: string | null;
  readonly office: string | null;
  readonly chapter: string | null;
}

const NO_LABELS: Labels = { type: null, office: null, chapter: null };

/** `Type: bk Office: 3 Chapter: 7 Trustee: …`, before the event. */
function labelsOf(text: string): Labels {
  const head = text.slice(0, 200);
  return {
    type: /\bType: ?([a-z]{2,3})\b/.exec(head)?.[1] ?? null,
    office: /\bOffice: ?(\d{1,2})\b/.exec(head)?.[1] ?? null,
    chapter: /\bChapter: ?(\d{1,2})\b/.exec(head)?.[1] ?? null,
  };
}

interface Named {
  readonly number: CaseNumber;
  readonly name: string;
}

/** The number is the title's first word, or its first few: `MDL No. 3140 IN RE …`. */
function numberIn({ court }: CourtFeed, title: string, { type, office }: Labels): Named | null {
  const words = title.split(' ');
  for (let taken = 1; taken <= Math.min(3, words.length); taken++) {
    const typed = words.slice(0, taken).join(' ');
    const number = typed.length > 60 ? null : parseCaseNumber(court, typed);
    if (!number) continue;
    const [, year, sequence] = /^(\d{2})-(\d{1,6})(?!\d)/.exec(typed) ?? [];
    // Courts whose numbers have an office and a type leave both out of the title.
    const whole =
      number.complete || office === null || year === undefined
        ? null
        : parseCaseNumber(court, `${office}:${year}-${type ?? 'bk'}-${sequence}`);
    const name = words.slice(taken).join(' ');
    return { number: whole?.complete ? whole : number, name: /^unknown case title$/i.test(name) ? '' : name };
  }
  return null;
}

/** One line of visible text: references of HTML that were escaped twice are resolved. */
const plain = (text: string): string => cleanText(asWindows(withReferences(text)));

const REFERENCE = /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z]{2,6}));/g;
const NAMED: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['nbsp', ' '],
  ['sect', '§'],
]);

function withReferences(text: string): string {
  return text.replace(REFERENCE, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return NAMED.get(name) ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
    return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole;
  });
}

interface Link {
  readonly address: string;
  readonly text: string;
}

const LINK =
  /^<a\s[^<>]{0,1000}?href\s{0,5}=\s{0,5}(?:"([^"<>]{0,1000})"|'([^'<>]{0,1000})')[^<>]{0,200}>([^<]{0,100})/i;

/** The first link. Only one place is examined, so that a hostile text costs no more than a plain one. */
function linkIn(description: string): Link {
  const start = description.search(/<a\s/i);
  const match = start === -1 ? null : LINK.exec(description.slice(start, start + 3_000));
  return { address: plain(match?.[1] ?? match?.[2] ?? ''), text: plain(match?.[3] ?? '') };
}

/** The number of the entry is the text of its link; some courts write `Document` there. */
function entryNumberOf({ address, text }: Link): number | null {
  const written = /^(?:\D{0,20}\s)?(\d{1,9})$/.exec(text)?.[1];
  // The first part of the address of a document at a court with its own software.
  const addressed = /\/show_case_doc\?(\d{1,9}),/.exec(address)?.[1];
  const number = written ?? addressed;
  return number === undefined ? null : Number(number);
}

/** `de_seq_num` of the link, which the item's id repeats: entries without a document have it only there. */
function sequenceOf({ kind }: CourtFeed, { guid, link }: FeedItem, address: string): string | null {
  const linked = /[?&]de_seq_num=(\d{1,12})(?!\d)/.exec(address)?.[1];
  if (linked !== undefined) return linked;
  if (kind !== 'district' && kind !== 'bankruptcy') return null;
  const [id, page] = [plain(guid), plain(link)];
  const [, before, sequence] = /^(.{0,1000}\/DktRpt\.pl\?\d{1,12})[&-](\d{1,12})$/.exec(id) ?? [];
  return sequence !== undefined && (page === '' || page === before) ? sequence : null;
}

/** `[Event]`, brackets within it included; without brackets, what is not a link. */
function eventIn(description: string): string {
  const start = description.indexOf('[');
  if (start === -1)
    return clip(
      description
        .replace(/\(?<a\s.*$/i, '')
        .replace(/<[^<>]{0,200}>/g, ' ')
        .trim(),
      300,
    );
  let depth = 0;
  for (let at = start; at < description.length; at++) {
    if (description[at] === '[') depth++;
    else if (description[at] === ']' && --depth === 0) return description.slice(start + 1, at).trim();
  }
  return description
    .slice(start + 1, start + 301)
    .replace(/\]?\s?\(?<a\s.*$/i, '')
    .trim();
}
