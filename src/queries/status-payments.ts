/** Payments that are not over, as an operator's overview shows them. */
import { PAYMENTS, type PaymentAttention, type PaymentRecord } from '../projections/payments.ts';
import { type Instant, MICROS_PER_SECOND, type Micros, toInstant } from '../runtime/instant.ts';
import type { FieldRange, ReadStore } from '../storage/read-store.ts';
import { MOST_COUNTED } from './callback-hosts.ts';

export interface PaymentStatus {
  /** Broadcast, without an outcome, while the caller waits; counted up to `MOST_COUNTED`, as the others are. */
  readonly inFlight: number;
  /** The same for more than 30 seconds: the caller got 202, and recovery looks for the outcome. */
  readonly pending: number;
  /** When the oldest of both was broadcast. */
  readonly oldestSubmittedAt: Instant | null;
  /** Confirmed and not final yet. */
  readonly confirming: number;
  /** Given up within the last hour: if the money still arrives, it is answered. */
  readonly inDoubt: number;
}

const IN_FLIGHT: Micros = 30 * MICROS_PER_SECOND;
const IN_DOUBT: Micros = 3_600 * MICROS_PER_SECOND;

type Store = Pick<ReadStore, 'find' | 'count'>;

export async function paymentStatus(readStore: Store, now: Micros): Promise<PaymentStatus> {
  const having = (attention: PaymentAttention, range?: FieldRange) =>
    readStore.count({ collection: PAYMENTS, equals: { attention }, ...(range && { range }), limit: MOST_COUNTED });
  const since = toInstant(now - IN_FLIGHT);
  const [inFlight, pending, oldest, confirming, inDoubt] = await Promise.all([
    having('outcome', { field: 'submittedAt', above: since }),
    having('outcome', { field: 'submittedAt', upTo: since }),
    readStore.find<PaymentRecord>({
      collection: PAYMENTS,
      equals: { attention: 'outcome' },
      order: { field: 'submittedAt', direction: 'ascending' },
      limit: 1,
    }),
    having('finality'),
    having('doubt', { field: 'outcomeAt', above: toInstant(now - IN_DOUBT) }),
  ]);
  return { inFlight, pending, oldestSubmittedAt: oldest[0]?.document.submittedAt ?? null, confirming, inDoubt };
}
