/** Times as feeds write them (docs/design/sources.md#feeds). */
import { dayAt, isDay, wallTime } from '../../dockets/court-time.ts';
import type { Micros } from '../../runtime/instant.ts';
import { monthOf } from '../month-name.ts';

const FORM =
  /^\s{0,20}(?:[A-Za-z]{3,9},?\s{1,5})?(\d{1,2})[ -]([A-Za-z]{3})[a-z]{0,6}[ -](\d{4})\s{1,5}(\d{1,2}):(\d\d)(?::(\d\d))?\s{0,5}([A-Za-z]{1,5}|[+-]\d\d:?\d\d)?\s{0,20}$/;

const OFFSET = /^([+-])(\d\d):?(\d\d)$/;
const UTC: ReadonlySet<string> = new Set(['GMT', 'UTC', 'UT', 'Z']);

/** Hours of standard time behind UTC, and a zone with its summer time, by the letters before `ST`, `DT` or `T`. */
const ZONES: ReadonlyMap<string, readonly [behind: number, zone: string]> = new Map([
  ['A', [4, 'America/Puerto_Rico']],
  ['E', [5, 'America/New_York']],
  ['C', [6, 'America/Chicago']],
  ['M', [7, 'America/Denver']],
  ['P', [8, 'America/Los_Angeles']],
  ['AK', [9, 'America/Anchorage']],
  ['H', [10, 'Pacific/Honolulu']],
  ['CH', [-10, 'Pacific/Guam']],
]);

/**
 * A moment, in microseconds; null for anything else. Courts write `EST` in summer as well, so a zone's letters mean that
 * zone's wall clock, whichever of its two times it shows. A time without a zone is the court's own.
 */
export function readFeedTime(text: string, courtZone: string): Micros | null {
  const match = FORM.exec(text.slice(0, 100));
  if (!match) return null;
  const [, date = '', name = '', year = '', hours = '', minutes = '', seconds = '0', zone = ''] = match;
  const month = monthOf(name);
  const day = `${year}-${String(month).padStart(2, '0')}-${date.padStart(2, '0')}`;
  const [hour, minute, second] = [Number(hours), Number(minutes), Math.min(Number(seconds), 59)];
  if (!isDay(day) || hour > 23 || minute > 59 || Number(seconds) > 60) return null;
  const wall = (inZone: string): Micros => wallTime(inZone, day, hour, minute, second);
  const letters = zone.toUpperCase();
  if (letters === '') return wall(courtZone);
  if (UTC.has(letters)) return wall('UTC');
  const offset = OFFSET.exec(zone);
  if (offset) {
    const ahead = (Number(offset[2]) * 60 + Number(offset[3])) * (offset[1] === '-' ? -1 : 1);
    return wall('UTC') - ahead * 60_000_000;
  }
  const known = ZONES.get(letters.replace(/(?:[SD]T|T)$/, ''));
  if (!known) return null;
  // Of two zones with these letters the court's own is meant: Arizona has no summer time.
  return wall(hoursBehind(courtZone) === known[0] ? courtZone : known[1]);
}

/** How far a zone's standard time is behind UTC, hours. No zone of a federal court has summer time in January. */
function hoursBehind(zone: string): number {
  return (wallTime(zone, '2026-01-15', 12, 0, 0) - wallTime('UTC', '2026-01-15', 12, 0, 0)) / 3_600_000_000;
}

/** 0 for Sunday to 6 for Saturday, on the court's own calendar. */
export const weekdayAt = (courtZone: string, at: Micros): number =>
  new Date(`${dayAt(courtZone, at).day}T12:00:00Z`).getUTCDay();
