/** A day at the courts, invented from a seed: which cases there are, and which entries appear when. Pure. */
import { parseCaseNumber } from '../../../src/courts/case-number.ts';
import type { Court } from '../../../src/courts/court.ts';
import { MICROS_PER_SECOND, type Micros } from '../../../src/runtime/instant.ts';
import { type CourtFeed, feedsOf } from '../../../src/sources/rss/addresses.ts';

export const MINUTE: Micros = 60 * MICROS_PER_SECOND;
export const HOUR: Micros = 60 * MINUTE;
export const DAY: Micros = 24 * HOUR;
/** A Tuesday, midnight in New York: all of its working hours are inside of the day. */
export const DAY_BEGINS: Micros = Date.UTC(2026, 2, 3, 5) * 1_000;

export interface PlannedEntry {
  readonly case: PlannedCase | null;
  readonly feed: CourtFeed;
  readonly number: number;
  readonly event: string;
  /** When the court enters it: from then on its feed shows it. */
  readonly at: Micros;
  /** When CourtListener has it from the feed. */
  readonly mergedAt: Micros;
  /** When somebody gives CourtListener its text; null if nobody does. */
  readonly textAt: Micros | null;
  /** Of the case in the court's own system; an unwatched case has one as well. */
  readonly caseNumber: string;
  readonly pacerCaseId: string;
  readonly document: string;
}

export interface PlannedCase {
  readonly court: Court;
  readonly feed: CourtFeed;
  readonly caseNumber: string;
  readonly pacerCaseId: string;
  /** Entries before the day, the oldest first: when each was made. */
  readonly past: readonly Micros[];
  readonly closed: boolean;
}

export interface DayPlan {
  readonly feeds: readonly CourtFeed[];
  readonly cases: readonly PlannedCase[];
  /** Of watched cases and of others, in the order in which they appear. */
  readonly entries: readonly PlannedEntry[];
}

export interface DayOptions {
  readonly cases: number;
  readonly feeds: number;
  /** Entries of watched cases in the day, on average for each. */
  readonly entriesPerCase: number;
  /** Entries of other cases in each feed. */
  readonly otherEntries: number;
  readonly pastEntries: number;
  readonly micros: Micros;
  readonly seed: number;
}

const EVENTS = [
  'Motion to Dismiss',
  'Order',
  'Notice of Appearance',
  'Response in Opposition',
  'Minute Entry',
  'Reply',
];

/** Numbers that follow from a seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const padded = (value: number, width: number): string => String(value).padStart(width, '0');

/** The number of the nth case of a court in the court's own form; null if none of the usual forms is. */
function numberOf({ court }: CourtFeed, index: number): string | null {
  const forms = [
    `1:26-cv-${padded(index, 5)}`,
    `26-${7_0000 + index}`,
    `26-${1_000 + index}`,
    `2:26-bk-${padded(index, 5)}`,
  ];
  for (const form of forms) {
    const parsed = parseCaseNumber(court, form);
    if (parsed?.complete) return parsed.canonical;
  }
  return null;
}

export function planOfDay(options: DayOptions): DayPlan {
  const random = randomOf(options.seed);
  // Courts of all kinds, also if they are few.
  const all = feedsOf(['all']);
  const step = Math.max(1, Math.floor(all.length / options.feeds));
  const feeds = all.filter((_, index) => index % step === 0).slice(0, options.feeds);
  const usable = feeds.filter((feed) => numberOf(feed, 1) !== null);
  let documents = 0;
  const entryOf = (
    feed: CourtFeed,
    of: PlannedCase | null,
    caseNumber: string,
    pacerCaseId: string,
    number: number,
  ) => {
    const at = DAY_BEGINS + momentIn(random, options.micros);
    const mergedAt = at + Math.floor((2 + random() * 6) * MINUTE);
    return {
      ...{ case: of, feed, number, at, mergedAt, caseNumber, pacerCaseId },
      event: EVENTS[Math.floor(random() * EVENTS.length)] ?? 'Order',
      textAt: random() < 0.4 ? mergedAt + Math.floor((0.5 + random() * 4) * HOUR) : null,
      document: `${padded(Math.floor(100 + random() * 899), 3)}0${padded(++documents, 8)}`,
    };
  };
  const cases: PlannedCase[] = [];
  for (let index = 0; index < options.cases; index++) {
    const feed = usable[index % usable.length];
    if (!feed) break;
    cases.push(caseOf(feed, 1 + Math.floor(index / usable.length), index));
  }
  const entries: PlannedEntry[] = [];
  const made = new Map<PlannedCase, PlannedEntry[]>();
  for (let count = 0; count < options.cases * options.entriesPerCase; count++) {
    // A few cases have most of the entries.
    const one = cases[Math.floor(random() ** 2 * cases.length)];
    if (!one || one.closed) continue;
    const ofCase = made.get(one) ?? [];
    ofCase.push(entryOf(one.feed, one, one.caseNumber, one.pacerCaseId, 0));
    made.set(one, ofCase);
  }
  // The clerk numbers them as they come.
  for (const [{ past }, ofCase] of made) {
    ofCase.sort((a, b) => a.at - b.at);
    for (const [index, entry] of ofCase.entries()) entries.push({ ...entry, number: past.length + index + 1 });
  }
  for (const feed of usable) {
    for (let index = 0; index < options.otherEntries; index++) {
      const number = numberOf(feed, 9_000 + index);
      if (number !== null) entries.push(entryOf(feed, null, number, `9${padded(index, 5)}`, 1));
    }
  }
  return { feeds, cases, entries: entries.sort((a, b) => a.at - b.at) };

  function caseOf(feed: CourtFeed, index: number, id: number): PlannedCase {
    const kind = random();
    const newest = kind < 0.3 ? 3 * DAY : kind < 0.6 ? 15 * DAY : 90 * DAY;
    const past = Array.from({ length: options.pastEntries }, (_, entry) =>
      Math.floor(DAY_BEGINS - newest - (options.pastEntries - entry) * 2 * DAY),
    );
    const closed = kind > 0.9;
    const caseNumber = numberOf(feed, index) ?? '';
    return { court: feed.court, feed, caseNumber, pacerCaseId: String(400_000 + id), past, closed };
  }
}

/** Most entries are made in the working hours of the middle of the day. */
function momentIn(random: () => number, micros: Micros): Micros {
  const isAtWork = random() < 0.85;
  const part = isAtWork ? (9 + random() * 9) / 24 : random();
  return Math.floor(part * micros);
}
