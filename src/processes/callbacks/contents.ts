/** What an attempt sends and where, or why there is nothing to send. */
import type { ReceivedOutcome, ScheduledDelivery } from '../../commands/delivery/delivery.ts';
import { resolveIntact } from '../../storage/intact-payloads.ts';
import type { PayloadStore } from '../../storage/payload-store.ts';

export type Contents =
  | { readonly url: string; readonly body: Buffer }
  /** The attempt's outcome; nothing is sent. */
  | { readonly unsent: ReceivedOutcome };

const unsent = (failureClass: 'content_withdrawn' | 'content_damaged'): Contents => ({
  unsent: { responseCode: null, failureClass, retryAfterSeconds: null, durationMs: 0 },
});

/** The URL and the bytes of a delivery, as stored when it was scheduled. */
export async function contentsOf(
  payloads: Pick<PayloadStore, 'resolve'>,
  { facts: { target, envelope } }: Pick<ScheduledDelivery, 'facts'>,
): Promise<Contents> {
  if (envelope === null) return unsent('content_withdrawn');
  const { found, damaged } = await resolveIntact(payloads, [target, envelope]);
  const [url, body] = [found.get(target), found.get(envelope)];
  if (url && body && !url.replaced && !body.replaced) return { url: url.content.toString(), body: body.content };
  // Withdrawn content is not restored. Damaged content may be restored by an operator while attempts continue.
  const isWithdrawn = [target, envelope].some((name) => !damaged.has(name) && found.get(name)?.replaced !== false);
  return unsent(isWithdrawn ? 'content_withdrawn' : 'content_damaged');
}
