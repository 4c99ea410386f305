/** Whether content that a callback was ended for, or scheduled without, was gone by record or past its time. */
import { ContentRedacted, contentStream } from '../../events/content.ts';
import { DeliveryScheduled } from '../../events/delivery.ts';
import { PaymentFailed, paymentStream, QueryAnswered } from '../../events/payment.ts';
import { type Instant, toMicros } from '../../runtime/instant.ts';
import { parsedJson } from '../../runtime/parsed-json.ts';
import type { Position } from '../../storage/event-log.ts';
import type { RawEventLog } from '../../storage/raw-events.ts';
import { KEPT_TO_WITHIN } from '../rules/limits.ts';
import { namesCommand } from './stored-json.ts';

type Log = Pick<RawEventLog, 'find'>;

/** The event that says so, in the stream of a delivery. */
export interface Withdrawal {
  readonly stream: string;
  readonly revision: number;
  readonly position: Position;
  readonly recordedAt: Instant;
}

interface Needed {
  readonly names: readonly string[];
  readonly keepUntil: Instant;
}

/** What is found instead; null if it was withdrawn by record, or if other rules say why it cannot be known. */
export async function withdrawalFault(log: Log, withdrawal: Withdrawal): Promise<string | null> {
  const event = await log.find(withdrawal.stream, 0);
  const scheduled = event && DeliveryScheduled.schema.safeParse(parsedJson(event.data)).data;
  if (!scheduled) return null;
  const { envelope, target, keepUntil, payment, deliveryId } = scheduled;
  // A callback without an envelope was judged when it was scheduled.
  if (envelope === null && withdrawal.revision > 0) return null;
  const needed =
    envelope === null ? await answerOf(log, payment, deliveryId) : { names: [target, envelope], keepUntil };
  if (needed === null || toMicros(withdrawal.recordedAt) + KEPT_TO_WITHIN >= toMicros(needed.keepUntil)) return null;
  for (const name of needed.names) if (await isRemoved(log, name, withdrawal.position)) return null;
  return `no record before it, of ${needed.names.join(' or ')}`;
}

/** Null if an earlier version may have removed it without a record, or if no answer promised the callback. */
async function answerOf(log: Log, payment: string, deliveryId: string): Promise<Needed | null> {
  const stream = paymentStream(payment);
  let needed: Needed | null = null;
  for (let revision = 0; ; revision++) {
    const event = await log.find(stream, revision);
    if (event === null) return needed;
    if (event.type === PaymentFailed.type && !namesCommand(event.metadata)) return null;
    if (event.type !== QueryAnswered.type) continue;
    const { data } = QueryAnswered.schema.safeParse(parsedJson(event.data));
    const callback = data?.callbacks.find((one) => one.deliveryId === deliveryId);
    if (data?.answer && callback) needed = { names: [data.answer, callback.target], keepUntil: data.keepUntil };
  }
}

/** Each removal and each replacement is recorded before it is made. */
async function isRemoved(log: Log, name: string, before: Position): Promise<boolean> {
  for (let revision = 0; ; revision++) {
    const event = await log.find(contentStream(name), revision);
    if (event === null || event.position >= before) return false;
    if (event.type === ContentRedacted.type) return true;
  }
}
