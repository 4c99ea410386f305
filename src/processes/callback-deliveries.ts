/**
 * The process manager of callbacks (`callbacks.md`, The process): reacts to deliveries as they are scheduled, keeps
 * their times, and lets as many attempts run as their receivers and wallets may have. It keeps nothing that could be
 * lost: what is due stands in the log and its read model, and who makes an attempt is decided by the log.
 */
import { from, merge, mergeMap, Subject, timer } from 'rxjs';
import { exhaustMap, filter, map, repeat, retry, takeUntil } from 'rxjs/operators';
import { DeliveryRedeliveryRequested, DeliveryScheduled, deliveryOf } from '../events/delivery.ts';
import { MICROS_PER_MS, type Micros, toMicros } from '../instant.ts';
import { partitionOf } from '../projections/deliveries.ts';
import type { RecordedEvent } from '../storage/event-log.ts';
import type { ReadStore } from '../storage/read-store.ts';
import { StorageFailure } from '../storage/storage-failure.ts';
import { type AttemptPorts, attendDelivery } from './callback-attempt.ts';
import { createPartitions } from './callback-partitions.ts';
import { CallbackQueue, type DueDelivery, isOverdue, QUEUE_LIMITS, type QueueLimits } from './callback-queue.ts';
import { CallbackScan, HORIZON } from './callback-scan.ts';

export interface CallbackDeliveryOptions extends AttemptPorts {
  readonly readStore: ReadStore;
  readonly limits?: QueueLimits;
  /** Milliseconds; what is left out is as in production. */
  readonly pace?: {
    /** Between two looks at the wall clock and at the read model. */
    readonly rearmMs?: number;
    /** Between two looks while not everything found its place in memory. */
    readonly rescanMs?: number;
    /** Between the starts of two attempts that are long overdue. */
    readonly spreadMs?: number;
    /** How long attempts under way may take at a stop before they are interrupted. */
    readonly drainMs?: number;
    readonly leaseMs?: number;
  };
}

export interface CallbackDeliveries {
  start(): void;
  /** Begins nothing more, waits for what is under way (10 s at most), records the rest as interrupted. */
  stop(): Promise<void>;
  /** Attempts under way, and deliveries that wait in memory. */
  load(): { readonly running: number; readonly waiting: number };
}

/** Timers are set anew at least so often, so that a change of the wall clock or a long sleep is seen. */
const REARM_MS = 15_000;
const RESCAN_MS = 500;
/** After a long stop overdue attempts begin one after the other: a lone one at once. */
const SPREAD_MS = 10;
const DRAIN_MS = 10_000;
/** A delivery whose attendance failed is attended again: soon where the storage failed, else it fails by itself. */
const STORAGE_AGAIN: Micros = 5_000 * MICROS_PER_MS;
const FAILED_AGAIN: Micros = 60_000 * MICROS_PER_MS;
const RESUBSCRIBE_MS = 500;
const LOOK_AFTER_TAKING_MS = [1_000, 4_000];
/** How long after it was attended the read model may show a delivery as it was before; and of how many it is known. */
const LONGEST_LAG: Micros = 60_000 * MICROS_PER_MS;
const MOST_REMEMBERED = 20_000;

/** Makes the process; `start` begins it. */
export function createCallbackDeliveries(options: CallbackDeliveryOptions): CallbackDeliveries {
  return new Deliveries(options);
}

interface Attended {
  readonly at: Micros;
  /** When something is due next; null for nothing. */
  readonly next: Micros | null;
}

