/** Content that an order to forget concerns, found by reading the log. */

import { decodeEvent } from '../../events/codec.ts';
import { type DeliveryEvent, deliveryStream } from '../../events/delivery.ts';
import { PaymentAuthorized, type PaymentEvent, QueryAnswered } from '../../events/payment.ts';
import { parseUrl } from '../../runtime/parse-url.ts';
import type { EventLog, Position, RecordedEvent } from '../../storage/event-log.ts';
import { resolveIntact } from '../../storage/intact-payloads.ts';
import type { BlobName, PayloadKind, PayloadStore } from '../../storage/payload-store.ts';

export interface ForgetPorts {
  readonly log: EventLog;
  readonly payloads: PayloadStore;
  /** Ends the search; the next run starts it again. */
  readonly signal?: AbortSignal | undefined;
}

/** What somebody pushed is removed as soon as it is applied, and no event names the pages of a look. */
export type ForgettableKind = Exclude<PayloadKind, 'pushed' | 'look'>;

/** One content that goes. */
export interface Forgettable {
  readonly name: BlobName;
  readonly kind: ForgettableKind;
  /** The event that names it. */
  readonly source: RecordedEvent;
  /** The filings that a docket's content holds. */
  readonly filingIds: readonly string[];
  /** What is left of its present bytes; null if they need not change. Absent: nothing is left. */
  readonly redact?: (bytes: Buffer) => Buffer | null;
}

export type Answered = Extract<PaymentEvent, { readonly type: 'QueryAnswered' }>['data'];
type Callback = Answered['callbacks'][number];

export const forgettable = (kind: ForgettableKind, name: BlobName, source: RecordedEvent): Forgettable => ({
  name,
  kind,
  source,
  filingIds: [],
});

/** Every answer that was sold up to a position; null: up to the end. */
export async function* answersIn(
  { log, signal }: Pick<ForgetPorts, 'log' | 'signal'>,
  upTo: Position | null,
): AsyncIterable<{ readonly source: RecordedEvent; readonly data: Answered }> {
  for await (const { events } of log.readAll(null, { by: 'types', types: [QueryAnswered.type] })) {
    signal?.throwIfAborted();
    for (const source of events) {
      if (upTo !== null && source.position > upTo) return;
      yield { source, data: answeredOf(source) };
    }
  }
}

const answeredOf = (source: RecordedEvent): Answered =>
  (decodeEvent(source) as Extract<PaymentEvent, { readonly type: 'QueryAnswered' }>).data;

type Scheduled = Extract<DeliveryEvent, { readonly type: 'DeliveryScheduled' }>['data'];

/** The event that scheduled a callback and the bytes that it sends; null if it is not scheduled or has none. */
export async function envelopeOf(
  log: EventLog,
  deliveryId: string,
): Promise<{ readonly source: RecordedEvent; readonly name: BlobName; readonly data: Scheduled } | null> {
  const [source] = await log.read(deliveryStream(deliveryId), { limit: 1 });
  if (!source) return null;
  const event = decodeEvent(source) as DeliveryEvent;
  if (event.type !== 'DeliveryScheduled' || event.data.envelope === null) return null;
  return { source, name: event.data.envelope, data: event.data };
}

/** The envelope first: a URL that is still there leads to it again after a kill. */
async function* contentsOfCallback(
  log: EventLog,
  source: RecordedEvent,
  callback: Callback,
): AsyncIterable<Forgettable> {
  const envelope = await envelopeOf(log, callback.deliveryId);
  if (envelope) yield forgettable('envelope', envelope.name, envelope.source);
  yield forgettable('target', callback.target, source);
  if (envelope) return;
  // It may have been scheduled before its URL went. Afterwards, who schedules it sees the record that the URL is gone.
  const late = await envelopeOf(log, callback.deliveryId);
  if (late) yield forgettable('envelope', late.name, late.source);
}

/** Whether two URLs are one, e.g. with and without the port that is the default. */
export const isSameUrl = (one: string, other: string): boolean =>
  one === other || (parseUrl(one)?.href ?? one) === (parseUrl(other)?.href ?? other);

/** What was to be sent to a URL. */
export async function* contentsOfUrl(
  { log, payloads, signal }: ForgetPorts,
  { url, origin }: { readonly url: string; readonly origin: string },
  upTo: Position | null,
): AsyncIterable<Forgettable> {
  for await (const { source, data } of answersIn({ log, signal }, upTo)) {
    const alike = data.callbacks.filter((callback) => callback.origin === origin);
    if (alike.length === 0) continue;
    const { found } = await resolveIntact(
      payloads,
      alike.map(({ target }) => target),
    );
    for (const callback of alike) {
      const stored = found.get(callback.target)?.content.toString();
      if (stored !== undefined && isSameUrl(stored, url)) yield* contentsOfCallback(log, source, callback);
    }
  }
}

/** The answers that a wallet bought, and where they were to be sent. */
export async function* contentsOfWallet(
  { log, signal }: ForgetPorts,
  wallet: string,
  upTo: Position | null,
): AsyncIterable<Forgettable> {
  const types = [PaymentAuthorized.type];
  const seen = new Set<string>();
  for await (const { events } of log.readAll(null, { by: 'types', types })) {
    signal?.throwIfAborted();
    for (const authorized of events) {
      if (upTo !== null && authorized.position > upTo) return;
      if (authorized.data.wallet !== wallet || seen.has(authorized.stream)) continue;
      seen.add(authorized.stream);
      for (const source of await log.read(authorized.stream)) {
        if (source.type !== QueryAnswered.type) continue;
        const { answer, callbacks } = answeredOf(source);
        if (answer !== null) yield forgettable('answer', answer, source);
        for (const callback of callbacks) yield* contentsOfCallback(log, source, callback);
      }
    }
  }
}
