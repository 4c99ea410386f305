/** What was attended lately: the read model lags, and may still show a delivery as it was before. */
import type { Micros } from '../../runtime/instant.ts';
import type { Position } from '../../storage/event-log.ts';
import type { DueDelivery } from './queue.ts';

/** Of how many it is known: the oldest are forgotten, and attended once more for nothing where the model lags far. */
const MOST_REMEMBERED = 20_000;

export interface Remembered {
  /** When something is due next; null for nothing. */
  readonly next: Micros | null;
  /** Up to where the log was known then. */
  readonly position: Position;
}

export class RecentAttempts {
  readonly #recent = new Map<string, Remembered>();

  remember(deliveryId: string, attended: Remembered): void {
    this.#recent.delete(deliveryId);
    this.#recent.set(deliveryId, attended);
    if (this.#recent.size <= MOST_REMEMBERED) return;
    for (const [oldest] of this.#recent) {
      this.#recent.delete(oldest);
      return;
    }
  }

  /** What became of a delivery since it was as it is shown; null where that is not known to be old. */
  after({ deliveryId, position }: Pick<DueDelivery, 'deliveryId' | 'position'>): Remembered | null {
    const attended = this.#recent.get(deliveryId);
    return attended && position < attended.position ? attended : null;
  }

  clear(): void {
    this.#recent.clear();
  }
}
