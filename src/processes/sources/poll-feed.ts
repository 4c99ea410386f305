/** One poll of one court's feed: fetched, read, recorded, and only then remembered (docs/design/sources.md#feeds). */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ProjectionBehind } from '../../commands/docket/clock.ts';
import { MICROS_PER_SECOND, type Micros, toInstant } from '../../runtime/instant.ts';
import type { SourceHttp, SourceResponse } from '../../sources/http/source-http.ts';
import type { CourtFeed } from '../../sources/rss/addresses.ts';
import { type Feed, MAX_FEED_BYTES, readFeed } from '../../sources/rss/feed.ts';
import { type FeedMemory, remember } from '../../sources/rss/feed-memory.ts';
import { gapOf, isRebuilt, nextPoll } from '../../sources/rss/feed-rules.ts';
import { readFeedTime } from '../../sources/rss/feed-time.ts';
import { keyOfRaw, type ReadItem, readItem } from '../../sources/rss/item.ts';
import { casesOf, type FeedCase, snapshotOf } from '../../sources/rss/snapshots.ts';
import type { Fault, Ingest } from '../../sources/source.ts';
import { StorageFailure } from '../../storage/storage-failure.ts';

export interface PollPorts {
  readonly http: Pick<SourceHttp, 'send'>;
  readonly ingest: Ingest;
  /** The canonical numbers of the cases among these whose entries are kept. */
  concerned(feed: CourtFeed, cases: readonly FeedCase[]): Promise<ReadonlySet<string>>;
  /** Notes on the watched cases of the court that entries of this time may be missing. */
  noteGap(feed: CourtFeed, gap: { readonly from: Micros; readonly to: Micros }, askedAt: Micros): Promise<void>;
  /** Entries of a case, made in this time, could not be recorded; they are read again at the next poll. */
  failedCase(feed: CourtFeed, failed: FailedCase, askedAt: Micros): Promise<void>;
  now(): Micros;
  random(): number;
  /** Between two polls; that of the courts if omitted. */
  readonly interval?: Micros | undefined;
}

export interface FailedCase {
  /** In the canonical form. */
  readonly caseNumber: string;
  readonly from: Micros;
  readonly to: Micros;
  readonly error: unknown;
}

export interface FeedPoll {
  readonly court: string;
  /** Null: the feed was whole, or unchanged by the court's own account. */
  readonly fault: Pick<Fault, 'fault' | 'reason'> | null;
  readonly notModified: boolean;
  /** When the poll began. */
  readonly at: Micros;
  /** When the feed was built, by its own account, as far as is known. */
  readonly builtAt: Micros | null;
  /** Items by what became of them; items that were dealt with before are not counted. */
  readonly ingested: number;
  readonly unknownCase: number;
  readonly unreadable: number;
  /** Cases of which entries could not be recorded. */
  readonly failedCases: number;
  readonly gap: { readonly from: Micros; readonly to: Micros } | null;
}

export interface Polled {
  readonly poll: FeedPoll;
  readonly memory: FeedMemory;
}

const ACCEPT = 'application/rss+xml, application/xml;q=0.9, text/xml;q=0.9, */*;q=0.1';

