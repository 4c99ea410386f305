/**
 * A trustworthy time for irreversible actions. A wall clock may be set far ahead without anything on the machine
 * contradicting it. So it is trusted only as far as two other sources agree: the steady clock since this process
 * started, and the times that all nodes write into the log.
 */
import { type Clock, MICROS_PER_SECOND, type Micros, toMicros } from '../runtime/instant.ts';
import type { EventLog, Position } from '../storage/event-log.ts';

interface Reading {
  readonly steady: Micros;
  /** The log's head at that moment. */
  readonly head: Position | null;
  /** The earliest recorded time since the previous reading, minus the steady clock; null if nothing was recorded. */
  readonly ahead: Micros | null;
}

/** How long a reading counts. One node with a correct clock that writes once in this time limits all others. */
const SPAN: Micros = 2 * 3_600 * MICROS_PER_SECOND;

export class LogWitness {
  readonly #log: Pick<EventLog, 'head' | 'readAll'>;
  readonly #clock: Clock;
  readonly #steady: Clock;
  /** How far the wall clock was ahead of the steady clock when this process started. */
  readonly #ahead: Micros;
  #readings: readonly Reading[] = [];

  constructor(log: Pick<EventLog, 'head' | 'readAll'>, clock: Clock, steady: Clock) {
    this.#log = log;
    this.#clock = clock;
    this.#steady = steady;
    this.#ahead = clock.now() - steady.now();
  }

  /** Reads what was recorded since the last call, at most one batch. Call it regularly. */
  async look(): Promise<void> {
    const last = this.#readings.at(-1);
    const head = await this.#log.head();
    const ahead = last && head !== last.head ? await this.#aheadAfter(last.head) : null;
    const steady = this.#steady.now();
    const all = [...this.#readings, { steady, head, ahead }];
    const old = all.filter((reading) => reading.steady < steady - SPAN);
    // Of the older readings, keeps the newest of each kind, so that an idle log still has one.
    const kept = new Set([old.at(-1), old.findLast((reading) => reading.ahead !== null)]);
    this.#readings = all.filter((reading) => kept.has(reading) || !old.includes(reading));
  }

  /** The latest possible time; null until this process has seen a new event. */
  now(): Micros | null {
    const steady = this.#steady.now();
    const known = this.#readings.filter(({ ahead }) => ahead !== null);
    const recent = known.filter((reading) => reading.steady >= steady - SPAN);
    const counted = recent.length > 0 ? recent : known.slice(-1);
    const aheads = counted.flatMap(({ ahead }) => (ahead === null ? [] : [ahead]));
    if (aheads.length === 0) return null;
    return Math.min(this.#clock.now(), steady + Math.min(this.#ahead, ...aheads));
  }

  /**
   * The position up to which the log is certainly at least this old, independent of any wall clock; null if unknown.
   * @param age at most two hours
   */
  settledUpTo(age: Micros): Position | null {
    const before = this.#steady.now() - age;
    return this.#readings.findLast(({ steady }) => steady <= before)?.head ?? null;
  }

  async #aheadAfter(from: Position | null): Promise<Micros | null> {
    for await (const { events } of this.#log.readAll(from, { by: 'all' })) {
      const times = events.map(({ metadata }) => toMicros(metadata.recordedAt));
      if (times.length > 0) return Math.min(...times) - this.#steady.now();
    }
    return null;
  }
}
