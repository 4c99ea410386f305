/**
 * The process manager of callbacks (docs/design/callbacks.md#process). It reacts to scheduled deliveries, keeps their
 * due times and runs as many attempts as the limits of receivers and wallets allow. It holds no state that could be
 * lost: the log and its read model contain what is due, and the log decides which process makes an attempt.
 */
import { from, merge, mergeMap, Subject, timer } from 'rxjs';
import { exhaustMap, filter, map, repeat, retry, takeUntil } from 'rxjs/operators';
import { CLOCK_TOLERANCE } from '../../commands/delivery/wait.ts';
import { DeliveryRedeliveryRequested, DeliveryScheduled, deliveryOf } from '../../events/delivery.ts';
import { partitionOf } from '../../projections/deliveries.ts';
import { type Clock, MICROS_PER_MS, MICROS_PER_SECOND, type Micros, toMicros } from '../../runtime/instant.ts';
import { SetBackWatch, steadyClock } from '../../runtime/steady-clock.ts';
import type { Position, RecordedEvent } from '../../storage/event-log.ts';
import type { ReadStore } from '../../storage/read-store.ts';
import { StorageFailure } from '../../storage/storage-failure.ts';
import { Trouble } from '../../storage/trouble.ts';
import type { PausedHosts } from '../operator-acts.ts';
import { type AttemptPorts, attendDelivery } from './attempt.ts';
import { createPartitions } from './partitions.ts';
import { CallbackQueue, type DueDelivery, QUEUE_LIMITS, type QueueLimits } from './queue.ts';
import { RecentAttempts } from './recent-attempts.ts';
import { CallbackScan, HORIZON } from './scan.ts';
import { StartPacer } from './start-pacer.ts';

export interface CallbackDeliveryOptions extends Omit<AttemptPorts, 'isPaused'> {
  readonly readStore: ReadStore;
  /** Which hosts are paused; if omitted, none is. */
  readonly hosts?: PausedHosts;
  /** A clock that is never adjusted; the system's if omitted. */
  readonly steady?: Clock;
  readonly limits?: QueueLimits;
  /** Milliseconds; omitted values are the production ones. */
  readonly pace?: {
    /** Between two checks of the wall clock and the read model. */
    readonly rearmMs?: number;
    /** Between two checks while not everything fits into memory. */
    readonly rescanMs?: number;
    /** Between the starts of two attempts that are long overdue. */
    readonly spreadMs?: number;
    /** How long running attempts may continue during a stop before they are interrupted. */
    readonly drainMs?: number;
    readonly leaseMs?: number;
  };
}

export interface CallbackDeliveries {
  start(): void;
  /** Starts nothing more, waits for running attempts (at most 10 s) and records the rest as interrupted. */
  stop(): Promise<void>;
  /** Running attempts, and deliveries waiting in memory. */
  load(): { readonly running: number; readonly waiting: number };
}

/** Timers are reset at least this often, so that a change of the wall clock or a long sleep is noticed. */
const REARM_MS = 15_000;
const RESCAN_MS = 500;
/** After a long stop, overdue attempts start one after the other; a single one starts immediately. */
const SPREAD_MS = 10;
const DRAIN_MS = 10_000;
/** A delivery that could not be processed is retried: soon if the storage failed, later if the fault is its own. */
const STORAGE_AGAIN: Micros = 5_000 * MICROS_PER_MS;
const FAILED_AGAIN: Micros = 60_000 * MICROS_PER_MS;
const RESUBSCRIBE_MS = 500;
/** Delays after which the read model is checked again, because it may be this far behind the log. */
const LOOK_LATER_MS = [1_000, 4_000];

/** What was due before its host was resumed starts one after the other; this long, most of it has started. */
const RESUMED_FOR: Micros = 3_600_000 * MICROS_PER_MS;
/** While a scan passes over callbacks of paused hosts, it continues this many times sooner. */
const SOONER = 10;

const NONE_PAUSED: PausedHosts = { ready: Promise.resolve(), isPaused: () => false, onChange: () => undefined };

/** Creates the process manager; `start` starts it. */
export function createCallbackDeliveries(options: CallbackDeliveryOptions): CallbackDeliveries {
  return new Deliveries(options);
}

class Deliveries implements CallbackDeliveries {
  readonly #options: CallbackDeliveryOptions & AttemptPorts;
  readonly #hosts: PausedHosts;
  readonly #steady: Clock;
  /** Hosts that were resumed lately, and when, by the wall clock and the steady one. */
  readonly #resumed = new Map<string, { readonly at: Micros; readonly steadyAt: Micros }>();
  readonly #pace: Required<NonNullable<CallbackDeliveryOptions['pace']>>;
  readonly #queue: CallbackQueue;
  readonly #scan: CallbackScan;
  readonly #partitions;
  readonly #lookTrouble: Trouble;
  readonly #attendTrouble: Trouble;
  readonly #stopping = new AbortController();
  /** Aborts the attempts that are still running when the time for a stop is over. */
  readonly #interrupting = new AbortController();
  readonly #looks = new Subject<void>();
  readonly #attending = new Set<Promise<void>>();
  readonly #setBack: SetBackWatch;
  /** Deliveries processed recently: the read model may still show their earlier state. */
  readonly #recent = new RecentAttempts();
  /** Due times of deliveries that arrived while the delivery was being processed. */
  readonly #meanwhile = new Map<string, Micros>();
  #lookAgain = false;
  #sharing: Promise<void> = Promise.resolve();
  #wake: NodeJS.Timeout | null = null;

