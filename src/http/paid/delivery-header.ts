/**
 * `X-Service-Delivery`: delivery ids and times for a paid answer, in a header because the body must equal the pushed
 * body (docs/design/interface.md#4.1).
 */
import { firstAttemptBy, givesUpBy } from '../../commands/delivery/schedule.ts';
import type { Promised } from '../../commands/payment/answer.ts';
import { toInstant, toMicros } from '../../runtime/instant.ts';

export const DELIVERY_HEADER = 'x-service-delivery';

/**
 * The header of an answer with callbacks; empty without callbacks. An RFC 8941 dictionary: `id` for the whole answer,
 * or `id-N` for result N of a batch, and the two times, which are the same for all.
 */
export function deliveryHeaders({ deliveries, at }: Promised): Readonly<Record<string, string>> {
  if (deliveries.length === 0) return {};
  const promisedAt = toMicros(at);
  const ids = deliveries.map(({ id, result }) => `${result === null ? 'id' : `id-${result}`}="${id}"`);
  const times = [
    `first_attempt_by="${toInstant(firstAttemptBy(promisedAt))}"`,
    `gives_up_at="${toInstant(givesUpBy(promisedAt))}"`,
  ];
  return { [DELIVERY_HEADER]: [...ids, ...times].join(', ') };
}
