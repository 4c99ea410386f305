/**
 * The body that a receiver gets (docs/design/interface.md#2.8): serialized once, then signed and sent byte for byte at
 * every attempt.
 */
import type { Instant } from '../runtime/instant.ts';

/** The version of the shape (docs/design/interface.md#9.1), which is not the release. */
const WEBHOOK_VERSION = '2.0.0';

export interface EnvelopeFacts {
  /** Also the idempotency key. */
  readonly deliveryId: string;
  readonly createdAt: Instant;
}

/**
 * Wraps the answer's bytes unchanged. The ids are inside, because the specification's signature covers only the body.
 * @param payload JSON: the whole answer, or one result of a batch
 */
export function envelopeOf(payload: Buffer, { deliveryId, createdAt }: EnvelopeFacts): Buffer {
  const webhook = {
    version: WEBHOOK_VERSION,
    event_type: 'case_query_complete',
    date_created: createdAt,
    deprecation_date: null,
    delivery_id: deliveryId,
    idempotency_key: deliveryId,
  };
  return Buffer.concat([Buffer.from('{"payload":'), payload, Buffer.from(`,"webhook":${JSON.stringify(webhook)}}`)]);
}
