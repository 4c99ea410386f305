/**
 * Very many deliveries (DELIVERIES=1000000 for a million): pages of a history in constant time, and a start that they
 * do not delay.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { RETRY_DELAYS_MINUTES } from '../../src/commands/delivery/schedule.ts';
import {
  DELIVERIES,
  DELIVERY_TIMERS,
  type DeliveryRecord,
  type DeliveryTimer,
  deliveries,
  partitionOf,
  spanOf,
} from '../../src/projections/deliveries.ts';
import { type DeliveryFilter, type DeliveryPlace, findDeliveries } from '../../src/queries/delivery-history.ts';
import { oldestOverdue } from '../../src/queries/delivery-standing.ts';
import { MICROS_PER_SECOND, toInstant } from '../../src/runtime/instant.ts';
import type { DocumentWrite } from '../../src/storage/read-store.ts';
import { type DeliveryWorld, openDeliveryWorld, START } from '../processes/delivery-world.ts';

const COUNT = Number(process.env.DELIVERIES ?? 200_000);
const SMALL = 1_000;
const MINUTE = 60 * MICROS_PER_SECOND;
/** A wallet that buys its whole daily allowance: 10,000 cases. */
const EVERY = 9 * MICROS_PER_SECOND;

let world: DeliveryWorld;

beforeAll(async () => {
  world = await openDeliveryWorld();
  await world.runner.stop();
  await fill('large', COUNT);
  await fill('small', SMALL);
}, 20 * 60_000);
afterAll(() => world.close());

/** Minutes after its creation at which a delivery is attempted again. */
const LATER = RETRY_DELAYS_MINUTES.map((_, index) =>
  RETRY_DELAYS_MINUTES.slice(0, index + 1).reduce((sum, minutes) => sum + minutes, 0),
);

/** Each tenth is retried, each hundredth has failed, the last ones are still open. */
async function fill(wallet: string, count: number): Promise<void> {
  let writes: DocumentWrite[] = [];
  const flush = async () => {
    const commit = { projection: deliveries.name, generation: 1, position: '1' };
    await world.storage.readStore.commit({ ...commit, writes });
    writes = [];
  };
  for (let i = 0; i < count; i++) {
    const createdAt = toInstant(START - (count - i) * EVERY);
    const retried = i % 10 === 0;
    const lastAttemptAt = toInstant(
      START -
        (count - i) * EVERY +
        (retried ? Math.round(LATER[(i / 10) % 6]! * (1 + (i % 50) / 1_000) * MINUTE) : 50_000),
    );
    const deliveryId = randomUUID();
    const open = retried && count - i < 20_000;
    const document: DeliveryRecord = {
      deliveryId,
      wallet,
      requestId: randomUUID(),
      caseId: '1:24-cv-00001',
      courtCode: 'cand',
      court: i % 3 === 0 ? 'nysd' : 'cand',
      caseNumber: i % 1_000 === 0 ? '1:24-cv-00002' : '1:24-cv-00001',
      target: 'a'.repeat(64),
      origin: 'https://receiver.example',
      status: open ? 'retrying' : i % 100 === 0 ? 'failed' : 'succeeded',
      attempts: 1,
      createdAt,
      firstAttemptAt: createdAt,
      lastAttemptAt,
      nextAttemptAt: null,
      lastResponseCode: 200,
      span: spanOf(createdAt, lastAttemptAt),
      attemptLog: [],
    };
    writes.push({ collection: DELIVERIES, id: deliveryId, document, position: '1' });
    if (writes.length === 5_000) await flush();
  }
  await flush();
}

/** The median time of a page, milliseconds, with its content. */
async function time(filter: DeliveryFilter, after: DeliveryPlace | null) {
  const times: number[] = [];
  let page: Awaited<ReturnType<typeof findDeliveries>> | null = null;
  for (let run = 0; run < 9; run++) {
    const began = performance.now();
    page = await findDeliveries(world.storage.readStore, filter, { limit: 50, after });
    times.push(performance.now() - began);
  }
  return { ms: times.sort((a, b) => a - b)[4]!, found: page!.deliveries.length };
}

