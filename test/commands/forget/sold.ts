/** Sales as a purchase records them: an answer, callbacks, and their scheduled deliveries. */
import { randomUUID } from 'node:crypto';
import { envelopeOf } from '../../../src/callbacks/envelope.ts';
import { type DeliveryFacts, delivery } from '../../../src/commands/delivery/delivery.ts';
import { handle } from '../../../src/commands/handle.ts';
import { originOf } from '../../../src/commands/payment/answer.ts';
import { deliveryStream } from '../../../src/events/delivery.ts';
import { PaymentAuthorized, paymentStream, QueryAnswered } from '../../../src/events/payment.ts';
import { type Clock, MICROS_PER_SECOND, toInstant } from '../../../src/runtime/instant.ts';
import { NO_STREAM } from '../../../src/storage/event-log.ts';
import { prepareAppend } from '../../../src/storage/prepare-append.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { contextOf } from '../../dockets/world.ts';
import { authorized } from '../payment/payment.fixtures.ts';

export const ADA = 'Fh3kL9mQ2rT5vX8yB1nC4wZ7pS6dG9jK2eR5tY8uA1xV';
export const BOB = 'Bob3L9mQ2rT5vX8yB1nC4wZ7pS6dG9jK2eR5tY8uA1xV';
export const HOOK = 'https://receiver.example/hook?token=s3cr3t-7d1f';

export interface Sale {
  readonly wallet?: string;
  readonly urls?: readonly string[];
  readonly isScheduled?: boolean;
  /** Each callback pushes one result, in their order. */
  readonly isBatch?: boolean;
  /** Streams of the dockets that it is about; absent, as in events of earlier versions. */
  readonly cases?: readonly string[];
  /** Of each callback, in their order. */
  readonly pushed?: readonly { readonly courtCode: string; readonly caseNumber: string }[];
}

const DAY = 86_400 * MICROS_PER_SECOND;

export async function sell(
  { log, payloads }: Pick<Storage, 'log' | 'payloads'>,
  clock: Clock,
  body: object | string,
  { wallet = ADA, urls = [HOOK], isScheduled = true, isBatch = false, cases, pushed = [] }: Sale = {},
) {
  const requestId = randomUUID();
  const bytes = Buffer.from(
    typeof body === 'string' ? body : JSON.stringify({ meta: { request_id: requestId }, ...body }),
  );
  const payment = randomUUID().replaceAll('-', '').repeat(2);
  const answer = await payloads.put('answer', bytes);
  const recordedAt = toInstant(clock.now());
  const keepUntil = toInstant(clock.now() + 30 * DAY);
  const callbacks = [];
  for (const [index, url] of urls.entries()) {
    const target = await payloads.put('target', Buffer.from(url));
    callbacks.push({ deliveryId: randomUUID(), target, origin: originOf(url), result: isBatch ? index : null });
  }
  const stream = paymentStream(payment);
  const events = [
    PaymentAuthorized.of({ ...authorized.data, requestId, wallet }),
    QueryAnswered.of({
      ...{ requestId, answer, keepUntil, answeredCases: 1, keyCall: null, callbacks },
      ...(cases ? { cases: [...cases] } : {}),
    }),
  ];
  await log.append(prepareAppend({ stream, head: NO_STREAM, events, context: contextOf(), recordedAt }));
  const deliveries: DeliveryFacts[] = [];
  for (const [index, { deliveryId, target, origin }] of (isScheduled ? callbacks : []).entries()) {
    const envelope = await payloads.put('envelope', envelopeOf(bytes, { deliveryId, createdAt: recordedAt }));
    const facts = {
      ...{ deliveryId, wallet, requestId, payment, caseId: null, courtCode: null, caseNumber: null, ...pushed[index] },
      ...{ target, origin, envelope, keepUntil: toInstant(clock.now() + 40 * DAY), createdAt: recordedAt },
    };
    await handle({ log, clock }, delivery, deliveryStream(deliveryId), { type: 'Schedule', facts }, contextOf());
    deliveries.push(facts);
  }
  return { requestId, payment, stream, answer, callbacks, deliveries };
}
