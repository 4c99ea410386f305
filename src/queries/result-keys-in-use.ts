/** Which master keys the secret ids of stored answers are derived from: from the log, so that it is never behind. */
import { decodeEvent } from '../events/codec.ts';
import { type PaymentEvent, QueryAnswered } from '../events/payment.ts';
import { type Micros, toInstant } from '../runtime/instant.ts';
import type { EventLog } from '../storage/event-log.ts';

/**
 * How many answers that are still kept open by an id of each version of the master key. It reads every answer that was
 * ever sold, so it is for an operator's command. Answers whose payment failed count too: that may still be corrected.
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
