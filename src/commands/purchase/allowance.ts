/**
 * How many payments of one wallet may be under way at once. Each may still fail: a sponsored one then costs us its
 * network fee, and every one its query and its place in the store. So trust is earned: a wallet begins with few, each
 * payment that settled (and so paid for hundreds of failures) allows twenty more, and a failure takes nearly all of it
 * back for an hour.
 */
import { SETTLEMENT_FAILURES_PER_HOUR } from './wallet-limits.ts';

/** Of a wallet without a settled payment. */
export const FIRST_UNDER_WAY = 3;
/** More for each payment that settled: their fees together are a twentieth of what it paid, or less. */
export const MORE_FOR_EACH_SETTLED = 20;
/** However much a wallet has settled: as many as it may send in a minute. */
export const MOST_UNDER_WAY = 60;

export interface WalletStanding {
  /** Payments that settled, ever. */
  readonly settled: number;
  /** Payments that failed within the hour. */
  readonly failures: number;
}

/**
 * The rule: 3, and 20 more for each settled payment, up to 60; after a failure within the hour as many as may still
 * fail before the wallet pauses (3 less the failures).
 */
export function allowedUnderWay({ settled, failures }: WalletStanding): number {
  if (failures > 0) return Math.max(0, SETTLEMENT_FAILURES_PER_HOUR - failures);
  return Math.min(MOST_UNDER_WAY, FIRST_UNDER_WAY + MORE_FOR_EACH_SETTLED * Math.max(0, settled));
}
