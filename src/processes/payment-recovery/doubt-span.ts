/**
 * How far back to look for payments that were given up. If the wall clock is set forward, payments given up within the
 * last hour look older. So the hour is measured by the steady clock, and the wall-clock time at its beginning is
 * remembered.
 */
import type { Clock, Micros } from '../../runtime/instant.ts';

interface Reading {
  readonly wall: Micros;
  readonly steady: Micros;
}

export class DoubtSpan {
  readonly #clock: Clock;
  readonly #steady: Clock;
  readonly #span: Micros;
  #readings: Reading[] = [];

  constructor(clock: Clock, steady: Clock, span: Micros) {
    this.#clock = clock;
    this.#steady = steady;
    this.#span = span;
  }

  /** The wall-clock time from which on given-up payments must be checked. Call it regularly. */
  from(): Micros {
    const now: Reading = { wall: this.#clock.now(), steady: this.#steady.now() };
    // Before the first reading the clock is assumed to have been correct.
    if (this.#readings.length === 0) this.#readings.push({ wall: now.wall - this.#span, steady: now.steady });
    this.#readings.push(now);
    this.#readings = this.#readings.filter(({ steady }) => steady >= now.steady - this.#span);
    return Math.min(now.wall - this.#span, ...this.#readings.map(({ wall }) => wall));
  }
}
