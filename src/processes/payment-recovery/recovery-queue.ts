/**
 * The payments that recovery has to check, by message hash, the oldest first. The read model shows where to look; what
 * it has not folded yet is found in the log.
 */
import { PaymentSubmitted, paymentOf } from '../../events/payment.ts';
import { PAYMENTS, type PaymentAttention, type PaymentRecord } from '../../projections/payments.ts';
import { MICROS_PER_SECOND, type Micros, toInstant } from '../../runtime/instant.ts';
import type { EventLog } from '../../storage/event-log.ts';
import type { FieldRange, ReadStore } from '../../storage/read-store.ts';

export interface RecoveryQueue {
  /** Payments that were submitted and have no outcome. */
  awaitingOutcome(): AsyncIterable<string>;
  /** Payments that settled long enough ago to be final by now. */
  awaitingFinality(now: Micros): AsyncIterable<string>;
  /** Payments given up since then, by the wall clock. */
  givenUpSince(from: Micros): AsyncIterable<string>;
}

/**
 * A cluster finalizes a block about 13 seconds after its confirmation, so an earlier check would have to be repeated.
 */
const FINALITY_AFTER: Micros = 15 * MICROS_PER_SECOND;
const PAGE = 200;

export function createRecoveryQueue({
  log,
  readStore,
}: {
  readonly log: EventLog;
  readonly readStore: ReadStore;
}): RecoveryQueue {
  return {
    async *awaitingOutcome() {
      const generation = await readStore.activeGeneration(PAYMENTS);
      const checkpoint = await readStore.checkpoint(PAYMENTS, generation);
      const seen = new Set<string>();
      for await (const hash of withAttention('outcome')) {
        seen.add(hash);
        yield hash;
      }
      for await (const { events } of log.readAll(checkpoint, { by: 'types', types: [PaymentSubmitted.type] })) {
        for (const { stream } of events) {
          const hash = paymentOf(stream);
          if (hash !== null && !seen.has(hash)) yield hash;
        }
      }
    },
    async *awaitingFinality(now) {
      yield* withAttention('finality', { field: 'outcomeAt', upTo: toInstant(now - FINALITY_AFTER) });
      // Settled at a time that is in the future since the clock was set back.
      yield* withAttention('finality', { field: 'outcomeAt', above: toInstant(now + FINALITY_AFTER) });
    },
    givenUpSince: (from) => withAttention('doubt', { field: 'outcomeAt', from: toInstant(from) }),
  };

  async function* withAttention(attention: PaymentAttention, range?: FieldRange): AsyncIterable<string> {
    const field = range ? 'outcomeAt' : 'submittedAt';
    let after: { value: string; id: string } | undefined;
    for (;;) {
      const page = await readStore.find<PaymentRecord>({
        collection: PAYMENTS,
        equals: { attention },
        order: { field, direction: 'ascending' },
        limit: PAGE,
        ...(range && { range }),
        ...(after && { after }),
      });
      for (const { id } of page) yield id;
      const last = page.at(-1);
      if (!last || page.length < PAGE) return;
      after = { value: last.document[field] ?? '', id: last.id };
    }
  }
}
