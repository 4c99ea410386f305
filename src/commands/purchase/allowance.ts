/**
 * How many payments of one wallet may be under way at once (docs/design/payments.md#first-payments). Each may still
 * fail: a sponsored one then costs us its network fee, and every one its query and its place in the store. So a wallet
 * begins with one, each payment that settled (and so paid for hundreds of failures) allows twenty more, and a failure
 * takes nearly all of it back for an hour.
 */
import { SETTLEMENT_FAILURES_PER_HOUR } from './wallet-limits.ts';

/** Of a wallet that is not proven. */
export const FIRST_UNDER_WAY = 1;
/** More for each payment that settled: their fees together are a twentieth of what it paid, or less. */
export const MORE_FOR_EACH_SETTLED = 20;
/** However much a wallet has settled: as many as it may send in a minute. */
export const MOST_UNDER_WAY = 60;
/** Of a proven wallet, for each settled payment: 20 failures cost us 300,000 lamports at most. */
export const FAILURES_FOR_EACH_SETTLED = 20;

/** Whether the payments of a wallet that settled have paid for those that failed within the year. */
export const isProvenBy = (settled: number, failuresOfYear: number): boolean =>
  failuresOfYear < FAILURES_FOR_EACH_SETTLED * settled;

export interface WalletStanding {
  readonly isProven: boolean;
  /** Payments that settled, ever. */
  readonly settled: number;
  /** Payments that failed within the hour. */
  readonly failures: number;
}

/**
 * The rule: 1, and of a proven wallet 20 more for each settled payment, up to 60; after a failure within the hour as many
 * as may still fail before the wallet pauses (3 less the failures).
 */
export function allowedUnderWay({ isProven, settled, failures }: WalletStanding): number {
  const mayFail = Math.max(0, SETTLEMENT_FAILURES_PER_HOUR - failures);
  if (!isProven) return Math.min(FIRST_UNDER_WAY, mayFail);
  if (failures > 0) return mayFail;
  return Math.min(MOST_UNDER_WAY, FIRST_UNDER_WAY + MORE_FOR_EACH_SETTLED * Math.max(0, settled));
}
