/** The overall state of payments without a final outcome, for operators. */
import { PAYMENTS, type PaymentAttention, type PaymentRecord } from '../projections/payments.ts';
import { MICROS_PER_SECOND, type Micros, toMicros } from '../runtime/instant.ts';
import type { ReadStore } from '../storage/read-store.ts';

/** Counting stops here, so that the query always takes the same few milliseconds. */
export const MOST_PAYMENTS_COUNTED = 100_000;

export interface PaymentStanding {
  /** Submitted, without an outcome; `MOST_PAYMENTS_COUNTED` means that many or more. */
  readonly pending: number;
  /** Settled and not yet final; counted up to the same limit. */
  readonly awaitingFinality: number;
  /** How long the oldest pending payment has been waiting, seconds; 0 if there is none. */
  readonly oldestPendingSeconds: number;
}

export async function paymentStanding(
  readStore: Pick<ReadStore, 'find' | 'count'>,
  now: Micros,
): Promise<PaymentStanding> {
  const having = (attention: PaymentAttention) =>
    readStore.count({ collection: PAYMENTS, equals: { attention }, limit: MOST_PAYMENTS_COUNTED });
  const [pending, awaitingFinality, [oldest]] = await Promise.all([
    having('outcome'),
    having('finality'),
    readStore.find<PaymentRecord>({
      collection: PAYMENTS,
      equals: { attention: 'outcome' },
      order: { field: 'submittedAt', direction: 'ascending' },
      limit: 1,
    }),
  ]);
  const submittedAt = oldest?.document.submittedAt ?? null;
  return {
    pending,
    awaitingFinality,
    oldestPendingSeconds: submittedAt === null ? 0 : Math.max(0, (now - toMicros(submittedAt)) / MICROS_PER_SECOND),
  };
}
