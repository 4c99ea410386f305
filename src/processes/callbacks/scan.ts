/**
 * Finds in the read model what is due within the hour, partition by partition, a bounded part of it at a time: however
 * many deliveries are pending, memory and start stay the same.
 */
import { CLOCK_TOLERANCE } from '../../commands/delivery/wait.ts';
import { DELIVERY_TIMERS, type DeliveryTimer } from '../../projections/deliveries.ts';
import { MICROS_PER_SECOND, type Micros, toInstant, toMicros } from '../../runtime/instant.ts';
import type { ReadStore } from '../../storage/read-store.ts';
import type { DueDelivery } from './queue.ts';

/** Only what is due within this time is kept in memory. */
export const HORIZON: Micros = 3_600 * MICROS_PER_SECOND;

const PAGE = 250;
/** Most rows of one look: some tens of milliseconds. What is left is met by the next look. */
const ROWS_IN_A_LOOK = 4_000;

export interface Look {
  /** Something could not be taken in, or not everything was seen: look again soon. */
  readonly unfinished: boolean;
}

/** What a row of the read model offers. @returns whether there was room for it */
export type Offer = (due: DueDelivery) => boolean;

interface ScanPosition {
  readonly value: string;
  readonly id: string;
}

/** The field that a look goes along, and the part of it that it wants. */
interface Along {
  readonly field: 'dueAt' | 'since';
  readonly above?: string;
  readonly upTo?: string;
}

export class CallbackScan {
  readonly #readStore: Pick<ReadStore, 'find'>;
  /** Where the last look along a field of a partition stopped; absent where it came to the end. */
  readonly #stoppedAt = new Map<string, ScanPosition>();

  constructor(readStore: Pick<ReadStore, 'find'>) {
    this.#readStore = readStore;
  }

  /** Looks at these partitions, each from where the last look had to stop, the earliest due first. */
  look(partitions: readonly number[], now: Micros, offer: Offer): Promise<Look> {
    return this.#look(partitions, { field: 'dueAt', upTo: toInstant(now + HORIZON) }, offer);
  }

  /** The same for those that wait since what is the future now, by a clock that has since been set back. */
  lookForAhead(partitions: readonly number[], now: Micros, offer: Offer): Promise<Look> {
    return this.#look(partitions, { field: 'since', above: toInstant(now + CLOCK_TOLERANCE) }, offer);
  }

  /** Forgets where looks at a partition stopped. */
  forget(partition: number): void {
    for (const field of ['dueAt', 'since'] as const) this.#stoppedAt.delete(placeOf(field, partition));
  }

  async #look(partitions: readonly number[], along: Along, offer: Offer): Promise<Look> {
    let rows = ROWS_IN_A_LOOK;
    let unfinished = false;
    const share = Math.max(PAGE, Math.floor(ROWS_IN_A_LOOK / Math.max(1, partitions.length)));
    for (const partition of partitions) {
      const most = Math.min(share, Math.max(PAGE, rows));
      const seen = await this.#lookAt(partition, along, most, (due) => {
        const taken = offer(due);
        unfinished ||= !taken;
        return taken;
      });
      rows -= seen;
      unfinished ||= this.#stoppedAt.has(placeOf(along.field, partition));
    }
    return { unfinished };
  }

  async #lookAt(partition: number, { field, ...part }: Along, most: number, offer: Offer): Promise<number> {
    const place = placeOf(field, partition);
    let seen = 0;
    let after = this.#stoppedAt.get(place);
    while (seen < most) {
      const page = await this.#readStore.find<DeliveryTimer>({
        collection: DELIVERY_TIMERS,
        equals: { partition },
        range: { field, ...part, ...(after && fromPosition(part.above, after)) },
        order: { field, direction: 'ascending' },
        limit: PAGE,
        ...(after && { after }),
      });
      for (const { id, document, position } of page) {
        const { wallet, origin, dueAt } = document;
        offer({ deliveryId: id, wallet, origin, partition, dueAt: toMicros(dueAt), position });
      }
      seen += page.length;
      const last = page.at(-1);
      if (!last || page.length < PAGE) {
        this.#stoppedAt.delete(place);
        return seen;
      }
      after = { value: last.document[field], id: last.id };
      this.#stoppedAt.set(place, after);
    }
    return seen;
  }
}

const placeOf = (field: Along['field'], partition: number): string => `${field} ${partition}`;

/** The place is a bound too: an engine may see in a bound alone where to begin in its index. */
const fromPosition = (above: string | undefined, { value }: ScanPosition): { readonly from?: string } =>
  above !== undefined && above >= value ? {} : { from: value };
