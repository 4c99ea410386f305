/**
 * Points in time with microsecond precision. An `Instant` has one canonical form
 * (`2024-03-01T12:00:00.000000Z`, 27 characters), so instants compare as text in every store.
 */
import { z } from 'zod';

/** No month, day or hour that does not exist: computing with one would fail, or compare as neither earlier nor later. */
const INSTANT = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{6}Z$/;

export const Instant = z.string().regex(INSTANT);
export type Instant = z.infer<typeof Instant>;

/** Microseconds since the Unix epoch; below 2^53 until the year 2255. */
export type Micros = number;

/** The source of time; injected, so that tests and replays control it. */
export interface Clock {
  now(): Micros;
}

export const systemClock: Clock = { now: () => Date.now() * 1000 };

export const MICROS_PER_MS = 1000;
export const MICROS_PER_SECOND = 1_000_000;

export function toInstant(micros: Micros): Instant {
  const ms = Math.floor(micros / 1000);
  return `${new Date(ms).toISOString().slice(0, -1)}${String(micros - ms * 1000).padStart(3, '0')}Z`;
}

export function toMicros(instant: Instant): Micros {
  return Date.parse(`${instant.slice(0, 23)}Z`) * 1000 + Number(instant.slice(23, 26));
}

export const plus = (instant: Instant, micros: Micros): Instant => toInstant(toMicros(instant) + micros);

/** The later of two instants. */
export const latest = (a: Instant, b: Instant): Instant => (a > b ? a : b);

const TIMESTAMP = /^(\d{4}-\d\d-\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d)$/i;

/**
 * Reads an ISO-8601 timestamp that has an offset (docs/design/interface.md#2.1). Digits after the microsecond are
 * dropped. Returns null for anything else, including days that do not exist.
 */
export function parseTimestamp(text: string): Instant | null {
  const match = TIMESTAMP.exec(text);
  if (!match) return null;
  const [, date = '', hour = '', minute = '', second = '', fraction = '', zone = ''] = match;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  const wall = Date.parse(`${date}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(wall) || new Date(wall).toISOString().slice(0, 10) !== date) return null;
  const offset = offsetMinutes(zone);
  if (offset === null) return null;
  const micros = (wall - offset * 60_000) * 1000 + Number(fraction.slice(0, 6).padEnd(6, '0'));
  const instant = toInstant(micros);
  return Instant.safeParse(instant).success ? instant : null;
}

function offsetMinutes(zone: string): number | null {
  if (zone.toUpperCase() === 'Z') return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(-2));
  if (hours > 23 || minutes > 59) return null;
  return (zone[0] === '-' ? -1 : 1) * (hours * 60 + minutes);
}
