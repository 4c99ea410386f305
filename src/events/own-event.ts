/** Recognizes which events of a shared log this service has written, if their metadata does not say so. */
import { CONTENT_EVENTS } from './content.ts';
import { DELIVERY_EVENTS } from './delivery.ts';
import { DOCKET_EVENTS } from './docket.ts';
import { FORGET_EVENTS, FORGET_STREAM } from './forget.ts';
import { LOG_HEAD_EVENTS, LOG_HEAD_STREAM } from './log-head.ts';
import { LOG_IDENTITY_EVENTS, LOG_IDENTITY_STREAM } from './log-identity.ts';
import { OPERATOR_EVENTS } from './operator.ts';
import { PAYMENT_EVENTS } from './payment.ts';
import { MASTER_KEY_STREAM, SIGNING_KEY_EVENTS } from './signing-key.ts';
import { SOURCE_EVENTS } from './source.ts';

/** Each family of events with the names of the streams that contain it. */
const FAMILIES: readonly [events: readonly { readonly type: string }[], streams: RegExp][] = [
  [PAYMENT_EVENTS, /^payment-(?:id-)?[0-9a-f]{64}$/],
  [DELIVERY_EVENTS, /^delivery-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/],
  [SIGNING_KEY_EVENTS, new RegExp(`^(?:wallet-[1-9A-HJ-NP-Za-km-z]{32,44}|${MASTER_KEY_STREAM})$`)],
  [DOCKET_EVENTS, /^docket-./],
  [CONTENT_EVENTS, /^content-[0-9a-f]{64}$/],
  [OPERATOR_EVENTS, /^operator-./],
  [SOURCE_EVENTS, /^source-./],
  [FORGET_EVENTS, new RegExp(`^${FORGET_STREAM}$`)],
  [LOG_HEAD_EVENTS, new RegExp(`^${LOG_HEAD_STREAM}$`)],
  [LOG_IDENTITY_EVENTS, new RegExp(`^${LOG_IDENTITY_STREAM}$`)],
];

const STREAMS_OF: ReadonlyMap<string, RegExp> = new Map(
  FAMILIES.flatMap(([events, streams]) => events.map(({ type }) => [type, streams] as const)),
);

/**
 * Whether only this service uses this event name in such a stream. Another program may write an event `PaymentSettled`
 * to a stream `payment-17`, but not to a stream named after the hash of a transaction.
 */
export const isOwnEvent = (stream: string, type: string): boolean => STREAMS_OF.get(type)?.test(stream) ?? false;