class Deliveries implements CallbackDeliveries {
  readonly #options: CallbackDeliveryOptions;
  readonly #pace: Required<NonNullable<CallbackDeliveryOptions['pace']>>;
  readonly #queue: CallbackQueue;
  readonly #scan: CallbackScan;
  readonly #partitions;
  readonly #stopping = new AbortController();
  /** Ends the attempts that are still under way when the time of a stop is over. */
  readonly #interrupting = new AbortController();
  readonly #looks = new Subject<void>();
  readonly #attending = new Set<Promise<void>>();
  /** What was attended lately: the read model may still show what was before. */
  readonly #attended = new Map<string, Attended>();
  /** What became due of deliveries while they were attended. */
  readonly #meanwhile = new Map<string, Micros>();
  #lookAgain = false;
  #sharing: Promise<void> = Promise.resolve();
  #wake: NodeJS.Timeout | null = null;
  #nextOverdueAt: Micros = 0;

  constructor(options: CallbackDeliveryOptions) {
    const { limits = QUEUE_LIMITS, pace = {}, readStore } = options;
    this.#options = options;
    this.#pace = {
      rearmMs: REARM_MS,
      rescanMs: RESCAN_MS,
      spreadMs: SPREAD_MS,
      drainMs: DRAIN_MS,
      leaseMs: REARM_MS,
      ...pace,
    };
    this.#queue = new CallbackQueue(limits);
    this.#scan = new CallbackScan(readStore);
    this.#partitions = createPartitions({ ...options, leaseMs: this.#pace.leaseMs });
  }

  start(): void {
    const stopped = new Subject<void>();
    this.#stopping.signal.addEventListener('abort', () => stopped.next());
    const fresh = this.#fresh().pipe(map((due) => this.#take(due)));
    const found = merge(timer(0, this.#pace.rearmMs), this.#looks).pipe(exhaustMap(() => this.#look()));
    merge(fresh, found)
      .pipe(takeUntil(stopped))
      .subscribe(() => this.#pump());
    this.#sharing = this.#partitions.run(this.#stopping.signal, (taken, lost) => {
      for (const partition of lost) this.#scan.forget(partition);
      if (lost.length > 0) this.#queue.retain(({ partition }) => this.#partitions.holds(partition));
      if (taken.length === 0) return;
      this.#lookAgain = true;
      this.#looks.next();
      // What was scheduled just before may not be in the read model yet.
      for (const delayMs of LOOK_AFTER_TAKING_MS) setTimeout(() => this.#looks.next(), delayMs).unref();
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    if (this.#wake) clearTimeout(this.#wake);
    const late = setTimeout(() => this.#interrupting.abort(), this.#pace.drainMs);
    while (this.#attending.size > 0) await Promise.all(this.#attending);
    clearTimeout(late);
    await this.#sharing;
  }

  load(): { readonly running: number; readonly waiting: number } {
    return { running: this.#queue.running, waiting: this.#queue.size };
  }

  /** Deliveries of our partitions from the moment that they are in the log, long before any read model has them. */
  #fresh() {
    const { log, logger } = this.#options;
    const { signal } = this.#stopping;
    const types = [DeliveryScheduled.type, DeliveryRedeliveryRequested.type];
    const follow = async function* () {
      // What was there before is the scan's to find.
      yield* log.subscribe(await log.head(), { by: 'types', types }, signal);
    };
    return from([null]).pipe(
      mergeMap(() => from(follow())),
      retry({
        delay: (error) => {
          logger.warn({ err: error }, 'new callbacks cannot be followed; it is tried again');
          return timer(RESUBSCRIBE_MS);
        },
      }),
      repeat({ delay: RESUBSCRIBE_MS }),
      mergeMap(({ events }) => from(events)),
      map(dueOf),
      filter((due) => due !== null),
      filter(({ partition }) => this.#partitions.holds(partition)),
    );
  }

  /** One that is attended just now may have been read before this was asked for. */
  #take(due: DueDelivery): void {
    if (this.#queue.isRunning(due.deliveryId)) this.#meanwhile.set(due.deliveryId, due.dueAt);
    else this.#queue.add(due);
  }

  async #look(): Promise<void> {
    const { clock, logger } = this.#options;
    try {
      do {
        this.#lookAgain = false;
        const now = clock.now();
        const { unfinished } = await this.#scan.look(this.#partitions.held(), now, (due) => this.#offer(due, now));
        if (unfinished) setTimeout(() => this.#looks.next(), this.#pace.rescanMs).unref();
      } while (this.#lookAgain && !this.#stopping.signal.aborted);
    } catch (error) {
      logger.warn({ err: error }, 'due callbacks could not be looked up; it is tried again');
    }
  }

  /** Takes in what the read model shows, unless it is known to lag. @returns whether there was room */
  #offer(shown: DueDelivery, now: Micros): boolean {
    if (this.#queue.has(shown.deliveryId)) return true;
    let due = shown;
    const attended = this.#attended.get(shown.deliveryId);
    if (attended && shown.dueAt <= attended.at && now - attended.at < LONGEST_LAG) {
      // It shows what was due before we attended to it.
      if (attended.next === null) return true;
      due = { ...shown, dueAt: attended.next };
    }
    if (!isOverdue(due, now)) return this.#queue.add(due);
    const at = Math.max(now, this.#nextOverdueAt);
    if (!this.#queue.add({ ...due, dueAt: at })) return false;
    this.#nextOverdueAt = at + this.#pace.spreadMs * MICROS_PER_MS;
    return true;
  }

  /** Starts what may start, and sets the timer for what comes next. */
  #pump(): void {
    if (this.#stopping.signal.aborted) return;
    const { clock } = this.#options;
    for (let due = this.#queue.take(clock.now()); due; due = this.#queue.take(clock.now())) {
      const attending: Promise<void> = this.#attend(due).finally(() => {
        this.#attending.delete(attending);
        this.#pump();
      });
      this.#attending.add(attending);
    }
    if (this.#wake) clearTimeout(this.#wake);
    const next = this.#queue.nextDueAt();
    if (next === null) return;
    const wait = Math.min(this.#pace.rearmMs, Math.max(0, Math.ceil((next - clock.now()) / MICROS_PER_MS)));
    this.#wake = setTimeout(() => this.#pump(), wait);
  }

  async #attend(due: DueDelivery): Promise<void> {
    const { clock, logger } = this.#options;
    let next: Micros | null;
    try {
      next = await attendDelivery(this.#options, due.deliveryId, this.#interrupting.signal);
    } catch (error) {
      logger.error({ err: error, deliveryId: due.deliveryId }, 'a delivery could not be attended; it is tried again');
      next = clock.now() + (error instanceof StorageFailure ? STORAGE_AGAIN : FAILED_AGAIN);
    }
    this.#queue.done(due.deliveryId);
    const asked = this.#meanwhile.get(due.deliveryId);
    this.#meanwhile.delete(due.deliveryId);
    if (asked !== undefined) next = Math.min(asked, next ?? asked);
    this.#remember(due.deliveryId, { at: clock.now(), next });
    if (next !== null && next <= clock.now() + HORIZON) this.#queue.add({ ...due, dueAt: next });
  }

  #remember(deliveryId: string, attended: Attended): void {
    this.#attended.delete(deliveryId);
    this.#attended.set(deliveryId, attended);
    if (this.#attended.size <= MOST_REMEMBERED) return;
    for (const [oldest] of this.#attended) {
      this.#attended.delete(oldest);
      return;
    }
  }
}

/** What an event of a new delivery, or of a redelivery, makes due; null for an event that is none of ours. */
function dueOf({ stream, data }: RecordedEvent): DueDelivery | null {
  const deliveryId = deliveryOf(stream);
  const { wallet, origin, createdAt, requestedAt } = data;
  const at = createdAt ?? requestedAt;
  if (deliveryId === null || typeof wallet !== 'string' || typeof origin !== 'string' || typeof at !== 'string') {
    return null;
  }
  return { deliveryId, wallet, origin, partition: partitionOf(wallet), dueAt: toMicros(at) };
}