describe(`${COUNT} deliveries of one wallet`, () => {
  const all: Omit<DeliveryFilter, 'wallet'> = { status: null, court: null, caseNumber: null, attemptedAfter: null };
  const since = (secondsAgo: number) => toInstant(START - secondsAgo * MICROS_PER_SECOND);
  const asked: readonly (readonly [string, Omit<DeliveryFilter, 'wallet'>])[] = [
    ['everything', all],
    ['failed', { ...all, status: 'failed' }],
    ['retrying', { ...all, status: 'retrying' }],
    ['of a court', { ...all, court: 'nysd' }],
    ['of a case', { ...all, caseNumber: '1:24-cv-00002' }],
    ['of a case, failed', { ...all, caseNumber: '1:24-cv-00002', status: 'failed' }],
    ['attempted since just now', { ...all, attemptedAfter: since(10) }],
    ['attempted since long ago', { ...all, attemptedAfter: since(COUNT * 9 * 0.9) }],
    [
      'attempted since long ago, of a court, failed',
      { ...all, court: 'nysd', status: 'failed', attemptedAfter: since(COUNT * 9 * 0.5) },
    ],
  ];
  const places: readonly (readonly [string, DeliveryPlace | null])[] = [
    ['first', null],
    ['middle', { createdAt: toInstant(START - Math.round(COUNT / 2) * EVERY), deliveryId: randomUUID() }],
    ['last', { createdAt: toInstant(START - (COUNT - 200) * EVERY), deliveryId: randomUUID() }],
  ];

  it('are paged in the time that a thousand need', async () => {
    const table: Record<string, unknown>[] = [];
    for (const [name, filter] of asked) {
      const small = await time({ wallet: 'small', ...filter }, null);
      for (const [place, after] of places) {
        const large = await time({ wallet: 'large', ...filter }, after);
        table.push({ filter: name, page: place, ms: Number(large.ms.toFixed(2)), found: large.found });
        // The cost of a page of documents is fine; a scan of all of them is not.
        expect(large.ms, `${name}, ${place} page`).toBeLessThan(Math.max(25, 8 * small.ms));
      }
    }
    console.table(table);
  });
});

describe(`${COUNT} pending deliveries`, () => {
  it('delay neither the start nor due attempts, and use no memory', async () => {
    const { readStore } = world.storage;
    const wallets = Array.from({ length: 500 }, (_, i) => `wallet-${i}`);
    for (let done = 0; done < COUNT; done += 5_000) {
      const writes = Array.from({ length: Math.min(5_000, COUNT - done) }, (_, i): DocumentWrite => {
        const wallet = wallets[(done + i) % wallets.length]!;
        // Within the hour: all of them would be wanted in memory.
        const dueAt = toInstant(START + (10 + ((done + i) % 40)) * MINUTE);
        const document: DeliveryTimer = {
          partition: partitionOf(wallet),
          dueAt,
          wallet,
          origin: `https://r${(done + i) % 300}.example`,
          since: toInstant(START),
          scheduledFor: dueAt,
          scheduledSince: toInstant(START),
          askedAt: null,
        };
        return { collection: DELIVERY_TIMERS, id: randomUUID(), document, position: '2' };
      });
      await readStore.commit({ projection: deliveries.name, generation: 1, writes, position: '2' });
    }
    const overdue = await world.schedule();
    globalThis.gc?.();
    const before = process.memoryUsage().rss;
    const began = performance.now();
    const node = world.node('scale', { pace: { rearmMs: 15_000, rescanMs: 500, leaseMs: 15_000 } });
    const fresh = await world.schedule({ wallet: 'another' });
    await vi.waitFor(() => expect(world.received.length).toBeGreaterThanOrEqual(1), { timeout: 20_000, interval: 5 });
    const firstMs = performance.now() - began;
    await vi.waitFor(async () => expect((await world.stateOf(fresh)).status).toBe('succeeded'), {
      timeout: 20_000,
      interval: 20,
    });
    const freshMs = performance.now() - began;
    await new Promise((done) => setTimeout(done, 5_000));
    const grown = (process.memoryUsage().rss - before) / 1024 / 1024;
    const { waiting } = node.load();
    const askedAt = performance.now();
    await oldestOverdue(readStore, START + 60 * MINUTE);
    console.log(
      `${COUNT} pending: first delivery ${firstMs.toFixed(0)} ms after the start, ${freshMs.toFixed(0)} ms for one scheduled then; ` +
        `${waiting} wait in memory, ${grown.toFixed(0)} MB more; oldest overdue in ${(performance.now() - askedAt).toFixed(1)} ms`,
    );
    expect(freshMs).toBeLessThan(20_000);
    expect(waiting).toBeLessThanOrEqual(50_000);
    expect(grown).toBeLessThan(200);
    expect((await world.stateOf(overdue)).status).toBe('pending');
  });
});
