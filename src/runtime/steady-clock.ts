/** Time that only goes on, whatever the wall clock is set to: for waits, and to notice that the wall clock was set back. */
import { type Clock, MICROS_PER_MS, type Micros } from './instant.ts';

/** Of use for differences alone. It stands still while the machine sleeps, which the wall clock does not. */
export const steadyClock: Clock = { now: () => performance.now() * MICROS_PER_MS };

/** Notices each time that the wall clock is set back, by how it stands to the one that only goes on. */
export class SetBackWatch {
  readonly #clock: Clock;
  readonly #steady: Clock;
  readonly #tolerance: Micros;
  /** By how much the wall clock was ahead of the steady one, at most, since it was last set back. */
  #ahead: Micros;

  /** @param tolerance by how much clocks may drift or be corrected without anything being made of it */
  constructor(clock: Clock, steady: Clock, tolerance: Micros) {
    this.#clock = clock;
    this.#steady = steady;
    this.#tolerance = tolerance;
    this.#ahead = clock.now() - steady.now();
  }

  /** By how much the wall clock was set back since this was last asked; 0 where it was not. */
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
