/**
 * A clock that is never set back, whatever happens to the wall clock: for waits, and to detect that the wall clock was
 * set back.
 */
import { type Clock, MICROS_PER_MS, type Micros } from './instant.ts';

/** Only for differences. It stops while the machine sleeps, which the wall clock does not. */
export const steadyClock: Clock = { now: () => performance.now() * MICROS_PER_MS };

/** Detects when the wall clock is set back, by comparing it with the steady clock. */
export class SetBackWatch {
  readonly #clock: Clock;
  readonly #steady: Clock;
  readonly #tolerance: Micros;
  /** The largest lead of the wall clock over the steady one since it was last set back. */
  #ahead: Micros;

  /** @param tolerance how much clocks may drift or be corrected without being noticed */
  constructor(clock: Clock, steady: Clock, tolerance: Micros) {
    this.#clock = clock;
    this.#steady = steady;
    this.#tolerance = tolerance;
    this.#ahead = clock.now() - steady.now();
  }

  /** By how much the wall clock was set back since the last call; 0 if it was not. */
  look(): Micros {
    const ahead = this.#clock.now() - this.#steady.now();
    const back = this.#ahead - ahead;
    if (back <= this.#tolerance) {
      this.#ahead = Math.max(this.#ahead, ahead);
      return 0;
    }
    this.#ahead = ahead;
    return back;
  }
}
