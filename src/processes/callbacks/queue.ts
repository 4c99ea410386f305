/**
 * Deliveries that are due soon, in memory, and which of them may start now. Running ones are limited in total, per
 * origin and per wallet, waiting ones in total and per origin, so that no slow receiver and no busy wallet delays others.
 */
import TinyQueue from 'tinyqueue';
import { MICROS_PER_MS, type Micros } from '../../runtime/instant.ts';
import type { Position } from '../../storage/event-log.ts';
import type { StartPacer } from './start-pacer.ts';

export interface DueDelivery {
  readonly deliveryId: string;
  readonly wallet: string;
  readonly origin: string;
  readonly partition: number;
  readonly dueAt: Micros;
  /** The position of the event that set its time. */
  readonly position: Position;
}

export interface QueueLimits {
  /** Maximum number running at once. */
  readonly total: number;
  readonly perOrigin: number;
  readonly perWallet: number;
  /** Maximum number waiting. */
  readonly waiting: number;
}

export const QUEUE_LIMITS: QueueLimits = { total: 256, perOrigin: 8, perWallet: 32, waiting: 50_000 };

/** However full the queue is, this many deliveries of an origin may wait. */
const LEAST_WAITING_PER_ORIGIN = 2;
/** The share of the free room that one origin may use. */
const SHARE_OF_ROOM = 1 / 4;

/** Deliveries of one wallet to one origin, in order of arrival. */
interface Lane {
  readonly wallet: string;
  readonly origin: string;
  readonly waiting: DueDelivery[];
}

export class CallbackQueue {
  readonly #pacer: StartPacer;
  readonly #limits: QueueLimits;
  /** Not yet due, as a heap by due time. */
  #later = new TinyQueue<DueDelivery>([], byTime);
  /** Overdue deliveries that start one after the other, independent of the wall clock. */
  readonly #line = new Map<string, DueDelivery>();
  readonly #lanes = new Map<string, Lane>();
  /** Lanes that may start something, each once; all other lanes are parked. */
  readonly #rotation: Lane[] = [];
  /** Lanes whose origin or wallet is at its limit, by that origin or wallet. */
  readonly #parked = new Map<string, Lane[]>();
  readonly #running = new Map<string, DueDelivery>();
  readonly #runningOf = new Map<string, number>();
  readonly #waitingOf = new Map<string, number>();
  /** By id: the current entry of each delivery in the heap, the line or its lane. Any other entry is outdated. */
  readonly #waiting = new Map<string, DueDelivery>();

  /** @param pacer paces deliveries that are due at the same time */
  constructor(pacer: StartPacer, limits: QueueLimits = QUEUE_LIMITS) {
    this.#pacer = pacer;
    this.#limits = limits;
  }

  /** How many deliveries wait. */
  get size(): number {
    return this.#waiting.size;
  }

  get running(): number {
    return this.#running.size;
  }

  /** The waiting or running entry of a delivery; an event at or before its position is already known. */
  get(deliveryId: string): DueDelivery | undefined {
    return this.#waiting.get(deliveryId) ?? this.#running.get(deliveryId);
  }

  isRunning(deliveryId: string): boolean {
    return this.#running.has(deliveryId);
  }

