/**
 * What a delivery waits for and until when, by the log alone, and whether a clock that has since been set back says so:
 * then it would wait for as long as the clock was set back. Pure.
 */
import type { DeliveryRescheduled } from '../../events/delivery.ts';
import type { EventOf } from '../../events/event.ts';
import { type Instant, MICROS_PER_SECOND, type Micros, toInstant, toMicros } from '../../runtime/instant.ts';
import { ATTEMPT_LEASE } from './schedule.ts';

/** Clocks of two machines, and one machine's before and after it is corrected, may differ by this: nothing is made of it. */
export const CLOCK_TOLERANCE: Micros = 5 * MICROS_PER_SECOND;

export interface Wait {
  /** The next attempt, or the outcome of the one under way. */
  readonly awaits: 'attempt' | 'outcome';
  readonly since: Micros;
  readonly until: Micros;
}

/** The part of a scheduled delivery that says what it waits for. */
interface Waiting {
  readonly attempts: number;
  readonly nextAttemptAt: Instant | null;
  readonly scheduledSince: Instant;
  readonly underway: { readonly attempt: number; readonly redelivery: boolean; readonly leaseUntil: Instant } | null;
  readonly redelivery: { readonly requestedAt: Instant } | null;
}

type MaybeWaiting = { readonly status: 'none' } | (Waiting & { readonly status: string });

/** What is waited for; null for a delivery that has come to rest. */
export function waitOf(state: MaybeWaiting): Wait | null {
  if (!('underway' in state)) return null;
  const { underway, redelivery, nextAttemptAt, scheduledSince } = state;
  if (underway) {
    const until = toMicros(underway.leaseUntil);
    return { awaits: 'outcome', since: until - ATTEMPT_LEASE, until };
  }
  if (redelivery) {
    // An operator does not wait for the schedule.
    const asked = toMicros(redelivery.requestedAt);
    return { awaits: 'attempt', since: asked, until: asked };
  }
  if (nextAttemptAt === null) return null;
  return { awaits: 'attempt', since: toMicros(scheduledSince), until: toMicros(nextAttemptAt) };
}

/** When something is to be done for a delivery, by the log alone; null for one that has come to rest. */
export const dueAt = (state: MaybeWaiting): Micros | null => waitOf(state)?.until ?? null;

/** Whether a wait is over. What was due at once when it was recorded stays due, even if the clock was set since. */
export const isOver = ({ since, until }: Wait, now: Micros): boolean => now >= until || since >= until;

/** Whether a wait that goes on began in what is the future now. */
const beganAhead = (wait: Wait, now: Micros): boolean => !isOver(wait, now) && wait.since > now + CLOCK_TOLERANCE;

/**
 * The same wait by the present clock, where the clock that it was timed by has since been set back; else null. How much
 * of it has passed is then unknown, so it starts again: a clock never costs a delivery more than one wait.
 */
export function waitAgain(
  state: Waiting & { readonly status: string },
  now: Micros,
): EventOf<typeof DeliveryRescheduled>['data'] | null {
  const wait = waitOf(state);
  if (!wait || !beganAhead(wait, now)) return null;
  return {
    awaits: wait.awaits,
    attempt: state.underway?.attempt ?? state.attempts + 1,
    redelivery: state.underway?.redelivery ?? false,
    formerlyDueAt: toInstant(wait.until),
    rescheduledAt: toInstant(now),
    dueAt: toInstant(now + wait.until - wait.since),
  };
}
