/** The overall state of callback deliveries, for operators. */
import type { DeliveryStatus } from '../commands/delivery/delivery.ts';
import { DELIVERIES, DELIVERY_TIMERS, type DeliveryTimer, PARTITIONS } from '../projections/deliveries.ts';
import { MICROS_PER_SECOND, type Micros, toInstant, toMicros } from '../runtime/instant.ts';
import type { ReadStore } from '../storage/read-store.ts';

/** Counting stops here, so that the query always takes the same few milliseconds. */
export const MOST_COUNTED = 100_000;

export interface DeliveryStanding {
  /** Before their first attempt; `MOST_COUNTED` means that many or more. */
  readonly pending: number;
  /** After a failed attempt, with another to come; counted up to the same limit. */
  readonly retrying: number;
  /** How long the oldest due attempt has been waiting, seconds; 0 if none is due. */
  readonly oldestOverdueSeconds: number;
}

type Store = Pick<ReadStore, 'find' | 'count'>;

export async function deliveryStanding(readStore: Store, now: Micros): Promise<DeliveryStanding> {
  const having = (status: DeliveryStatus) =>
    readStore.count({ collection: DELIVERIES, equals: { status }, limit: MOST_COUNTED });
  const [pending, retrying, oldestOverdueSeconds] = await Promise.all([
    having('pending'),
    having('retrying'),
    oldestOverdue(readStore, now),
  ]);
  return { pending, retrying, oldestOverdueSeconds };
}

/** How long the oldest due attempt has been waiting, seconds; 0 if none is due. */
export async function oldestOverdue(readStore: Pick<ReadStore, 'find'>, now: Micros): Promise<number> {
  const first = await Promise.all(
    Array.from({ length: PARTITIONS }, (_, partition) =>
      readStore.find<DeliveryTimer>({
        collection: DELIVERY_TIMERS,
        equals: { partition },
        range: { field: 'dueAt', upTo: toInstant(now) },
        order: { field: 'dueAt', direction: 'ascending' },
        limit: 1,
      }),
    ),
  );
  const due = first.flat().map(({ document }) => toMicros(document.dueAt));
  return due.length === 0 ? 0 : (now - Math.min(...due)) / MICROS_PER_SECOND;
}
