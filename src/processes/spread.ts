/** Spreads what is due all at once: a lone one may start now, the others one after the other. */
import type { Clock, Micros } from '../instant.ts';

export class Spread {
  readonly #steady: Clock;
  readonly #every: Micros;
  #next: Micros;

  /**
   * @param steady a clock that is never set
   * @param every between two that start
   */
  constructor(steady: Clock, every: Micros) {
    this.#steady = steady;
    this.#every = every;
    this.#next = steady.now();
  }

  /** In how long the next one may start. */
  get wait(): Micros {
    return Math.max(0, this.#next - this.#steady.now());
  }

  /** The next one has its place. */
  take(): void {
    this.#next = Math.max(this.#next, this.#steady.now()) + this.#every;
  }

  /**
   * Frees the places where more are taken than there can be anybody for: those who had them are spread anew, or gone.
   * All but the next one: somebody may have started just now.
   */
  trim(waiting: number): void {
    if (this.wait > waiting * this.#every) this.#next = Math.min(this.#next, this.#steady.now() + this.#every);
  }

  /** Every place is free again. */
  reset(): void {
    this.#next = this.#steady.now();
  }
}
