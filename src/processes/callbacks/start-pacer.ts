/** Paces deliveries that are due at the same time: a single one may start now, others one after the other. */
import type { Clock, Micros } from '../../runtime/instant.ts';

export class StartPacer {
  readonly #steady: Clock;
  readonly #every: Micros;
  #next: Micros;

  /**
   * @param steady a clock that is never adjusted
   * @param every the interval between two starts
   */
  constructor(steady: Clock, every: Micros) {
    this.#steady = steady;
    this.#every = every;
    this.#next = steady.now();
  }

  /** How long until the next one may start; 0 for now. */
  get wait(): Micros {
    return Math.max(0, this.#next - this.#steady.now());
  }

  /** Notes a start; the next one is delayed by the interval. */
  begin(): void {
    this.#next = this.#steady.now() + this.#every;
  }
}
