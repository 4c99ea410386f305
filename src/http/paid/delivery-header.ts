/**
 * `X-Service-Delivery`: what is pushed in addition to a paid answer, whose body must equal what is pushed
 * (docs/design/interface.md#4.1).
 */
import { firstAttemptBy, givesUpBy } from '../../commands/delivery/schedule.ts';
import type { Promised } from '../../commands/payment/answer.ts';
import { toInstant, toMicros } from '../../runtime/instant.ts';

export const DELIVERY_HEADER = 'x-service-delivery';

/**
 * The headers of an answer with callbacks; none without. An RFC 8941 dictionary: `id` for the whole answer, or `id-N` for
 * the result of a batch at index N, and the two times, which are the same for all.
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
