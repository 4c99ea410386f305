/** The oldest callback that may still be attempted: what was stored since then must not expire. */
import { DELIVERY_EVENTS } from '../events/delivery.ts';
import { DELIVERIES, type DeliveryRecord, deliveries } from '../projections/deliveries.ts';
import { MICROS_PER_SECOND, type Micros, toMicros } from '../runtime/instant.ts';
import type { EventLog } from '../storage/event-log.ts';
import type { ReadStore } from '../storage/read-store.ts';

export interface OpenDeliveriesPorts {
  readonly log: Pick<EventLog, 'readAll'>;
  readonly readStore: Pick<ReadStore, 'activeGeneration' | 'checkpoint' | 'find'>;
}

const OPEN = ['pending', 'retrying'] as const;
/** A read model that is further behind, as while it is built, may not show an old callback yet. */
const BEHIND_AT_MOST: Micros = 86_400 * MICROS_PER_SECOND;
const TYPES = DELIVERY_EVENTS.map(({ type }) => type);

/**
 * When the oldest open callback was created, microseconds; infinity if none is open.
 * @param now the latest possible time
 * @returns null if the read model cannot tell
 */
export async function oldestOpenDelivery({ log, readStore }: OpenDeliveriesPorts, now: Micros): Promise<Micros | null> {
  const generation = await readStore.activeGeneration(deliveries.name);
  const checkpoint = await readStore.checkpoint(deliveries.name, generation);
  for await (const { events } of log.readAll(checkpoint, { by: 'types', types: TYPES })) {
    const [unseen] = events;
    if (!unseen) continue;
    if (toMicros(unseen.metadata.recordedAt) < now - BEHIND_AT_MOST) return null;
    break;
  }
  let oldest = Number.POSITIVE_INFINITY;
  for (const status of OPEN) {
    const [first] = await readStore.find<DeliveryRecord>(
      {
        collection: DELIVERIES,
        equals: { status },
        order: { field: 'createdAt', direction: 'ascending' },
        limit: 1,
      },
      generation,
    );
    if (first) oldest = Math.min(oldest, toMicros(first.document.createdAt));
  }
  return oldest;
}
