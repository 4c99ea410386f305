/**
 * Counts promised callbacks while it reads the log once. It remembers only promises to which something may still happen;
 * the rare event about another one (a redelivery, a payment that lands after all) is judged from that promise's streams.
 */

import { DELIVERY_EVENTS, type DeliveryEvent, deliveryOf, deliveryStream } from '../../events/delivery.ts';
import type { DomainEvent } from '../../events/event.ts';
import { PAYMENT_STREAM_EVENTS, type PaymentEvent, paymentOf, paymentStream } from '../../events/payment.ts';
import type { Instant } from '../../runtime/instant.ts';
import { parseUrl } from '../../runtime/parse-url.ts';
import type { Position, RecordedEvent } from '../../storage/event-log.ts';
import { type OwnEvent, ownEvent, ownEvents } from '../export/own-events.ts';
import { isWithin } from '../export/table.ts';
import type { ReadableLog } from '../readable-log.ts';
import { type Counts, countsOf, NO_COUNTS, plusCounts } from './counts.ts';
import { type OwedCallback, OwedCallbacks } from './owed-callbacks.ts';
import { type CallbackPromise, isUnfinished, standingOf, withDelivery } from './promise.ts';

export const GROUPINGS = {
  host: ({ origin }: CallbackPromise) => parseUrl(origin)?.host ?? 'unusable',
  wallet: ({ wallet }: CallbackPromise) => wallet,
  day: ({ promisedAt }: CallbackPromise) => promisedAt.slice(0, 10),
} as const;

export interface PromisesAsked {
  readonly by: keyof typeof GROUPINGS;
  /** When the promise was made; both ends are included. */
  readonly from: Instant | null;
  readonly to: Instant | null;
}

export interface PromiseReport {
  /** By the name of the group. */
  readonly groups: ReadonlyMap<string, Counts>;
  /** In the order in which they were promised. */
  readonly open: readonly CallbackPromise[];
}

export async function readPromises(log: ReadableLog, asked: PromisesAsked): Promise<PromiseReport> {
  const book = new PromiseBook(log, asked);
  for await (const own of ownEvents(log, ['payment-', 'delivery-'])) await book.apply(own);
  return book.report();
}

class PromiseBook {
  readonly #log: ReadableLog;
  readonly #asked: PromisesAsked;
  readonly #groups = new Map<string, Counts>();
  readonly #unfinished = new Map<string, CallbackPromise>();
  readonly #owed: OwedCallbacks;

  constructor(log: ReadableLog, asked: PromisesAsked) {
    this.#log = log;
    this.#asked = asked;
    this.#owed = new OwedCallbacks(log);
  }

