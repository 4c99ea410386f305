/** Days and wall-clock times of a court, in its own time zone. Pure: the zone's rules are part of the runtime. */
import type { Micros } from '../runtime/instant.ts';

const DAY_MS = 86_400_000;

/** The same few days occur again and again; beyond this many per zone, the cache is cleared. */
const REMEMBERED_DAYS = 20_000;

interface Zone {
  readonly format: Intl.DateTimeFormat;
  /** Start of a court-local day, milliseconds, by its text. */
  readonly starts: Map<string, number>;
  /** Last microsecond of a court-local day, by its text. */
  readonly ends: Map<string, Micros>;
  /** A court-local day as a timestamp, by its text. */
  readonly timestamps: Map<string, string>;
  /** How far it is ahead of UTC, milliseconds, by the minute. */
  readonly offsets: Map<number, number>;
}

const zones = new Map<string, Zone>();

function zoneOf(timeZone: string): Zone {
  let zone = zones.get(timeZone);
  if (!zone) {
    zone = {
      format: new Intl.DateTimeFormat('en-US', {
        timeZone,
        hourCycle: 'h23',
        year: 'numeric',
        month: 'numeric',
        day: 'numeric',
        hour: 'numeric',
        minute: 'numeric',
        second: 'numeric',
      }),
      starts: new Map(),
      ends: new Map(),
      timestamps: new Map(),
      offsets: new Map(),
    };
    zones.set(timeZone, zone);
  }
  return zone;
}

const MINUTE_MS = 60_000;

/** How far the zone's wall clock is ahead of UTC at a moment, milliseconds. */
function offsetAt(zone: Zone, ms: number): number {
  // Before 1970 clocks were changed within a minute. Feeds show the same times again and again.
  if (ms < 0) return computedOffset(zone, ms);
  const minute = Math.floor(ms / MINUTE_MS);
  let offset = zone.offsets.get(minute);
  if (offset === undefined) {
    offset = computedOffset(zone, ms);
    if (zone.offsets.size >= REMEMBERED_DAYS) zone.offsets.clear();
    zone.offsets.set(minute, offset);
  }
  return offset;
}

function computedOffset(zone: Zone, ms: number): number {
  const part: Record<string, number> = {};
  for (const { type, value } of zone.format.formatToParts(ms)) part[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(ms / 1000) * 1000;
}

/** The moment at which a zone's wall clock shows this time: the earlier one of two, the first one after a gap. */
function momentOf(zone: Zone, wallMs: number): number {
  const first = wallMs - offsetAt(zone, wallMs - DAY_MS / 2);
  const second = wallMs - offsetAt(zone, wallMs + DAY_MS / 2);
  const earlier = Math.min(first, second);
  if (earlier + offsetAt(zone, earlier) === wallMs) return earlier;
  return Math.max(first, second);
}

/** A value for each day, computed once; the whole cache is cleared when it has too many. */
function remember<Value>(memory: Map<string, Value>, day: string, compute: () => Value): Value {
  let value = memory.get(day);
  if (value === undefined) {
    value = compute();
    if (memory.size >= REMEMBERED_DAYS) memory.clear();
    memory.set(day, value);
  }
  return value;
}

const knownDays = new Map<string, boolean>();

/**
 * The range of accepted days. Outside of these years, consecutive microseconds are no longer distinct numbers, so times
 * of one day could be equal. No covered court is that old, and no docket is dated that far ahead.
 */
const FIRST_DAY = '1700-01-01';
const LAST_DAY = '2249-12-31';

/** Whether a text is an existing day, `YYYY-MM-DD`, in a year that a docket can have. */
export function isDay(text: string): boolean {
  if (text.length !== 10) return false;
  return remember(knownDays, text, () => {
    if (!/^\d{4}-\d\d-\d\d$/.test(text) || text < FIRST_DAY || text > LAST_DAY) return false;
    const ms = Date.parse(`${text}T00:00:00Z`);
    return !Number.isNaN(ms) && new Date(ms).toISOString().slice(0, 10) === text;
  });
}

function startMs(timeZone: string, day: string): number {
  const zone = zoneOf(timeZone);
  return remember(zone.starts, day, () => momentOf(zone, Date.parse(`${day}T00:00:00Z`)));
}

/** The last microsecond of a court-local day. */
export const endOfDay = (timeZone: string, day: string): Micros =>
  remember(zoneOf(timeZone).ends, day, () => startMs(timeZone, nextDay(day)) * 1000 - 1);

function nextDay(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + DAY_MS).toISOString().slice(0, 10);
}

/** The moment at which the court's wall clock shows a time of a day. */
export function wallTime(timeZone: string, day: string, hour: number, minute: number, second: number): Micros {
  const wall = Date.parse(`${day}T00:00:00Z`) + ((hour * 60 + minute) * 60 + second) * 1000;
  return momentOf(zoneOf(timeZone), wall) * 1000;
}

/** The court-local day of a moment, and whether the wall clock shows the very start of that day. */
export function dayAt(timeZone: string, at: Micros): { readonly day: string; readonly midnight: boolean } {
  const ms = Math.floor(at / 1000);
  const wall = new Date(ms + offsetAt(zoneOf(timeZone), ms)).toISOString();
  const day = wall.slice(0, wall.indexOf('T'));
  return { day, midnight: isDay(day) && startMs(timeZone, day) * 1000 === at };
}

/** A court-local day as a timestamp: its start, with the offset that the court's zone has at that time. */
export function dayAsTimestamp(timeZone: string, day: string): string {
  const zone = zoneOf(timeZone);
  return remember(zone.timestamps, day, () => timestampOf(zone, startMs(timeZone, day)));
}

function timestampOf(zone: Zone, start: number): string {
  const minutes = Math.round(offsetAt(zone, start) / 60_000);
  const wall = new Date(start + minutes * 60_000).toISOString().slice(0, 19);
  const absolute = Math.abs(minutes);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${wall}${minutes < 0 ? '-' : '+'}${two(Math.floor(absolute / 60))}:${two(absolute % 60)}`;
}
