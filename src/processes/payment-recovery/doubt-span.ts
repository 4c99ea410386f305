/**
 * How far back given-up payments are looked for. What was given up within an hour is, by a clock that was set forward
 * meanwhile, hours past: so an hour is what the steady clock says, and where it began by the wall clock is remembered.
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

  /** From when on, by the wall clock, given-up payments are to be looked at now. To be asked again and again. */
  from(): Micros {
    const now: Reading = { wall: this.#clock.now(), steady: this.#steady.now() };
    // Before the first reading the clock is taken to have been right.
    if (this.#readings.length === 0) this.#readings.push({ wall: now.wall - this.#span, steady: now.steady });
    this.#readings.push(now);
    this.#readings = this.#readings.filter(({ steady }) => steady >= now.steady - this.#span);
    return Math.min(now.wall - this.#span, ...this.#readings.map(({ wall }) => wall));
  }
}
