/** Spreads what is due all at once: a lone one may start now, the others one after the other. */
import type { Clock, Micros } from '../../runtime/instant.ts';

export class StartPacer {
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

  /** In how long the next one may start; 0 for now. */
  get wait(): Micros {
    return Math.max(0, this.#next - this.#steady.now());
  }

  /** One starts now, and the next one a while later. */
  begin(): void {
    this.#next = this.#steady.now() + this.#every;
  }
}
