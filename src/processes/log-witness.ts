/**
 * What time it is, for what cannot be undone. A wall clock may be set far ahead, and nothing in the machine contradicts
 * it; so it is believed only as far as two others agree: the steady clock since this process began, and the times that
 * every node writes into the log.
 */
import { type Clock, MICROS_PER_SECOND, type Micros, toMicros } from '../runtime/instant.ts';
import type { EventLog, Position } from '../storage/event-log.ts';

interface Reading {
  readonly steady: Micros;
  /** The log's head then. */
  readonly head: Position | null;
  /** The earliest time in what was recorded since the reading before, less the steady clock; null where nothing was. */
  readonly ahead: Micros | null;
}

/** How long a reading counts. One node with a right clock that writes once in this time bounds all others. */
const SPAN: Micros = 2 * 3_600 * MICROS_PER_SECOND;

export class LogWitness {
  readonly #log: Pick<EventLog, 'head' | 'readAll'>;
  readonly #clock: Clock;
  readonly #steady: Clock;
  /** By how much the wall clock was ahead of the steady one when this process began. */
  readonly #ahead: Micros;
  #readings: readonly Reading[] = [];

  constructor(log: Pick<EventLog, 'head' | 'readAll'>, clock: Clock, steady: Clock) {
    this.#log = log;
    this.#clock = clock;
    this.#steady = steady;
    this.#ahead = clock.now() - steady.now();
  }

  /** Reads what has been recorded since the last look, one batch of it at most. To be called again and again. */
  async look(): Promise<void> {
    const last = this.#readings.at(-1);
    const head = await this.#log.head();
    const ahead = last && head !== last.head ? await this.#aheadAfter(last.head) : null;
    const steady = this.#steady.now();
    const all = [...this.#readings, { steady, head, ahead }];
    const old = all.filter((reading) => reading.steady < steady - SPAN);
    // Of what is older, the newest of each kind: an idle log still says something.
    const kept = new Set([old.at(-1), old.findLast((reading) => reading.ahead !== null)]);
    this.#readings = all.filter((reading) => kept.has(reading) || !old.includes(reading));
  }

  /** The latest time that it can be; null until this process has seen an event being recorded. */
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
   * The position up to which the log is at least this old, independent of any wall clock; null where none is known.
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
