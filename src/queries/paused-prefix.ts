/**
 * Remembers how far the callbacks of a partition, by due time, belong to paused hosts only, so that a walk along due
 * times need not pass a million waiting callbacks each time. It is forgotten when a host is resumed, and after a while,
 * because a callback may be added before that place.
 */
import { type Clock, MICROS_PER_SECOND, type Micros, toInstant } from '../runtime/instant.ts';
import { steadyClock } from '../runtime/steady-clock.ts';

export interface TimerPlace {
  /** Its due time. */
  readonly value: string;
  readonly id: string;
}

/** What one walk finds. It ends with the next `forget`: a host was resumed, and the walk may have passed its callbacks. */
export interface PrefixWalk {
  /** The last callback that need not be looked at; undefined if the walk starts at the beginning. */
  readonly from: TimerPlace | undefined;
  readonly holds: boolean;
  /** Notes that everything up to this place belongs to paused hosts. */
  extend(place: TimerPlace, now: Micros): void;
}

const REMEMBERED_FOR: Micros = 600 * MICROS_PER_SECOND;
/** Callbacks due later than this before now are always looked at: others may still be added among them. */
const SETTLED_AFTER: Micros = 300 * MICROS_PER_SECOND;

export class PausedPrefix {
  readonly #steady: Clock;
  readonly #rememberedFor: Micros;
  readonly #places = new Map<number, TimerPlace & { readonly until: Micros }>();
  readonly #forgets = new Map<number, number>();
  #clears = 0;

  /**
   * @param steady a clock that is never adjusted
   * @param rememberedFor after this, everything is looked at again
   */
  constructor(steady: Clock = steadyClock, rememberedFor: Micros = REMEMBERED_FOR) {
    this.#steady = steady;
    this.#rememberedFor = rememberedFor;
  }

  /** Begins a walk along a partition. */
  walk(partition: number): PrefixWalk {
    const began = this.#forgotten(partition);
    const holds = () => this.#forgotten(partition) === began;
    return {
      from: this.#of(partition),
      get holds() {
        return holds();
      },
      extend: (place, now) => {
        if (holds()) this.#extend(partition, place, now);
      },
    };
  }

  forget(partition: number): void {
    this.#places.delete(partition);
    this.#forgets.set(partition, (this.#forgets.get(partition) ?? 0) + 1);
  }

  clear(): void {
    this.#places.clear();
    this.#clears++;
  }

  #of(partition: number): TimerPlace | undefined {
    const place = this.#places.get(partition);
    if (place && place.until > this.#steady.now()) return place;
    this.#places.delete(partition);
    return undefined;
  }

  #extend(partition: number, { value, id }: TimerPlace, now: Micros): void {
    if (value > toInstant(Math.max(0, now - SETTLED_AFTER))) return;
    const until = this.#places.get(partition)?.until ?? this.#steady.now() + this.#rememberedFor;
    this.#places.set(partition, { value, id, until });
  }

  #forgotten(partition: number): number {
    return this.#clears + (this.#forgets.get(partition) ?? 0);
  }
}
