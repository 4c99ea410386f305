/** Which streams may hold an event of a type. Finer than `own-event.ts`, which only recognizes this service's events. */
import { AliasClaimed } from '../../events/docket.ts';
import { isOwnEvent } from '../../events/own-event.ts';
import { PAYMENT_STREAM_EVENTS, PaymentIdClaimed } from '../../events/payment.ts';
import { MASTER_KEY_STREAM, MasterKeyIntroduced, WALLET_STREAM_EVENTS } from '../../events/signing-key.ts';

const PAYMENT_ID = /^payment-id-/;
const ALIAS = /^docket-alias-/;

const EXACT: ReadonlyMap<string, (stream: string) => boolean> = new Map([
  ...PAYMENT_STREAM_EVENTS.map(({ type }) => [type, (stream: string) => !PAYMENT_ID.test(stream)] as const),
  [PaymentIdClaimed.type, (stream: string) => PAYMENT_ID.test(stream)] as const,
  ...WALLET_STREAM_EVENTS.map(({ type }) => [type, (stream: string) => stream !== MASTER_KEY_STREAM] as const),
  [MasterKeyIntroduced.type, (stream: string) => stream === MASTER_KEY_STREAM] as const,
  [AliasClaimed.type, (stream: string) => ALIAS.test(stream)] as const,
]);

export const streamFits = (stream: string, type: string): boolean =>
  isOwnEvent(stream, type) && (EXACT.get(type)?.(stream) ?? true);
