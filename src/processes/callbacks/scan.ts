/**
 * Reads what is due within the hour from the read model, partition by partition and a limited amount at a time, so that
 * memory and startup time do not depend on how many deliveries are pending. Those of paused hosts are passed over.
 */
import { CLOCK_TOLERANCE } from '../../commands/delivery/wait.ts';
import { DELIVERY_TIMERS, type DeliveryTimer } from '../../projections/deliveries.ts';
import { PausedPrefix } from '../../queries/paused-prefix.ts';
import { type Clock, MICROS_PER_SECOND, type Micros, toInstant, toMicros } from '../../runtime/instant.ts';
import { steadyClock } from '../../runtime/steady-clock.ts';
import type { ReadStore } from '../../storage/read-store.ts';
import type { DueDelivery } from './queue.ts';

/** Only deliveries due within this time are kept in memory. */
export const HORIZON: Micros = 3_600 * MICROS_PER_SECOND;

const PAGE = 250;
/** Maximum rows per scan, which takes tens of milliseconds. The next scan continues there. */
const ROWS_IN_A_LOOK = 4_000;

export interface Look {
  /** Something did not fit or was not read: scan again soon. */
  readonly unfinished: boolean;
  /** Everything that was read waits for a paused host: what follows may be due as well. */
  readonly onlyPaused: boolean;
}

/**
 * Offers a row of the read model.
 * @returns whether there was room for it
 */
export type Offer = (due: DueDelivery) => boolean;

interface ScanPosition {
  readonly value: string;
  readonly id: string;
}

/** The field that a scan follows, and the wanted range. */
interface Along {
  readonly field: 'dueAt' | 'since';
  readonly above?: string;
  readonly upTo?: string;
}

export class CallbackScan {
  readonly #readStore: Pick<ReadStore, 'find'>;
  readonly #isPaused: (origin: string) => boolean;
  readonly #pausedPrefix: PausedPrefix;
  /** Where the last scan along a field of a partition stopped; absent if it reached the end. */
  readonly #stoppedAt = new Map<string, ScanPosition>();

  /** @param isPaused whether an origin is paused: its deliveries are not offered */
  constructor(
    readStore: Pick<ReadStore, 'find'>,
    isPaused: (origin: string) => boolean = () => false,
    steady: Clock = steadyClock,
  ) {
    this.#readStore = readStore;
    this.#isPaused = isPaused;
    this.#pausedPrefix = new PausedPrefix(steady);
  }

  /** Scans these partitions, each from where the last scan stopped, the earliest due first. */
  look(partitions: readonly number[], now: Micros, offer: Offer): Promise<Look> {
    return this.#look(partitions, { field: 'dueAt', upTo: toInstant(now + HORIZON) }, now, offer);
  }

  /** The same for deliveries whose wait began in the future, by a clock that has since been set back. */
  lookForAhead(partitions: readonly number[], now: Micros, offer: Offer): Promise<Look> {
    return this.#look(partitions, { field: 'since', above: toInstant(now + CLOCK_TOLERANCE) }, now, offer);
  }

  /** Forgets where scans of a partition stopped, and what they passed over. */
  forget(partition: number): void {
    this.#pausedPrefix.forget(partition);
    for (const field of ['dueAt', 'since'] as const) this.#stoppedAt.delete(placeOf(field, partition));
  }

  async #look(partitions: readonly number[], along: Along, now: Micros, offer: Offer): Promise<Look> {
    let rows = ROWS_IN_A_LOOK;
    let unfinished = false;
    let offered = 0;
    const share = Math.max(PAGE, Math.floor(ROWS_IN_A_LOOK / Math.max(1, partitions.length)));
    for (const partition of partitions) {
      const most = Math.min(share, Math.max(PAGE, rows));
      const seen = await this.#lookAt(partition, along, { most, now }, (due) => {
        offered++;
        const taken = offer(due);
        unfinished ||= !taken;
        return taken;
      });
      rows -= seen;
      unfinished ||= this.#stoppedAt.has(placeOf(along.field, partition));
    }
    return { unfinished, onlyPaused: unfinished && offered === 0 };
  }

  async #lookAt(
    partition: number,
    { field, ...part }: Along,
    { most, now }: { readonly most: number; readonly now: Micros },
    offer: Offer,
  ): Promise<number> {
    const place = placeOf(field, partition);
    let seen = 0;
    const walk = this.#pausedPrefix.walk(partition);
    const passed = field === 'dueAt' ? walk.from : undefined;
    let after = this.#stoppedAt.get(place) ?? passed;
    // Whether everything before this belongs to paused hosts.
    let isPrefix = field === 'dueAt' && after?.value === passed?.value && after?.id === passed?.id;
    while (seen < most) {
      const page = await this.#readStore.find<DeliveryTimer>({
        collection: DELIVERY_TIMERS,
        equals: { partition },
        range: { field, ...part, ...(after && fromPosition(part.above, after)) },
        order: { field, direction: 'ascending' },
        limit: PAGE,
        ...(after && { after: { value: after.value, id: after.id } }),
      });
      // What was passed over may belong to the host that was resumed meanwhile, so the next scan starts again.
      if (!walk.holds) return seen;
      for (const { id, document, position } of page) {
        const { wallet, origin, dueAt } = document;
        if (!this.#isPaused(origin)) {
          isPrefix = false;
          offer({ deliveryId: id, wallet, origin, partition, dueAt: toMicros(dueAt), position });
        } else if (isPrefix) walk.extend({ value: dueAt, id }, now);
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

/** The position is also a bound, because some engines find the start in their index only from a bound. */
const fromPosition = (above: string | undefined, { value }: ScanPosition): { readonly from?: string } =>
  above !== undefined && above >= value ? {} : { from: value };
