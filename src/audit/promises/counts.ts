/** Counts of promised callbacks. Each promise is counted by its present standing, so that the columns add up. */
import { type CallbackPromise, type FailedBecause, standingOf } from './promise.ts';

export interface Counts {
  /** Acknowledged, failed, cancelled, rolled back and open together. */
  readonly promised: number;
  readonly scheduled: number;
  /** At least once. */
  readonly attempted: number;
  /** All attempts, interrupted ones and redeliveries included. */
  readonly attempts: number;
  readonly acknowledged: number;
  readonly failed: number;
  readonly failedBecause: Readonly<Record<FailedBecause, number>>;
  readonly cancelled: number;
  readonly rolledBack: number;
  readonly open: number;
}

export const NO_COUNTS: Counts = {
  promised: 0,
  scheduled: 0,
  attempted: 0,
  attempts: 0,
  acknowledged: 0,
  failed: 0,
  failedBecause: { given_up: 0, content_withdrawn: 0, url_unusable: 0 },
  cancelled: 0,
  rolledBack: 0,
  open: 0,
};

/** What one promise adds to its group. */
export function countsOf(promise: CallbackPromise): Counts {
  const standing = standingOf(promise);
  const is = (state: typeof standing.state): number => (standing.state === state ? 1 : 0);
  const { failedBecause } = NO_COUNTS;
  return {
    promised: 1,
    scheduled: promise.delivery.status === 'none' ? 0 : 1,
    attempted: promise.attempts > 0 ? 1 : 0,
    attempts: promise.attempts,
    acknowledged: is('acknowledged'),
    failed: is('failed'),
    failedBecause: standing.state === 'failed' ? { ...failedBecause, [standing.because]: 1 } : failedBecause,
    cancelled: is('cancelled'),
    rolledBack: is('rolled_back'),
    open: is('open'),
  };
}

/** @param sign -1 to subtract */
export function plusCounts(a: Counts, b: Counts, sign: 1 | -1 = 1): Counts {
  const { failedBecause: because } = b;
  return {
    promised: a.promised + sign * b.promised,
    scheduled: a.scheduled + sign * b.scheduled,
    attempted: a.attempted + sign * b.attempted,
    attempts: a.attempts + sign * b.attempts,
    acknowledged: a.acknowledged + sign * b.acknowledged,
    failed: a.failed + sign * b.failed,
    failedBecause: {
      given_up: a.failedBecause.given_up + sign * because.given_up,
      content_withdrawn: a.failedBecause.content_withdrawn + sign * because.content_withdrawn,
      url_unusable: a.failedBecause.url_unusable + sign * because.url_unusable,
    },
    cancelled: a.cancelled + sign * b.cancelled,
    rolledBack: a.rolledBack + sign * b.rolledBack,
    open: a.open + sign * b.open,
  };
}
