/** How long the fee payer's SOL lasts, from what the last days cost. */
import { MICROS_PER_SECOND, type Micros } from '../runtime/instant.ts';
import { RENT_RESERVE_LAMPORTS } from '../solana/prepare-receiver.ts';

const DAY: Micros = 86_400 * MICROS_PER_SECOND;
/** The days that the estimate is made from. */
export const DAYS_OF_SPEND = 7;

export interface Spend {
  /** Network fees of sponsored payments, failed ones included. */
  readonly lamports: bigint;
  /** Start of the first UTC day with any, within the last days; null if there were none. */
  readonly since: Micros | null;
}

export interface Runway {
  /** Null if it is not known. */
  readonly lamportsPerDay: bigint | null;
  /** Null if nothing was spent, or it is not known. */
  readonly days: number | null;
}

/** While the spend is not known. */
export const UNKNOWN_RUNWAY: Runway = { lamportsPerDay: null, days: null };

/** @param lamports the balance, of which the rent reserve cannot be spent */
export function runwayOf(lamports: bigint, { lamports: spent, since }: Spend, now: Micros): Runway {
  if (since === null || spent <= 0n) return { lamportsPerDay: 0n, days: null };
  // The first day counts as a whole one: an hour of a launch says little about a day.
  const days = Math.max(1, (now - since) / DAY);
  const lamportsPerDay = Number(spent) / days;
  const available = lamports > RENT_RESERVE_LAMPORTS ? lamports - RENT_RESERVE_LAMPORTS : 0n;
  return { lamportsPerDay: BigInt(Math.round(lamportsPerDay)), days: Number(available) / lamportsPerDay };
}