  constructor(options: CallbackDeliveryOptions) {
    const { limits = QUEUE_LIMITS, pace = {}, readStore, clock, steady = steadyClock, hosts = NONE_PAUSED } = options;
    const isPaused = (origin: string) => hosts.isPaused(origin);
    this.#options = { ...options, isPaused };
    this.#hosts = hosts;
    this.#steady = steady;
    this.#pace = {
      rearmMs: REARM_MS,
      rescanMs: RESCAN_MS,
      spreadMs: SPREAD_MS,
      drainMs: DRAIN_MS,
      leaseMs: REARM_MS,
      ...pace,
    };
    this.#queue = new CallbackQueue(new StartPacer(steady, this.#pace.spreadMs * MICROS_PER_MS), limits);
    this.#scan = new CallbackScan(readStore, isPaused, steady);
    this.#setBack = new SetBackWatch(clock, steady, CLOCK_TOLERANCE);
    this.#lookTrouble = new Trouble(options.logger, { process: 'callbacks', follows: 'read_store' });
    this.#attendTrouble = new Trouble(options.logger, { process: 'callbacks' });
    this.#partitions = createPartitions({ ...options, leaseMs: this.#pace.leaseMs });
  }

  start(): void {
    this.#hosts.onChange((origin, isPaused) => this.#hostChanged(origin, isPaused));
    // Until it is known which hosts are paused, nothing is attempted.
    void this.#hosts.ready.then(() => {
      if (!this.#stopping.signal.aborted) this.#begin();
    });
  }

  #begin(): void {
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
      this.#lookAnew();
    });
  }

  /** Memory holds nothing for a paused host; what waits for it is read again when it is resumed. */
  #hostChanged(origin: string, isPaused: boolean): void {
    if (isPaused) {
      this.#resumed.delete(origin);
      this.#queue.retain((due) => due.origin !== origin);
      return;
    }
    const now = this.#steady.now();
    for (const [resumed, { steadyAt }] of this.#resumed) {
      if (steadyAt + RESUMED_FOR < now) this.#resumed.delete(resumed);
    }
    this.#resumed.set(origin, { at: this.#options.clock.now(), steadyAt: now });
    for (const partition of this.#partitions.held()) this.#scan.forget(partition);
    this.#lookAnew();
  }

  /** Checks now and again soon: deliveries scheduled just before may not be in the read model yet. */
  #lookAnew(): void {
    this.#lookAgain = true;
    this.#looks.next();
    for (const delayMs of LOOK_LATER_MS) setTimeout(() => this.#looks.next(), delayMs).unref();
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

  /** Deliveries of our partitions as soon as they are in the log, before the read model shows them. */
  #fresh() {
    const { log, logger } = this.#options;
    const trouble = new Trouble(logger, { process: 'callbacks', follows: 'event_log' });
    const { signal } = this.#stopping;
    const types = [DeliveryScheduled.type, DeliveryRedeliveryRequested.type];
    // The scan finds what was there before. It may miss what arrives while the log cannot be followed.
    let reached: Position | null | undefined;
    const follow = async function* () {
      if (reached === undefined) reached = await log.head();
      for await (const batch of log.subscribe(reached, { by: 'types', types }, signal)) {
        reached = batch.position;
        trouble.recovered();
        yield batch;
      }
    };
    return from([null]).pipe(
      mergeMap(() => from(follow())),
      retry({
        delay: (error) => {
          trouble.failed(error, 'new callbacks cannot be followed; it is tried again');
          return timer(RESUBSCRIBE_MS);
        },
      }),
      repeat({ delay: RESUBSCRIBE_MS }),
      mergeMap(({ events }) => from(events)),
      map((event) => dueOf(event, this.#options.clock.now())),
      filter((due) => due !== null),
      filter(({ partition }) => this.#partitions.holds(partition)),
    );
  }

  /** A delivery that is being processed may have been read before this became due. */
  #take(due: DueDelivery): void {
    if (this.#hosts.isPaused(due.origin)) return;
    if (this.#queue.isRunning(due.deliveryId)) this.#meanwhile.set(due.deliveryId, due.dueAt);
    else this.#queue.add(due);
  }

  async #look(): Promise<void> {
    const { clock } = this.#options;
    try {
      do {
        this.#lookAgain = false;
        const now = clock.now();
        const held = this.#partitions.held();
        const ahead = await this.#scan.lookForAhead(held, now, (shown) => this.#hasten(shown));
        const due = await this.#scan.look(held, now, (shown) => this.#offer(shown));
        const soonMs = due.onlyPaused ? this.#pace.rescanMs / SOONER : this.#pace.rescanMs;
        if (due.unfinished || ahead.unfinished) setTimeout(() => this.#looks.next(), soonMs).unref();
      } while (this.#lookAgain && !this.#stopping.signal.aborted);
      this.#lookTrouble.recovered();
    } catch (error) {
      this.#lookTrouble.failed(error, 'due callbacks could not be looked up; it is tried again');
    }
  }

  /**
   * Brings forward a delivery whose wait was timed by a clock that has since been set back, even if it is already in
   * memory for its former time. It is then timed by the present clock. One after the other, because otherwise all would
   * become due at the same time.
   */
  #hasten(shown: DueDelivery): boolean {
    if (this.#recent.after(shown)) return this.#offer(shown);
    return this.#queue.addInTurn(shown, this.#options.clock.now());
  }

  /**
   * Accepts what the read model shows, unless the read model is known to be behind.
   * @returns whether there was room
   */
  #offer(shown: DueDelivery): boolean {
    const known = this.#queue.get(shown.deliveryId);
    if (known && shown.position <= known.position) return true;
    const attended = this.#recent.after(shown);
    if (attended && attended.next === null) return true;
    const due = { ...shown, dueAt: attended?.next ?? shown.dueAt };
    const now = this.#options.clock.now();
    return this.#isResumed(due, now) ? this.#queue.addInTurn(due, now) : this.#queue.add(due);
  }

  /** Whether a delivery has waited for its host to be resumed. So have others, and the receiver must not be flooded. */
  #isResumed({ origin, dueAt }: DueDelivery, now: Micros): boolean {
    const resumed = this.#resumed.get(origin);
    return resumed !== undefined && dueAt <= Math.min(resumed.at, now);
  }

  /**
   * Times in memory, including our own pauses, may come from a clock that has since been set back. They are dropped,
   * and what is due is read again.
   */
  #heedSetBack(): void {
    const back = this.#setBack.look();
    if (back === 0) return;
    this.#options.logger.warn(
      { backSeconds: Math.round(back / MICROS_PER_SECOND) },
      'the wall clock was set back: the waits of callbacks are timed again',
    );
    this.#queue.retain(() => false);
    this.#recent.clear();
    for (const partition of this.#partitions.held()) this.#scan.forget(partition);
    this.#lookAnew();
  }

  /** Starts what may start, and sets the timer for the next due time. */
  #pump(): void {
    if (this.#stopping.signal.aborted) return;
    this.#heedSetBack();
    const { clock } = this.#options;
    for (let due = this.#queue.take(clock.now()); due; due = this.#queue.take(clock.now())) {
      const attending: Promise<void> = this.#attend(due).finally(() => {
        this.#attending.delete(attending);
        this.#pump();
      });
      this.#attending.add(attending);
    }
    if (this.#wake) clearTimeout(this.#wake);
    const now = clock.now();
    const next = this.#queue.nextAt(now);
    if (next === null) return;
    const wait = Math.min(this.#pace.rearmMs, Math.max(0, Math.ceil((next - now) / MICROS_PER_MS)));
    this.#wake = setTimeout(() => this.#pump(), wait);
  }

  async #attend(due: DueDelivery): Promise<void> {
    const { clock, logger } = this.#options;
    let next: Micros | null;
    let position: Position | null = null;
    try {
      ({ next, position } = await attendDelivery(this.#options, due.deliveryId, this.#interrupting.signal));
      this.#attendTrouble.recovered();
    } catch (error) {
      const message = 'a delivery could not be attended; it is tried again';
      // In an outage every delivery fails; that is reported once, as a failure of the storage.
      if (error instanceof StorageFailure) this.#attendTrouble.failed(error, message);
      else logger.error({ err: error, deliveryId: due.deliveryId }, message);
      next = clock.now() + (error instanceof StorageFailure ? STORAGE_AGAIN : FAILED_AGAIN);
    }
    this.#queue.done(due.deliveryId);
    const asked = this.#meanwhile.get(due.deliveryId);
    this.#meanwhile.delete(due.deliveryId);
    if (asked !== undefined) next = Math.min(asked, next ?? asked);
    if (position !== null) this.#recent.remember(due.deliveryId, { next, position });
    if (next === null || next > clock.now() + HORIZON || this.#hosts.isPaused(due.origin)) return;
    this.#queue.add({ ...due, dueAt: next, position: position ?? due.position });
  }
}

/**
 * The due time that an event of a new delivery or redelivery sets; null for any other event. Malformed data is ignored
 * here; the projection halts at it and reports it.
 */
function dueOf({ stream, position, data }: RecordedEvent, now: Micros): DueDelivery | null {
  const deliveryId = deliveryOf(stream);
  const { wallet, origin, createdAt, requestedAt } = data;
  const at = createdAt ?? requestedAt;
  if (deliveryId === null || typeof wallet !== 'string' || typeof origin !== 'string' || typeof at !== 'string') {
    return null;
  }
  const dueAt = Math.min(toMicros(at), now);
  return Number.isNaN(dueAt) ? null : { deliveryId, wallet, origin, partition: partitionOf(wallet), dueAt, position };
}
