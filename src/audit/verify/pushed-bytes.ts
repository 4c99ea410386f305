/** Whether a callback holds the bytes of the answer that promised it, as far as both are stored. */
import { paidAnswer } from '../../commands/delivery/owed.ts';
import type { DeliveryScheduled } from '../../events/delivery.ts';
import type { EventOf } from '../../events/event.ts';
import { paymentStream, QueryAnswered } from '../../events/payment.ts';
import { parsedJson } from '../../runtime/parsed-json.ts';
import { type BlobName, CorruptPayload, type PayloadStore } from '../../storage/payload-store.ts';
import type { RawEventLog } from '../../storage/raw-events.ts';

type Scheduled = EventOf<typeof DeliveryScheduled>['data'];

interface PromisedAnswer {
  readonly answer: BlobName;
  readonly result: number | null;
}

export interface PushedPorts {
  readonly log: Pick<RawEventLog, 'find'>;
  readonly payloads: Pick<PayloadStore, 'resolve'>;
}

/** What is pushed instead; null if it is the answer's bytes, or if one of both is not stored any more. */
export async function pushedFault(ports: PushedPorts, scheduled: Scheduled): Promise<string | null> {
  const { envelope, deliveryId } = scheduled;
  const promised = envelope === null ? null : await promiseOf(ports, scheduled);
  if (envelope === null || promised === null) return null;
  const contents = await contentsOf(ports, [promised.answer, envelope]);
  const [answer, pushed] = [contents?.get(promised.answer), contents?.get(envelope)];
  // What replaced an answer after its callback was scheduled is not what was answered.
  if (!answer || answer.replaced || !pushed || pushed.replaced) return null;
  const payload = payloadOf(answer.content, promised.result);
  if (payload === null) return 'bytes though the answer has none to push';
  return isEnvelopeOf(pushed.content, payload, deliveryId) ? null : 'other bytes';
}

/** Whether an envelope has this payload and these ids. What else it says differs between versions of the service. */
function isEnvelopeOf(envelope: Buffer, payload: Buffer, deliveryId: string): boolean {
  const head = Buffer.concat([Buffer.from('{"payload":'), payload, Buffer.from(',"webhook":')]);
  if (!envelope.subarray(0, head.length).equals(head)) return false;
  const webhook = parsedJson(envelope.subarray(head.length, -1).toString()) as
    | {
        readonly delivery_id?: unknown;
        readonly idempotency_key?: unknown;
      }
    | null
    | undefined;
  return webhook?.delivery_id === deliveryId && webhook.idempotency_key === deliveryId;
}

/** The answer that promised the callback; null if none did, which another rule finds. */
async function promiseOf({ log }: PushedPorts, { payment, deliveryId }: Scheduled): Promise<PromisedAnswer | null> {
  for (let revision = 0; ; revision++) {
    const event = await log.find(paymentStream(payment), revision);
    if (event === null) return null;
    if (event.type !== QueryAnswered.type) continue;
    const parsed = QueryAnswered.schema.safeParse(parsedJson(event.data));
    const callback = parsed.data?.callbacks.find((one) => one.deliveryId === deliveryId);
    if (parsed.data?.answer && callback) return { answer: parsed.data.answer, result: callback.result };
  }
}

/** Null if one of them is damaged, which another rule finds. */
async function contentsOf({ payloads }: PushedPorts, names: readonly BlobName[]) {
  try {
    return await payloads.resolve(names);
  } catch (error) {
    if (error instanceof CorruptPayload) return null;
    throw error;
  }
}

function payloadOf(answer: Buffer, result: number | null): Buffer | null {
  try {
    return paidAnswer(answer).pushed({ result })?.payload ?? null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