/** @throws if storage fails; the poll is then repeated, and what it recorded is known already */
export async function pollFeed(
  ports: PollPorts,
  feed: CourtFeed,
  before: FeedMemory,
  signal: AbortSignal,
): Promise<Polled> {
  const askedAt = ports.now();
  const answer = await ports.http.send({
    url: feed.url,
    headers: {
      accept: ACCEPT,
      ...(before.etag === null ? {} : { 'if-none-match': before.etag }),
      ...(before.lastModified === null ? {} : { 'if-modified-since': before.lastModified }),
    },
    maxBytes: MAX_FEED_BYTES,
    connectMs: 5_000,
    totalMs: 25_000,
    signal,
  });
  const { builtAt: knownBuiltAt } = before;
  const report = { court: feed.court.code, notModified: false, at: askedAt, builtAt: knownBuiltAt, ...NOTHING };
  const failed = (fault: Fault): Polled => ({
    poll: { ...report, fault },
    memory: afterFailure(ports, before, fault),
  });
  if ('fault' in answer) return failed(answer);
  if (answer.status === 304) {
    const memory = { ...afterSuccess(ports, before), lookedAt: askedAt, movedAt: before.movedAt ?? askedAt };
    return { poll: { ...report, fault: null, notModified: true }, memory };
  }
  if (answer.status !== 200) return failed(faultOfStatus(answer, askedAt));
  const read = await readFeed(answer.body, answer.headers['content-type']);
  if ('fault' in read) return failed({ ...read, retryAt: null });
  const recorded = await recordItems(ports, feed, read, before, askedAt);
  const { items, done, passed } = recorded;
  const times = items.flatMap(({ at }) => at ?? []);
  const oldestAt = times.length === 0 ? null : times.reduce((a, b) => Math.min(a, b));
  const found = read.whole ? gapOf(before, { oldestAt, count: items.length }, askedAt) : null;
  if (found) await ports.noteGap(feed, found, askedAt);
  const builtAt = readFeedTime(read.builtAt, feed.court.timeZone);
  const moved = recorded.news > 0 || isRebuilt(before.builtAt, builtAt);
  const shown: FeedMemory = {
    ...before,
    done,
    passed,
    movedAt: moved || before.movedAt === null ? askedAt : before.movedAt,
    builtAt: isRebuilt(before.builtAt, builtAt) ? builtAt : before.builtAt,
    types: read.types.slice(0, 1_000),
  };
  const poll = { ...report, ...recorded.counts, builtAt: builtAt ?? before.builtAt, gap: found };
  if (!read.whole) {
    const fault = { fault: 'unreadable', reason: 'the feed was cut off', retryAt: null } as const;
    return { poll: { ...poll, fault }, memory: afterFailure(ports, shown, fault) };
  }
  const isComplete = recorded.counts.failedCases === 0;
  const memory: FeedMemory = {
    ...afterSuccess(ports, shown),
    // The court did its part, so it is asked again as soon as always.
    ...(isComplete ? {} : { failures: before.failures + 1, fault: UNRECORDED }),
    lookedAt: askedAt,
    etag: isComplete ? headerOf(answer, 'etag') : null,
    lastModified: isComplete ? headerOf(answer, 'last-modified') : null,
    // An empty feed says nothing of how long it keeps its items.
    window: oldestAt === null ? before.window : Math.min(Math.max(0, askedAt - oldestAt), LONGEST_WINDOW),
    count: items.length,
  };
  return { poll: { ...poll, fault: null }, memory };
}

const ITEMS_IN_A_TURN = 250;
/** Also the `why` of its standing. */
export const UNRECORDED = 'entries of some cases cannot be recorded';
/** The longest known, and a little more: an item with a date of long ago must not hide gaps. */
const LONGEST_WINDOW: Micros = 25 * 3_600 * MICROS_PER_SECOND;

const NOTHING = { ingested: 0, unknownCase: 0, unreadable: 0, failedCases: 0, gap: null } as const;

const afterSuccess = (ports: PollPorts, memory: FeedMemory): FeedMemory => ({
  ...memory,
  failures: 0,
  fault: null,
  nextAt: nextPoll(ports.now(), 0, null, ports.random(), ports.interval),
});

const afterFailure = (ports: PollPorts, memory: FeedMemory, { fault, reason, retryAt }: Fault): FeedMemory => ({
  ...memory,
  failures: memory.failures + 1,
  fault: `${fault}: ${reason}`.slice(0, 200),
  nextAt: nextPoll(ports.now(), memory.failures + 1, retryAt, ports.random(), ports.interval),
});

