/** Tracks how far a projection has come in this process, and wakes those who wait for a position. */
import type { Position } from '../storage/event-log.ts';

interface Waiter {
  readonly position: Position;
  readonly resolve: (reached: boolean) => void;
}

export class Progress {
  #position: Position | null = null;
  readonly #waiters = new Set<Waiter>();

  get position(): Position | null {
    return this.#position;
  }

  reached(position: Position): boolean {
    return this.#position !== null && this.#position >= position;
  }

  /** Everything up to this position is visible to readers; repeating work after a failure does not change that. */
  moveTo(position: Position): void {
    if (this.reached(position)) return;
    this.#position = position;
    for (const waiter of this.#waiters) {
      if (waiter.position <= position) waiter.resolve(true);
    }
  }

  /** The position is unknown until the next move, because another process may own the projection now. */
  forget(): void {
    this.#position = null;
    this.giveUp();
  }

  /** Ends every wait. */
  giveUp(): void {
    for (const waiter of this.#waiters) waiter.resolve(false);
  }

  /** Resolves with whether the position was reached within the timeout. */
  waitFor(position: Position, timeoutMs: number): Promise<boolean> {
    if (this.reached(position)) return Promise.resolve(true);
    return new Promise((settle) => {
      const waiter: Waiter = {
        position,
        resolve: (reached) => {
          clearTimeout(timer);
          this.#waiters.delete(waiter);
          settle(reached);
        },
      };
      const timer = setTimeout(() => waiter.resolve(false), timeoutMs);
      this.#waiters.add(waiter);
    });
  }
}
