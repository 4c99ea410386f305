/** Today's revenue, and the network fees of the last days. */
import { MICROS_PER_SECOND, type Micros, toInstant, toMicros } from '../runtime/instant.ts';
import type { ReadStore } from '../storage/read-store.ts';
import { revenueOf } from './revenue.ts';
import { DAYS_OF_SPEND, type Spend } from './status-fee-payer.ts';

export interface MoneyStatus {
  /** The present UTC day, `YYYY-MM-DD`. */
  readonly day: string;
  /** Cases, or other queries, that were answered today for settled payments. */
  readonly answers: number;
  readonly payments: number;
  /** Base units of USDC. */
  readonly usdc: bigint;
  readonly spend: Spend;
}

const DAY: Micros = 86_400 * MICROS_PER_SECOND;

const dayOf = (at: Micros): string => toInstant(at).slice(0, 10);

export async function moneyStatus(readStore: Pick<ReadStore, 'find'>, now: Micros): Promise<MoneyStatus> {
  const day = dayOf(now);
  const { rows, total } = await revenueOf(readStore, 'day', { from: dayOf(now - (DAYS_OF_SPEND - 1) * DAY), to: day });
  const today = rows.find(({ key }) => key === day);
  const first = rows.find(({ fees, failedFees }) => fees + failedFees > 0n);
  return {
    day,
    answers: today?.answers ?? 0,
    payments: today?.payments ?? 0,
    usdc: today?.usdc ?? 0n,
    spend: {
      lamports: total.fees + total.failedFees,
      since: first ? toMicros(`${first.key}T00:00:00.000000Z`) : null,
    },
  };
}
