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

/** What a caller meant: a plus sign that was not percent-encoded arrives as a space, which can mean nothing else here. */
export const meantTimestamp = (sent: string): string => sent.trim().replace(/ (?=\d\d:?\d\d$)/, '+');

/** Reads a point in time of the past, or says what is wrong with it. */
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
    rule: 'At most 5 minutes ahead of our clock; best is meta.queried_at of your previous answer.',
    example,
    own: { received: echo(sent), example },
  };
}

/** What was probably meant, where that can be told; else any timestamp. */
function corrected(text: string): string {
  const candidates = [`${text}Z`, `${text}T00:00:00Z`, text.replace(' ', 'T'), `${text.replace(' ', 'T')}Z`];
  const meant = candidates.find((candidate) => parseTimestamp(candidate) !== null);
  if (meant !== undefined) return meant;
  if (/^\d{9,10}$/.test(text)) return toInstant(Number(text) * MICROS_PER_SECOND);
  if (/^\d{12,13}$/.test(text)) return toInstant(Number(text) * MICROS_PER_MS);
  return PARAMETERS.last_checked.example;
}