/** A validator that is too long to be one is not sent back. */
function headerOf({ headers }: SourceResponse, name: string): string | null {
  const value = headers[name];
  return value !== undefined && value.length <= 200 && /^[\x20-\x7e]+$/.test(value) ? value : null;
}

function faultOfStatus({ status, headers }: SourceResponse, now: Micros): Fault {
  const seconds = /^\d{1,6}$/.exec(headers['retry-after'] ?? '')?.[0];
  const fault = status === 429 ? 'throttled' : status === 401 || status === 403 ? 'forbidden' : 'unavailable';
  const retryAt = seconds === undefined ? null : now + Number(seconds) * MICROS_PER_SECOND;
  return { fault, reason: `status ${status}`, retryAt };
}

interface RecordedItems {
  /** All that could be read. */
  readonly items: readonly ReadItem[];
  readonly done: ReadonlyMap<string, number>;
  readonly passed: ReadonlyMap<string, number>;
  /** Items that no earlier poll has shown. */
  readonly news: number;
  readonly counts: Pick<FeedPoll, 'ingested' | 'unknownCase' | 'unreadable' | 'failedCases'>;
}

/** Storage or the read model fails, and so would every other case. */
const failsForAll = (error: unknown): boolean =>
  error instanceof StorageFailure ||
  error instanceof ProjectionBehind ||
  (error instanceof Error && error.cause instanceof StorageFailure);

async function recordItems(
  ports: PollPorts,
  court: CourtFeed,
  { items: raw }: Feed,
  before: FeedMemory,
  askedAt: Micros,
): Promise<RecordedItems> {
  const items: ReadItem[] = [];
  const unread: string[] = [];
  for (const [index, one] of raw.entries()) {
    // Other work of the node has its turn.
    if (index % ITEMS_IN_A_TURN === ITEMS_IN_A_TURN - 1) await nextTurn();
    const item = readItem(court, one, askedAt);
    if ('unread' in item) unread.push(keyOfRaw(one));
    else items.push(item);
  }
  const isOpen = ({ key }: Pick<ReadItem, 'key'>): boolean => !before.done.has(key);
  const open = casesOf(items).filter((one) => one.items.some(isOpen));
  const concerned = open.length === 0 ? new Set<string>() : await ports.concerned(court, open);
  const [done, passed, lost] = [new Set(unread), new Set<string>(), new Set<string>()];
  let [ingested, unknownCase, failedCases] = [0, 0, 0];
  for (const item of items) if (!isOpen(item)) done.add(item.key);
  // The oldest first, as they happened.
  for (const one of open.toReversed()) {
    const fresh = one.items.filter(isOpen);
    const keep = (into: Set<string>): void => {
      for (const { key } of fresh) into.add(key);
    };
    if (!concerned.has(one.number.canonical)) {
      keep(passed);
      unknownCase += fresh.filter(({ key }) => !before.passed.has(key)).length;
      continue;
    }
    try {
      const snapshot = snapshotOf(court, one, isOpen, toInstant(askedAt));
      if (snapshot) await ports.ingest(snapshot);
      keep(done);
      ingested += fresh.length;
    } catch (error) {
      // The poll is repeated as a whole.
      if (failsForAll(error)) throw error;
      failedCases++;
      keep(lost);
      const times = fresh.map(({ at }) => Math.min(at ?? askedAt, askedAt));
      const [from, to] = [Math.min(...times), Math.max(...times)];
      await ports.failedCase(court, { caseNumber: one.number.canonical, from, to, error }, askedAt);
    }
  }
  return {
    items,
    done: remember(before.done, done, askedAt),
    passed: remember(new Map([...before.passed].filter(([key]) => !done.has(key) && !lost.has(key))), passed, askedAt),
    news: items.filter(({ key }) => isOpen({ key }) && !before.passed.has(key)).length,
    counts: { ingested, unknownCase, failedCases, unreadable: unread.filter((key) => isOpen({ key })).length },
  };
}