  report(): PromiseReport {
    const open = [...this.#unfinished.values()].filter((promise) => standingOf(promise).state === 'open');
    return { groups: this.#groups, open };
  }

  async apply({ recorded, event }: OwnEvent): Promise<void> {
    if (isDeliveryEvent(event)) await this.#deliveryChanged(recorded, event);
    else if (isPaymentEvent(event) && paymentOf(recorded.stream) !== null) await this.#paymentChanged(recorded, event);
  }

  async #paymentChanged(recorded: RecordedEvent, event: PaymentEvent): Promise<void> {
    const { stream, position } = recorded;
    this.#owed.note(stream, event);
    const isSettlement = event.type === 'PaymentSettled' || event.type === 'PaymentSettledLate';
    if (!isSettlement && event.type !== 'PaymentRolledBack') return;
    if (isSettlement && event.data.owes === null) return;
    // A first settlement is `PaymentSettled`; any later one is not.
    const isFirst = event.type === 'PaymentSettled';
    for (const callback of await this.#owed.of(stream)) {
      const { deliveryId } = callback;
      const known = this.#unfinished.get(deliveryId);
      const before = known ?? (isFirst ? null : await this.#fromStreams(deliveryId, paymentOf(stream) ?? '', position));
      if (isSettlement) this.#change(before, before ? { ...before, rolledBack: false } : promised(callback, recorded));
      else if (before) this.#change(before, { ...before, rolledBack: true });
    }
  }

  async #deliveryChanged(recorded: RecordedEvent, event: DeliveryEvent): Promise<void> {
    const deliveryId = deliveryOf(recorded.stream);
    if (deliveryId === null) return;
    const before = this.#unfinished.get(deliveryId) ?? (await this.#finished(deliveryId, recorded, event));
    if (before) this.#change(before, withDelivery(before, event));
  }

  /** A finished promise that an event changes after all. Other events belong to promises that were not asked for. */
  async #finished(
    deliveryId: string,
    { position, metadata }: RecordedEvent,
    event: DeliveryEvent,
  ): Promise<CallbackPromise | null> {
    // Nothing is scheduled before it is promised.
    if (this.#asked.from !== null && metadata.recordedAt < this.#asked.from) return null;
    if (event.type === 'DeliveryScheduled') return this.#fromStreams(deliveryId, event.data.payment, position);
    if (event.type !== 'DeliveryRedeliveryRequested') return null;
    const [first] = await this.#log.read(deliveryStream(deliveryId), { limit: 1 });
    const scheduled = first && ownEvent(first)?.event;
    if (!scheduled || !isDeliveryEvent(scheduled) || scheduled.type !== 'DeliveryScheduled') return null;
    return this.#fromStreams(deliveryId, scheduled.data.payment, position);
  }

  /** The promise as it was just before a position; null if it was not made by then. */
  async #fromStreams(deliveryId: string, payment: string, before: Position): Promise<CallbackPromise | null> {
    let promise = null as CallbackPromise | null;
    const callback = (await this.#owed.of(paymentStream(payment))).find((owed) => owed.deliveryId === deliveryId);
    if (!callback) return null;
    for (const recorded of await this.#log.read(paymentStream(payment))) {
      if (recorded.position >= before) break;
      if (recorded.type === 'PaymentSettled' || recorded.type === 'PaymentSettledLate') {
        promise = { ...(promise ?? promised(callback, recorded)), rolledBack: false };
      } else if (recorded.type === 'PaymentRolledBack' && promise) promise = { ...promise, rolledBack: true };
    }
    if (!promise) return null;
    for (const recorded of await this.#log.read(deliveryStream(deliveryId))) {
      if (recorded.position >= before) break;
      const event = ownEvent(recorded)?.event;
      if (event && isDeliveryEvent(event)) promise = withDelivery(promise, event);
    }
    return promise;
  }

  #change(before: CallbackPromise | null, after: CallbackPromise): void {
    if (!isWithin(after.promisedAt, this.#asked)) return;
    const group = GROUPINGS[this.#asked.by](after);
    const counts = this.#groups.get(group) ?? NO_COUNTS;
    const without = before ? plusCounts(counts, countsOf(before), -1) : counts;
    this.#groups.set(group, plusCounts(without, countsOf(after)));
    if (isUnfinished(after)) this.#unfinished.set(after.deliveryId, after);
    else this.#unfinished.delete(after.deliveryId);
  }
}

const promised = (callback: OwedCallback, { stream, metadata }: RecordedEvent): CallbackPromise => ({
  ...callback,
  payment: paymentOf(stream) ?? '',
  promisedAt: metadata.recordedAt,
  rolledBack: false,
  delivery: { status: 'none' },
  attempts: 0,
  lastFailure: null,
});

const DELIVERY_TYPES: ReadonlySet<string> = new Set(DELIVERY_EVENTS.map(({ type }) => type));
const PAYMENT_TYPES: ReadonlySet<string> = new Set(PAYMENT_STREAM_EVENTS.map(({ type }) => type));
const isDeliveryEvent = (event: DomainEvent): event is DeliveryEvent => DELIVERY_TYPES.has(event.type);
const isPaymentEvent = (event: DomainEvent): event is PaymentEvent => PAYMENT_TYPES.has(event.type);
