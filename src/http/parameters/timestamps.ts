import {
  type Instant,
  MICROS_PER_MS,
  MICROS_PER_SECOND,
  type Micros,
  parseTimestamp,
  toInstant,
  toMicros,
} from '../../runtime/instant.ts';
import { PARAMETERS } from './described-parameters.ts';
import { echo, type Issue } from './issues.ts';

/** How far a caller's clock may run ahead of ours (docs/design/interface.md#2.1). */
export const CLOCK_TOLERANCE: Micros = 5 * 60 * MICROS_PER_SECOND;

/** Undoes a missing percent-encoding: an unencoded plus sign arrives as a space, which is invalid here otherwise. */
export const meantTimestamp = (sent: string): string => sent.trim().replace(/ (?=\d\d:?\d\d$)/, '+');

/** Reads a time in the past, or returns the issue. */
export function checkTimestamp(parameter: string, sent: string, now: Micros): Instant | Issue {
  const text = meantTimestamp(sent);
  const instant = parseTimestamp(text);
  if (instant === null) {
    const example = corrected(text);
    return {
      parameter,
      code: 'invalid_timestamp',
      received: echo(sent),
      rule: 'A date and time in ISO-8601 with a time zone offset.',
      example,
      own: { received: echo(sent), example },
    };
  }
  if (toMicros(instant) <= now + CLOCK_TOLERANCE) return instant;
  const example = toInstant(now);
  return {
    parameter,
    code: 'last_checked_in_future',
    received: echo(sent),
    rule: 'At most 5 minutes ahead of our clock; use meta.queried_at of your previous answer.',
    example,
    own: { received: echo(sent), example },
  };
}

/** The timestamp that was probably meant, or else any valid one. */
function corrected(text: string): string {
  const candidates = [`${text}Z`, `${text}T00:00:00Z`, text.replace(' ', 'T'), `${text.replace(' ', 'T')}Z`];
  const meant = candidates.find((candidate) => parseTimestamp(candidate) !== null);
  if (meant !== undefined) return meant;
  if (/^\d{9,10}$/.test(text)) return toInstant(Number(text) * MICROS_PER_SECOND);
  if (/^\d{12,13}$/.test(text)) return toInstant(Number(text) * MICROS_PER_MS);
  return PARAMETERS.last_checked.example;
}