  /**
   * Adds a delivery that waits until its time. For one that is already waiting, the earlier time applies.
   * @returns false if there is no room; offer it again later
   */
  add(due: DueDelivery): boolean {
    if (this.#running.has(due.deliveryId)) return true;
    const waiting = this.#waiting.get(due.deliveryId);
    if (!waiting && !this.#makeRoom(due)) return false;
    if (!waiting || this.#line.has(due.deliveryId) || due.dueAt < waiting.dueAt) this.#wait(due);
    return true;
  }

  /**
   * Adds a delivery that starts at its turn, regardless of its time. One that is already due keeps its place.
   * @returns false if there is no room; offer it again later
   */
  addInTurn(due: DueDelivery, now: Micros): boolean {
    if (this.#running.has(due.deliveryId)) return true;
    const waiting = this.#waiting.get(due.deliveryId);
    if (!waiting && !this.#makeRoom(due)) return false;
    if (!waiting || (waiting.dueAt > now && !this.#line.has(due.deliveryId))) this.#waitInLine(due);
    return true;
  }

  /** The next delivery that is due and may run; it counts as running until `done`. Null if there is none now. */
  take(now: Micros): DueDelivery | null {
    for (let next = this.#later.peek(); next && next.dueAt <= now; next = this.#later.peek()) {
      this.#later.pop();
      if (this.#waiting.get(next.deliveryId) !== next) continue;
      if (isOverdue(next, now)) this.#waitInLine(next);
      else this.#enterLane(next);
    }
    this.#giveTurn();
    while (this.#running.size < this.#limits.total) {
      const lane = this.#rotation.shift();
      if (!lane) return null;
      const due = lane.waiting[0];
      if (!due) {
        this.#lanes.delete(laneKey(lane));
        continue;
      }
      if (this.#waiting.get(due.deliveryId) !== due) {
        lane.waiting.shift();
        this.#rotation.push(lane);
        continue;
      }
      if (this.#park(lane)) continue;
      lane.waiting.shift();
      this.#rotation.push(lane);
      this.#waiting.delete(due.deliveryId);
      count(this.#waitingOf, due.origin, -1);
      this.#running.set(due.deliveryId, due);
      count(this.#runningOf, originKey(due), 1);
      count(this.#runningOf, walletKey(due), 1);
      return due;
    }
    return null;
  }

  /** The delivery no longer runs. */
  done(deliveryId: string): void {
    const due = this.#running.get(deliveryId);
    if (!due) return;
    this.#running.delete(deliveryId);
    count(this.#runningOf, originKey(due), -1);
    count(this.#runningOf, walletKey(due), -1);
    this.#unpark(originKey(due));
    this.#unpark(walletKey(due));
  }

  /** When the next delivery becomes due or has its turn; null if none waits for either. */
  nextAt(now: Micros): Micros | null {
    const due = this.#later.peek()?.dueAt ?? null;
    if (this.#line.size === 0) return due;
    const turn = now + this.#pacer.wait;
    return due === null ? turn : Math.min(due, turn);
  }

  /** Drops waiting deliveries, except those that `keep` selects. */
  retain(keep: (due: DueDelivery) => boolean): void {
    const keptInLine = [...this.#line.values()].filter(keep);
    const kept = [...this.#waiting.values()].filter((due) => !this.#line.has(due.deliveryId) && keep(due));
    this.#later = new TinyQueue([], byTime);
    this.#line.clear();
    this.#lanes.clear();
    this.#rotation.length = 0;
    this.#parked.clear();
    this.#waiting.clear();
    this.#waitingOf.clear();
    for (const due of [...kept, ...keptInLine]) count(this.#waitingOf, due.origin, 1);
    for (const due of kept) this.#wait(due);
    for (const due of keptInLine) this.#waitInLine(due);
  }

  /** @returns false if there is no room */
  #makeRoom({ origin }: DueDelivery): boolean {
    const ofOrigin = this.#waitingOf.get(origin) ?? 0;
    const room = this.#limits.waiting - this.#waiting.size;
    if (room <= 0 || ofOrigin >= Math.max(LEAST_WAITING_PER_ORIGIN, room * SHARE_OF_ROOM)) return false;
    count(this.#waitingOf, origin, 1);
    return true;
  }

  #wait(due: DueDelivery): void {
    this.#line.delete(due.deliveryId);
    this.#waiting.set(due.deliveryId, due);
    this.#later.push(due);
  }

  #waitInLine(due: DueDelivery): void {
    this.#waiting.set(due.deliveryId, due);
    this.#line.set(due.deliveryId, due);
  }

  /** Moves the first of the line to its lane, if one may start now. */
  #giveTurn(): void {
    if (this.#line.size === 0 || this.#pacer.wait > 0) return;
    const [first] = this.#line.values();
    if (!first) return;
    this.#line.delete(first.deliveryId);
    this.#pacer.begin();
    this.#enterLane(first);
  }

  #enterLane(due: DueDelivery): void {
    const key = laneKey(due);
    let lane = this.#lanes.get(key);
    if (!lane) {
      lane = { wallet: due.wallet, origin: due.origin, waiting: [] };
      this.#lanes.set(key, lane);
      this.#rotation.push(lane);
    }
    lane.waiting.push(due);
  }

  /** Removes a lane from the rotation if it may not start anything now. */
  #park(lane: Lane): boolean {
    const [origin, wallet] = [originKey(lane), walletKey(lane)];
    const full = this.#isFull(origin) ? origin : this.#isFull(wallet) ? wallet : null;
    if (full === null) return false;
    const parked = this.#parked.get(full);
    if (parked) parked.push(lane);
    else this.#parked.set(full, [lane]);
    // The lane may have been unparked for room that it cannot use.
    this.#unpark(full === origin ? wallet : origin);
    return true;
  }

  /** Unparks one lane that waits for this origin or wallet, if there is room. */
  #unpark(key: string): void {
    const parked = this.#parked.get(key);
    if (!parked || this.#isFull(key)) return;
    const lane = parked.shift();
    if (lane) this.#rotation.push(lane);
    if (parked.length === 0) this.#parked.delete(key);
  }

  #isFull(key: string): boolean {
    const { perOrigin, perWallet } = this.#limits;
    return (this.#runningOf.get(key) ?? 0) >= (key.startsWith('origin ') ? perOrigin : perWallet);
  }
}

const byTime = (a: DueDelivery, b: DueDelivery): number => a.dueAt - b.dueAt;

type Owned = Pick<DueDelivery, 'wallet' | 'origin'>;
const originKey = ({ origin }: Owned): string => `origin ${origin}`;
const walletKey = ({ wallet }: Owned): string => `wallet ${wallet}`;
const laneKey = ({ wallet, origin }: Owned): string => `${wallet} ${origin}`;

function count(counts: Map<string, number>, key: string, change: number): void {
  const after = (counts.get(key) ?? 0) + change;
  if (after > 0) counts.set(key, after);
  else counts.delete(key);
}

/**
 * Whether a due time is so far in the past that the service was stopped or overloaded, or the wall clock set forward.
 * Then much else is due now too.
 */
const isOverdue = ({ dueAt }: DueDelivery, now: Micros): boolean => now - dueAt > 30_000 * MICROS_PER_MS;
