import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DELIVERIES, DELIVERY_TIMERS, deliveries } from '../../src/projections/deliveries.ts';
import { deliveryStanding, MOST_COUNTED } from '../../src/queries/delivery-standing.ts';
import { systemClock, toInstant } from '../../src/runtime/instant.ts';
import type { DocumentWrite } from '../../src/storage/read-store.ts';
import { openTestStorage, type TestStorage } from '../support/storage.ts';

const NOW = 1_780_000_000_000_000;

describe('the state of deliveries', () => {
  let directory: string;
  let storage: TestStorage;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'standing-'));
    storage = await openTestStorage(directory, systemClock);
    await storage.readStore.prepare(deliveries.name, 1, deliveries.collections);
  });
  afterEach(async () => {
    await storage.close();
    await rm(directory, { recursive: true, force: true });
  });
  const write = (writes: Omit<DocumentWrite, 'position'>[]) =>
    storage.readStore.commit({
      projection: deliveries.name,
      generation: 1,
      writes: writes.map((one) => ({ ...one, position: '1' })),
      position: '1',
    });

  it('counts those with an attempt to come, and shows how late the latest is', async () => {
    expect(await deliveryStanding(storage.readStore, NOW)).toEqual({
      pending: 0,
      retrying: 0,
      oldestOverdueSeconds: 0,
    });
    const statuses = ['pending', 'pending', 'retrying', 'succeeded', 'failed'];
    const dueSecondsAgo = [5, 90, -60];
    await write([
      ...statuses.map((status, i) => ({
        collection: DELIVERIES,
        id: `${i}`,
        document: { status, createdAt: toInstant(NOW) },
      })),
      ...dueSecondsAgo.map((seconds, i) => ({
        collection: DELIVERY_TIMERS,
        id: `${i}`,
        document: { partition: i, dueAt: toInstant(NOW - seconds * 1_000_000) },
      })),
    ]);
    expect(await deliveryStanding(storage.readStore, NOW)).toEqual({
      pending: 2,
      retrying: 1,
      oldestOverdueSeconds: 90,
    });
  });

  it('counts no further than its limit, however many there are', async () => {
    const manyMore: Parameters<typeof deliveryStanding>[0] = {
      find: async () => [],
      count: async ({ limit = Number.POSITIVE_INFINITY }) => Math.min(limit, 5_000_000),
    };
    expect(await deliveryStanding(manyMore, NOW)).toMatchObject({ pending: MOST_COUNTED, retrying: MOST_COUNTED });
  });
});
