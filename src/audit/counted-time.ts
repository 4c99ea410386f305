/**
 * How much time passed in a log without the gaps in which nothing was recorded, as one number that only grows: the
 * difference of two of its values needs no list of the gaps between them (docs/design/audit.md#time-limits).
 */
import type { JsonObject } from '../events/event.ts';
import { type Instant, type Micros, toMicros } from '../runtime/instant.ts';

export interface CountedTimeState extends JsonObject {
  /** Counted until `since`. */
  readonly base: Micros;
  readonly since: Instant | null;
  readonly newest: Instant | null;
  /** The newest time before the gap that `since` ended; null if there was none. */
  readonly gapFrom: Instant | null;
}

const NONE: CountedTimeState = { base: 0, since: null, newest: null, gapFrom: null };

export class CountedTime {
  readonly #longest: Micros;
  #state: CountedTimeState;

  /** @param longest a longer time without an event does not count */
  constructor(longest: Micros, state: CountedTimeState = NONE) {
    this.#longest = longest;
    this.#state = state;
  }

  /** The next event of the log. */
  note(at: Instant): void {
    const { since, newest, gapFrom, base } = this.#state;
    if (newest === null || since === null) this.#state = { ...NONE, since: at, newest: at };
    else if (gapFrom !== null && at < since && at > gapFrom && !this.#isGap(since, newest)) {
      // The clock that ended the gap was ahead.
      if (this.#isGap(gapFrom, at)) this.#state = { base, since: at, newest: at, gapFrom };
      else this.#state = { base, since: gapFrom, newest: at, gapFrom: null };
    } else if (at > newest) {
      if (this.#isGap(newest, at)) this.#state = { base: this.#total(newest), since: at, newest: at, gapFrom: newest };
      else this.#state = { base, since, newest: at, gapFrom };
    }
  }

  /** As if the next event were recorded at this time. */
  at(next: Instant): Micros {
    const { since, newest } = this.#state;
    if (newest === null || since === null) return 0;
    return this.#total(next <= newest || this.#isGap(newest, next) ? newest : next);
  }

  #total(until: Instant): Micros {
    const { base, since } = this.#state;
    return since === null ? base : base + toMicros(until) - toMicros(since);
  }

  /** Most events are of the minute of the one before, and there are millions. */
  #isGap(from: Instant, to: Instant): boolean {
    return from.slice(0, 16) !== to.slice(0, 16) && toMicros(to) - toMicros(from) > this.#longest;
  }

  toJson(): CountedTimeState {
    return this.#state;
  }
}
