/**
 * What is remembered of a court's feed between two polls, in a cell that all nodes share (docs/design/sources.md#feeds).
 * It saves work and loses nothing: without it every item is read as new, and recording it again changes nothing.
 */
import type { JsonObject } from '../../events/event.ts';
import { MICROS_PER_SECOND, type Micros } from '../../runtime/instant.ts';
import type { ReadStore } from '../../storage/read-store.ts';

export interface FeedMemory {
  /** No node polls the court before this moment. */
  readonly nextAt: Micros;
  /** When that was decided; null if an older version wrote it. */
  readonly decidedAt: Micros | null;
  /** When the last poll began that showed a whole feed; null before the first. */
  readonly lookedAt: Micros | null;
  /** When a feed last had an item or a time of building that the one before had not. */
  readonly movedAt: Micros | null;
  /** When the feed was built, by its own account. */
  readonly builtAt: Micros | null;
  /** Which types of entries the court publishes, in its own words. */
  readonly types: string;
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** Polls that failed, or could not record every case, since the last success. */
  readonly failures: number;
  /** Why the last poll failed; null if it did not. */
  readonly fault: string | null;
  /** How far back the last whole feed went that had items. */
  readonly window: Micros;
  /** How many items the last whole feed had. */
  readonly count: number;
  /** Keys of items that are dealt with, by the hour in which they were last in the feed. */
  readonly done: ReadonlyMap<string, number>;
  /** As `done`, of items of cases that nobody has asked for: they are looked up again, in case somebody has since. */
  readonly passed: ReadonlyMap<string, number>;
}

export const NO_MEMORY: FeedMemory = {
  nextAt: 0,
  decidedAt: null,
  lookedAt: null,
  movedAt: null,
  builtAt: null,
  types: '',
  etag: null,
  lastModified: null,
  failures: 0,
  fault: null,
  window: 0,
  count: 0,
  done: new Map(),
  passed: new Map(),
};

const HOUR: Micros = 3_600 * MICROS_PER_SECOND;
const hourOf = (now: Micros): number => Math.floor(now / HOUR);

/** Hours for which an item is remembered after it was last in the feed. */
const REMEMBERED_HOURS = 48;
/** Far more than any court publishes in that time; the oldest go first. */
const MOST_KEYS = 40_000;
const KEY_LENGTH = 10;

const cellOf = (court: string): string => `rss-feed-${court}`;

export interface HeldMemory {
  readonly version: number;
  readonly memory: FeedMemory;
}

export async function readMemory(readStore: Pick<ReadStore, 'cell'>, court: string): Promise<HeldMemory> {
  const { version, value } = await readStore.cell(cellOf(court));
  return { version, memory: decode(value) };
}

/** Returns whether the memory was still as it was read. */
export const writeMemory = (
  readStore: Pick<ReadStore, 'compareAndSet'>,
  court: string,
  version: number,
  memory: FeedMemory,
): Promise<boolean> => readStore.compareAndSet(cellOf(court), version, encode(memory));

function encode({ done, passed, ...rest }: FeedMemory): JsonObject {
  return { ...rest, done: encodeKeys(done), passed: encodeKeys(passed) };
}

/** One text for each hour: a tenth of the size of a list. */
function encodeKeys(keys: ReadonlyMap<string, number>): JsonObject {
  const byHour: Record<string, string> = {};
  for (const [key, hour] of keys) byHour[hour] = (byHour[hour] ?? '') + key;
  return byHour;
}

/** A cell that an older version wrote counts as no memory. */
function decode(value: JsonObject | null): FeedMemory {
  if (value === null) return NO_MEMORY;
  const number = (name: string): number | null => (typeof value[name] === 'number' ? (value[name] as number) : null);
  const text = (name: string): string | null => (typeof value[name] === 'string' ? (value[name] as string) : null);
  return {
    nextAt: number('nextAt') ?? 0,
    decidedAt: number('decidedAt'),
    lookedAt: number('lookedAt'),
    movedAt: number('movedAt'),
    builtAt: number('builtAt'),
    types: text('types') ?? '',
    etag: text('etag'),
    lastModified: text('lastModified'),
    failures: number('failures') ?? 0,
    fault: text('fault'),
    window: number('window') ?? 0,
    count: number('count') ?? 0,
    done: decodeKeys(value.done),
    passed: decodeKeys(value.passed),
  };
}

function decodeKeys(value: unknown): Map<string, number> {
  const keys = new Map<string, number>();
  if (typeof value !== 'object' || value === null) return keys;
  for (const [hour, text] of Object.entries(value)) {
    if (typeof text !== 'string') continue;
    for (let at = 0; at < text.length; at += KEY_LENGTH) keys.set(text.slice(at, at + KEY_LENGTH), Number(hour));
  }
  return keys;
}

/** The keys with these, which are in the feed now, and without those that were last in it two days ago. */
export function remember(known: ReadonlyMap<string, number>, keys: Iterable<string>, now: Micros): Map<string, number> {
  const hour = hourOf(now);
  const next = new Map<string, number>();
  for (const [key, seen] of known) if (hour - seen <= REMEMBERED_HOURS) next.set(key, seen);
  for (const key of keys) {
    next.delete(key);
    next.set(key, hour);
  }
  for (const key of next.keys()) {
    if (next.size <= MOST_KEYS) break;
    next.delete(key);
  }
  return next;
}
