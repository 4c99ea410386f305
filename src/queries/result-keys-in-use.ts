/** Which master keys the secret ids of stored answers derive from. Read from the log, so it is never behind. */
import { decodeEvent } from '../events/codec.ts';
import { type PaymentEvent, QueryAnswered } from '../events/payment.ts';
import { type Micros, toInstant } from '../runtime/instant.ts';
import type { EventLog } from '../storage/event-log.ts';

/**
 * For each version of the master key, the number of stored answers whose id derives from it. Reads every answer that was
 * ever sold, so it is only for an operator's command. Failed payments count too, since they may still settle late.
 */
export async function resultsByMasterVersion(
  log: Pick<EventLog, 'readAll'>,
  now: Micros,
): Promise<ReadonlyMap<number, number>> {
  const results = new Map<number, number>();
  const present = toInstant(now);
  for await (const { events } of log.readAll(null, { by: 'types', types: [QueryAnswered.type] })) {
    for (const recorded of events) {
      const { data } = decodeEvent(recorded) as Extract<PaymentEvent, { readonly type: 'QueryAnswered' }>;
      if (data.resultKey === undefined || data.keepUntil <= present) continue;
      results.set(data.resultKey, (results.get(data.resultKey) ?? 0) + 1);
    }
  }
  return results;
}
