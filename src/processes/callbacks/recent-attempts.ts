/** Remembers recently processed deliveries: the read model is behind and may still show their earlier state. */
import type { Micros } from '../../runtime/instant.ts';
import type { Position } from '../../storage/event-log.ts';
import type { DueDelivery } from './queue.ts';

/** The number of remembered deliveries. A forgotten one is at worst processed once more, without effect. */
const MOST_REMEMBERED = 20_000;

export interface Remembered {
  /** When the delivery needs attention next; null if never. */
  readonly next: Micros | null;
  /** The log position up to which this is known. */
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

  /** What happened to a delivery after the state that is shown; null if that state is not known to be outdated. */
  after({ deliveryId, position }: Pick<DueDelivery, 'deliveryId' | 'position'>): Remembered | null {
    const attended = this.#recent.get(deliveryId);
    return attended && position < attended.position ? attended : null;
  }

  clear(): void {
    this.#recent.clear();
  }
}
