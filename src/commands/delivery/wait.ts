/**
 * What a delivery waits for and until when, from the log alone. Also detects waits that were timed by a clock that has
 * since been set back; they would last too long by that difference. Pure.
 */
import type { DeliveryRescheduled } from '../../events/delivery.ts';
import type { EventOf } from '../../events/event.ts';
import { type Instant, MICROS_PER_SECOND, type Micros, toInstant, toMicros } from '../../runtime/instant.ts';
import { ATTEMPT_LEASE } from './schedule.ts';

/** Differences up to this much between clocks, of two machines or before and after a correction, are ignored. */
export const CLOCK_TOLERANCE: Micros = 5 * MICROS_PER_SECOND;

export interface Wait {
  /** The next attempt, or the outcome of the one under way. */
  readonly awaits: 'attempt' | 'outcome';
  readonly since: Micros;
  readonly until: Micros;
}

/** The part of a scheduled delivery that determines its wait. */
interface Waiting {
  readonly attempts: number;
  readonly nextAttemptAt: Instant | null;
  readonly scheduledSince: Instant;
  readonly underway: { readonly attempt: number; readonly redelivery: boolean; readonly leaseUntil: Instant } | null;
  readonly redelivery: { readonly requestedAt: Instant } | null;
}

type MaybeWaiting = { readonly status: 'none' } | (Waiting & { readonly status: string });

/** What is waited for; null if nothing more will happen to the delivery. */
export function waitOf(state: MaybeWaiting): Wait | null {
  if (!('underway' in state)) return null;
  const { underway, redelivery, nextAttemptAt, scheduledSince } = state;
  if (underway) {
    const until = toMicros(underway.leaseUntil);
    return { awaits: 'outcome', since: until - ATTEMPT_LEASE, until };
  }
  if (redelivery) {
    // A redelivery requested by an operator does not wait for the schedule.
    const asked = toMicros(redelivery.requestedAt);
    return { awaits: 'attempt', since: asked, until: asked };
  }
  if (nextAttemptAt === null) return null;
  return { awaits: 'attempt', since: toMicros(scheduledSince), until: toMicros(nextAttemptAt) };
}

/** When the delivery needs attention, from the log alone; null if never. */
export const dueAt = (state: MaybeWaiting): Micros | null => waitOf(state)?.until ?? null;

/** Whether a wait is over. A wait that was due when it was recorded stays due, even if the clock was changed since. */
export const isOver = ({ since, until }: Wait, now: Micros): boolean => now >= until || since >= until;

/** Whether an unfinished wait began in the present clock's future. */
const beganAhead = (wait: Wait, now: Micros): boolean => !isOver(wait, now) && wait.since > now + CLOCK_TOLERANCE;

/**
 * The wait restarted by the present clock if the clock that timed it has since been set back; otherwise null. How much
 * of the wait has passed is unknown, so it starts again: a clock change delays a delivery by at most one wait.
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
