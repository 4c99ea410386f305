/** The wallet's keys and deliveries (docs/design/interface.md#2.6 and #2.7). */
import { z } from 'zod';
import { FailureClass } from '../../../events/failure-class.ts';
import { PARAMETERS } from '../../parameters/described-parameters.ts';
import { Meta, Timestamp } from './meta.ts';

const Moment = Timestamp.nullable();
const Wallet = z.string().describe('The paying wallet: Solana address, base58.');

export const KeysAnswer = z.object({
  meta: Meta,
  wallet: Wallet,
  current_key_id: z.string(),
  current_key_created_at: Timestamp,
  previous_key_id: z.string().nullable().describe('Set only during the 30 minutes after a rotation.'),
});

export const RotationAnswer = z.object({
  meta: Meta,
  wallet: Wallet,
  new_key_id: z.string(),
  new_key_secret: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('Returned only once. The HMAC key is this text itself, as UTF-8.'),
  new_key_secret_standard_webhooks: z
    .string()
    .regex(/^whsec_[A-Za-z0-9+/]+={0,2}$/)
    .describe('The same key in the form of Standard Webhooks libraries. Returned only once.'),
  new_key_created_at: Timestamp,
  previous_key_id: z.string().nullable(),
  previous_key_valid_until: Moment.describe('30 minutes after the rotation.'),
  sign_in_required: z
    .boolean()
    .describe('Whether the proof `sign-in-with-x` is demanded for later rotations and for the history of deliveries.'),
});

export const DeliveryAttempt = z.object({
  attempt: z.int().min(1).describe('1 to 7; an interrupted attempt is repeated under the same number.'),
  redelivery: z
    .boolean()
    .describe(
      'Whether an operator requested it. Redeliveries do not count among the seven and have their own numbers.',
    ),
  started_at: Timestamp,
  duration_ms: z.int().min(0).nullable(),
  response_code: z.int().nullable(),
  failure_class: FailureClass.nullable().describe('Null if the receiver acknowledged.'),
  hint: z.string().nullable(),
  signature_key_id: z.string().nullable(),
});

export const Delivery = z.object({
  delivery_id: z.uuid(),
  request_id: z.uuid(),
  case_id: z.string().nullable(),
  court_code: z.string().nullable(),
  callback_url: z.string().nullable().describe('Null once it is no longer stored.'),
  status: PARAMETERS.status.schema,
  attempts: z.int().min(0),
  created_at: Timestamp,
  first_attempt_at: Moment,
  last_attempt_at: Moment,
  next_attempt_at: Moment,
  last_response_code: z.int().nullable(),
  idempotency_key: z.uuid(),
  cancelled_at: Moment.describe('When we ended the delivery before its last attempt; its status is then `failed`.'),
  paused_since: Moment.describe(
    'Set while we have paused callbacks to this host: no attempt is made, and none is used up. `next_attempt_at` is when the next one was or will be due.',
  ),
  hint: z.string().nullable().describe('What a pause or our end of the delivery means.'),
  attempt_log: z.array(DeliveryAttempt),
});

export const DeliveriesAnswer = z.object({
  meta: Meta,
  wallet: Wallet,
  deliveries: z.array(Delivery).describe('Newest first.'),
  next_cursor: z.string().nullable().describe('Null on the last page.'),
});

export const CallbackEnvelope = z
  .object({
    payload: z.record(z.string(), z.unknown()).describe('The synchronous answer: the same JSON value, byte for byte.'),
    webhook: z.object({
      version: z.literal('2.0.0'),
      event_type: z.literal('case_query_complete'),
      date_created: Timestamp,
      deprecation_date: Moment,
      delivery_id: z.uuid(),
      idempotency_key: z.uuid(),
    }),
  })
  .describe('The body sent to `callback_url`, the same bytes on every attempt.');
