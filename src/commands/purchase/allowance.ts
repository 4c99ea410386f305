/**
 * How many payments of one wallet may be pending at once: one at first, more with each that settled, and almost none
 * for an hour after a failure (docs/design/payments.md#payments-under-way, #first-payments).
 */
import { SETTLEMENT_FAILURES_PER_HOUR } from './wallet-limits.ts';

/** For a wallet that is not proven. */
export const FIRST_UNDER_WAY = 1;
/** Additional payments per settled one: their fees together are at most a twentieth of what it paid. */
const MORE_FOR_EACH_SETTLED = 20;
/** Upper limit for every wallet: the number of requests allowed per minute. */
export const MOST_UNDER_WAY = 60;
/** For a proven wallet, failures per settled payment: 20 failures cost us at most 300,000 lamports. */
const FAILURES_FOR_EACH_SETTLED = 20;

/** Whether the wallet's settled payments have paid for its failures within the year. */
export const isProvenBy = (settled: number, failuresOfYear: number): boolean =>
  failuresOfYear < FAILURES_FOR_EACH_SETTLED * settled;

export interface WalletStanding {
  readonly isProven: boolean;
  /** All settled payments. */
  readonly settled: number;
  /** Failed payments within the hour. */
  readonly failures: number;
}

/**
 * The rule: 1, plus 20 per settled payment for a proven wallet, up to 60. After a failure within the hour, only as many
 * as may still fail before the wallet is paused (3 minus the failures).
 */
export function allowedUnderWay({ isProven, settled, failures }: WalletStanding): number {
  const mayFail = Math.max(0, SETTLEMENT_FAILURES_PER_HOUR - failures);
  if (!isProven) return Math.min(FIRST_UNDER_WAY, mayFail);
  if (failures > 0) return mayFail;
  return Math.min(MOST_UNDER_WAY, FIRST_UNDER_WAY + MORE_FOR_EACH_SETTLED * Math.max(0, settled));
}
