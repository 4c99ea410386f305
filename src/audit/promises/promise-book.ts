/**
 * Counts promised callbacks while it reads the log once. It remembers, in a file if they are many, only promises to which
 * something may still happen; the rare event about another one (a redelivery) is judged from that promise's streams.
 */

import { DELIVERY_EVENTS, type DeliveryEvent, deliveryOf, deliveryStream } from '../../events/delivery.ts';
import type { DomainEvent } from '../../events/event.ts';
import { hostSubject, operatorStream } from '../../events/operator.ts';
import { PAYMENT_STREAM_EVENTS, type PaymentEvent, paymentOf, paymentStream } from '../../events/payment.ts';
import type { Instant } from '../../runtime/instant.ts';
import { parseUrl } from '../../runtime/parse-url.ts';
import type { Position, RecordedEvent } from '../../storage/event-log.ts';
import { type OwnEvent, ownEvent, ownEvents } from '../export/own-events.ts';
import { isWithin } from '../export/table.ts';
import type { ReadableLog } from '../readable-log.ts';
import { type Counts, countsOf, NO_COUNTS, plusCounts } from './counts.ts';
import { type OwedCallback, OwedCallbacks } from './owed-callbacks.ts';
import { isHostAct, type Pause, Pauses } from './pauses.ts';
import { type CallbackPromise, isUnfinished, standingOf, withDelivery } from './promise.ts';
import { SpilledMap } from './spilled-map.ts';

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

/** A report of any size: close it. */
export interface PromiseReport {
  readonly total: Counts;
  readonly groupCount: number;
  /** By name; days and names sort as text. @param limit 0 for all */
  groups(limit?: number): Iterable<readonly [string, Counts]>;
  /** In the order in which they were promised. @param limit 0 for all */
  open(limit?: number): Iterable<CallbackPromise>;
  /** Whether attempts of the callback are paused, and by whom. */
  pauseOf(promise: CallbackPromise): Pause | null;
  close(): void;
}

/** @param mostInMemory how many promises, and how many groups, are held in memory */
export async function readPromises(
  log: ReadableLog,
  asked: PromisesAsked,
  mostInMemory?: number,
): Promise<PromiseReport> {
  const book = new PromiseBook(log, asked, mostInMemory);
  try {
    const prefixes = ['payment-', 'delivery-', operatorStream(hostSubject(''))];
    for await (const own of ownEvents(log, prefixes)) await book.apply(own);
    return book.report();
  } catch (error) {
    book.close();
    throw error;
  }
}

class PromiseBook {
  readonly #log: ReadableLog;
  readonly #asked: PromisesAsked;
  readonly #groups: SpilledMap<Counts>;
  readonly #unfinished: SpilledMap<CallbackPromise>;
  readonly #pauses = new Pauses();
  readonly #owed: OwedCallbacks;

  constructor(log: ReadableLog, asked: PromisesAsked, mostInMemory?: number) {
    this.#log = log;
    this.#asked = asked;
    this.#groups = new SpilledMap((name) => name, mostInMemory);
    // An acknowledged callback with a redelivery to come is unfinished, and not open: those come last.
    this.#unfinished = new SpilledMap(
      (_, promise) => `${standingOf(promise).state === 'open' ? 0 : 1} ${promise.promisedAt}`,
      mostInMemory,
    );
    this.#owed = new OwedCallbacks(log);
  }

  report(): PromiseReport {
    let total = NO_COUNTS;
    for (const [, counts] of this.#groups.entries()) total = plusCounts(total, counts);
    const [groups, unfinished, pauses] = [this.#groups, this.#unfinished, this.#pauses];
    return {
      total,
      groupCount: groups.count(),
      groups: (limit) => groups.entries(limit),
      *open(limit) {
        for (const [, promise] of unfinished.entries(limit)) {
          if (standingOf(promise).state !== 'open') return;
          yield promise;
        }
      },
      pauseOf: (promise) => pauses.of(promise),
      close: () => this.close(),
    };
  }

  close(): void {
    this.#groups.close();
    this.#unfinished.close();
  }

  async apply({ recorded, event }: OwnEvent): Promise<void> {
    if (isHostAct(event)) this.#pauses.apply(event, recorded.metadata.recordedAt);
    else if (isDeliveryEvent(event)) await this.#deliveryChanged(recorded, event);
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
