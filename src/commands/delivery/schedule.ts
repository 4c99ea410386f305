/** When a callback is attempted (docs/design/interface.md#6; docs/design/callbacks.md#schedule). Pure. */
import { MICROS_PER_SECOND, type Micros } from '../../runtime/instant.ts';

const MINUTE: Micros = 60 * MICROS_PER_SECOND;

/** From the end of one attempt to the start of the next, minutes. */
export const RETRY_DELAYS_MINUTES = [3, 9, 27, 81, 243, 729] as const;
/** After this many failed attempts there is no further one. */
export const MAX_ATTEMPTS = RETRY_DELAYS_MINUTES.length + 1;
/** The deadline of one attempt, from the name lookup to the last byte of the response. */
export const ATTEMPT_DEADLINE_SECONDS = 10;
/** How long an attempt may have no outcome before it counts as interrupted. */
export const ATTEMPT_LEASE: Micros = MINUTE;
/** Maximum share of a delay that is added to it, so that deliveries that failed together are not retried together. */
export const MAX_JITTER = 0.05;
/** `Retry-After` may extend a delay by at most this factor. */
const MOST_RETRY_AFTER = 2;
/** The first attempt follows settlement immediately. Settlement, and the death of a node, may delay it by this much. */
const FIRST_ATTEMPT_WITHIN: Micros = MINUTE;

/**
 * How long to wait after a failed attempt; null after the last one.
 * @param attempt the number of the failed attempt, from 1
 * @param jitter 0 to 0.05; other values are clamped
 * @param retryAfterSeconds as the receiver requested; it never shortens the wait
 */
export function delayAfter(attempt: number, jitter: number, retryAfterSeconds: number | null = null): Micros | null {
  const minutes = RETRY_DELAYS_MINUTES[attempt - 1];
  if (minutes === undefined) return null;
  const scheduled = minutes * MINUTE;
  const jittered = Math.round(scheduled * (1 + Math.min(Math.max(jitter, 0), MAX_JITTER)));
  const asked = Math.min((retryAfterSeconds ?? 0) * MICROS_PER_SECOND, scheduled * MOST_RETRY_AFTER);
  return Math.max(jittered, Math.round(asked));
}

/** The latest time of the first attempt. @param at when the delivery was promised */
export const firstAttemptBy = (at: Micros): Micros => at + FIRST_ATTEMPT_WITHIN;

/** All attempts with their longest duration, and all delays with their longest jitter. */
const LONGEST_RUN: Micros =
  MAX_ATTEMPTS * ATTEMPT_DEADLINE_SECONDS * MICROS_PER_SECOND +
  RETRY_DELAYS_MINUTES.reduce((sum, minutes) => sum + minutes * MINUTE * (1 + MAX_JITTER), 0);

/**
 * When the last attempt has ended if none succeeds, provided that the service runs all the time and no receiver extends
 * a delay by `Retry-After`.
 * @param at when the delivery was promised
 */
export const givesUpBy = (at: Micros): Micros => firstAttemptBy(at) + Math.round(LONGEST_RUN);
