/**
 * When a callback is attempted, and until when (docs/design/interface.md#6; docs/design/callbacks.md#schedule). Pure.
 */
import { MICROS_PER_SECOND, type Micros } from '../../runtime/instant.ts';

const MINUTE: Micros = 60 * MICROS_PER_SECOND;

/** From the end of one attempt to the start of the next, minutes. */
export const RETRY_DELAYS_MINUTES = [3, 9, 27, 81, 243, 729] as const;
/** After so many have failed there is no further one. */
export const MAX_ATTEMPTS = RETRY_DELAYS_MINUTES.length + 1;
/** One attempt, from resolving the host's name to the last byte of the answer. */
export const ATTEMPT_DEADLINE_SECONDS = 10;
/** How long an attempt may be without an outcome before it counts as interrupted. */
export const ATTEMPT_LEASE: Micros = MINUTE;
/** Share of a delay by which a retry may be later, so that what failed together is not all tried together again. */
export const MAX_JITTER = 0.05;
/** `Retry-After` may make a delay so many times as long. */
const MOST_RETRY_AFTER = 2;
/** The first attempt follows settlement at once; so long may settlement take, and a node's death at that moment. */
const FIRST_ATTEMPT_WITHIN: Micros = MINUTE;

/**
 * How long to wait after an attempt that failed; null after the last one.
 * @param attempt the one that failed, from 1
 * @param jitter 0 to 0.05; what lies outside is taken as the nearer end
 * @param retryAfterSeconds what the receiver asked for; it never makes the wait shorter
 */
export function delayAfter(attempt: number, jitter: number, retryAfterSeconds: number | null = null): Micros | null {
  const minutes = RETRY_DELAYS_MINUTES[attempt - 1];
  if (minutes === undefined) return null;
  const scheduled = minutes * MINUTE;
  const jittered = Math.round(scheduled * (1 + Math.min(Math.max(jitter, 0), MAX_JITTER)));
  const asked = Math.min((retryAfterSeconds ?? 0) * MICROS_PER_SECOND, scheduled * MOST_RETRY_AFTER);
  return Math.max(jittered, Math.round(asked));
}

/** By when the first attempt is made. @param at when the delivery was promised */
export const firstAttemptBy = (at: Micros): Micros => at + FIRST_ATTEMPT_WITHIN;

/** All attempts, each as slow as it may be, and all delays, each as long as jitter makes it. */
const LONGEST_RUN: Micros =
  MAX_ATTEMPTS * ATTEMPT_DEADLINE_SECONDS * MICROS_PER_SECOND +
  RETRY_DELAYS_MINUTES.reduce((sum, minutes) => sum + minutes * MINUTE * (1 + MAX_JITTER), 0);

/**
 * By when the last attempt has ended, if none succeeds, where the service runs without a stop and no receiver asks by
 * `Retry-After` for more time.
 * @param at when the delivery was promised
 */
export const givesUpBy = (at: Micros): Micros => firstAttemptBy(at) + Math.round(LONGEST_RUN);
