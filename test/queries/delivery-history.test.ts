import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DELIVERIES, type DeliveryRecord, deliveries, spanOf } from '../../src/projections/deliveries.ts';
import { type DeliveryFilter, type DeliveryPlace, findDeliveries } from '../../src/queries/delivery-history.ts';
import { toInstant, toMicros } from '../../src/runtime/instant.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { openTestStorage } from '../support/storage.ts';

const START = toMicros('2026-06-01T00:00:00.000000Z');
const MINUTE = 60_000_000;
const STATUSES = ['pending', 'retrying', 'succeeded', 'failed'] as const;

let storage: Storage;
let directory: string;
let generation = 0;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'history-'));
  storage = await openTestStorage(directory);
});
afterAll(async () => {
  await storage.close();
  await rm(directory, { recursive: true, force: true });
});

interface Given {
  readonly createdMinute: number;
  /** Minutes after creation; null for no attempt. */
  readonly attempted: number | null;
  readonly status: (typeof STATUSES)[number];
  readonly wallet: string;
  readonly court: string;
  readonly caseNumber: string;
}

function record(given: Given): DeliveryRecord {
  const created = START + given.createdMinute * MINUTE;
  const last = given.attempted === null ? null : toInstant(created + Math.round(given.attempted * MINUTE));
  const deliveryId = randomUUID();
  return {
    deliveryId,
    wallet: given.wallet,
    requestId: randomUUID(),
    caseId: given.caseNumber,
    courtCode: given.court,
    court: given.court,
    caseNumber: given.caseNumber,
    target: 'a'.repeat(64),
    origin: 'https://receiver.example',
    status: given.status,
    attempts: last === null ? 0 : 1,
    createdAt: toInstant(created),
    firstAttemptAt: last,
    lastAttemptAt: last,
    nextAttemptAt: null,
    lastResponseCode: null,
    span: last === null ? null : spanOf(toInstant(created), last),
    attemptLog: [],
  };
}

const write = (one: DeliveryRecord, position: string) => ({
  collection: DELIVERIES,
  id: one.deliveryId,
  document: one,
  position,
});

/** A separate read store with these deliveries in it. */
async function holding(records: readonly DeliveryRecord[]) {
  const { readStore } = storage;
  generation++;
  const mine = generation;
  await readStore.prepare(deliveries.name, mine, deliveries.collections);
  const commit = { projection: deliveries.name, generation: mine, position: '1' };
  await readStore.commit({ ...commit, writes: records.map((one) => write(one, '1')) });
  return { find: <D>(query: never) => readStore.find<D>(query, mine) } as Pick<typeof readStore, 'find'>;
}

async function pages(store: Pick<Storage['readStore'], 'find'>, filter: DeliveryFilter, limit: number) {
  const ids: string[] = [];
  let after: DeliveryPlace | null = null;
  do {
    const page: Awaited<ReturnType<typeof findDeliveries>> = await findDeliveries(store, filter, { limit, after });
    expect(page.deliveries.length).toBeLessThanOrEqual(limit);
    if (page.next) expect(page.deliveries).toHaveLength(limit);
    ids.push(...page.deliveries.map(({ deliveryId }) => deliveryId));
    after = page.next;
  } while (after);
  return ids;
}

const ALL: DeliveryFilter = { wallet: 'w', status: null, court: null, caseNumber: null, attemptedAfter: null };

describe('the history of deliveries', () => {
  it('equals a filter over all deliveries, newest first, for every filter and page size', async () => {
    const given = fc.record({
      createdMinute: fc.oneof(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 30_000 })),
      attempted: fc.option(
        fc.oneof(fc.double({ min: 0, max: 2, noNaN: true }), fc.double({ min: 0, max: 90_000, noNaN: true })),
      ),
      status: fc.constantFrom(...STATUSES),
      wallet: fc.constantFrom('w', 'w', 'other'),
      court: fc.constantFrom('cand', 'nysd'),
      caseNumber: fc.constantFrom('1:24-cv-00001', '1:24-cv-00002'),
    });
    const asked = fc.record({
      wallet: fc.constantFrom('w', null),
      status: fc.option(fc.constantFrom(...STATUSES)),
      court: fc.option(fc.constantFrom('cand', 'nysd')),
      caseNumber: fc.option(fc.constant('1:24-cv-00001')),
      since: fc.option(fc.integer({ min: -10, max: 60_000 })),
      limit: fc.integer({ min: 1, max: 7 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(given, { maxLength: 30 }),
        fc.array(asked, { minLength: 4, maxLength: 6 }),
        async (all, questions) => {
          const records = all.map(record);
          const store = await holding(records);
          for (const { limit, since, ...rest } of questions) {
            const filter = { ...rest, attemptedAfter: since === null ? null : toInstant(START + since * MINUTE) };
            const expected = records
              .filter(
                (one) =>
                  (filter.wallet === null || one.wallet === filter.wallet) &&
                  (filter.status === null || one.status === filter.status) &&
                  (filter.court === null || one.court === filter.court) &&
                  (filter.caseNumber === null || one.caseNumber === filter.caseNumber) &&
                  (filter.attemptedAfter === null ||
                    (one.lastAttemptAt !== null && one.lastAttemptAt > filter.attemptedAfter)),
              )
              .sort((a, b) => (`${a.createdAt}${a.deliveryId}` < `${b.createdAt}${b.deliveryId}` ? 1 : -1))
              .map(({ deliveryId }) => deliveryId);
            expect(await pages(store, filter, limit)).toEqual(expected);
          }
        },
      ),
      { numRuns: 25 },
    );
  });

  it('continues where a page ended, even if deliveries were added or changed', async () => {
    const records = Array.from({ length: 9 }, (_, i) =>
      record({ createdMinute: i, attempted: 0, status: 'retrying', wallet: 'w', court: 'c', caseNumber: 'n' }),
    );
    const store = await holding(records);
    const first = await findDeliveries(store, ALL, { limit: 4, after: null });
    const fresh = record({
      createdMinute: 50,
      attempted: 0,
      status: 'pending',
      wallet: 'w',
      court: 'c',
      caseNumber: 'n',
    });
    const changed = { ...records[1]!, status: 'succeeded' as const };
    await storage.readStore.commit({
      projection: deliveries.name,
      generation,
      writes: [write(fresh, '2'), write(changed, '2')],
      position: '2',
    });
    const second = await findDeliveries(store, ALL, { limit: 20, after: first.next });
    expect([...first.deliveries, ...second.deliveries].map(({ deliveryId }) => deliveryId)).toEqual(
      records.map(({ deliveryId }) => deliveryId).reverse(),
    );
    expect(second.next).toBeNull();
  });
});
