/** Given read models, leases and notices, when an operator asks for the status, then each section is right, and bounded. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PROJECTIONS } from '../../src/projections/all.ts';
import { DELIVERIES, DELIVERY_TIMERS, partitionOf } from '../../src/projections/deliveries.ts';
import { PAUSED_HOSTS } from '../../src/projections/operator-acts.ts';
import { PAYMENTS } from '../../src/projections/payments.ts';
import { REVENUE, REVENUE_BY_ENDPOINT } from '../../src/projections/revenue.ts';
import { isUnreadable, readStatus, type Section, sectionOf } from '../../src/queries/status.ts';
import { callbackStatus } from '../../src/queries/status-callbacks.ts';
import { runwayOf } from '../../src/queries/status-fee-payer.ts';
import { logStatus } from '../../src/queries/status-log.ts';
import { moneyStatus } from '../../src/queries/status-money.ts';
import { paymentStatus } from '../../src/queries/status-payments.ts';
import { systemClock, toInstant } from '../../src/runtime/instant.ts';
import { RENT_RESERVE_LAMPORTS } from '../../src/solana/prepare-receiver.ts';
import { StorageFailure } from '../../src/storage/storage-failure.ts';
import { openTestStorage, type TestStorage } from '../support/storage.ts';

/** 2026-05-28T20:26:40Z. */
const NOW = 1_780_000_000_000_000;
const SECOND = 1_000_000;
const DAY = 86_400 * SECOND;
const ago = (seconds: number) => toInstant(NOW - seconds * SECOND);

const read = <Value extends object>(section: Section<Value>): Value => {
  if (isUnreadable(section)) throw new Error(section.unreadable);
  return section;
};

describe('the status', () => {
  let directory: string;
  let storage: TestStorage;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'status-'));
    storage = await openTestStorage(directory, systemClock);
    for (const { name, collections } of PROJECTIONS) await storage.readStore.prepare(name, 1, collections);
  });
  afterEach(async () => {
    await storage.close();
    await rm(directory, { recursive: true, force: true });
  });

  let position = 0;
  const write = (collection: string, documents: Readonly<Record<string, object>>) => {
    const at = String(++position).padStart(20, '0');
    const projection = PROJECTIONS.find(({ collections }) => collections.some(({ name }) => name === collection))?.name;
    return storage.readStore.commit({
      projection: projection ?? REVENUE,
      generation: 1,
      position: at,
      writes: Object.entries(documents).map(([id, document]) => ({
        collection,
        id,
        document: document as Record<string, string>,
        position: at,
      })),
    });
  };
  const timer = (wallet: string, origin: string, secondsAgo: number) => ({
    partition: partitionOf(wallet),
    dueAt: ago(secondsAgo),
    since: ago(secondsAgo),
    wallet,
    origin,
  });

  it('counts callbacks that are open, due and overdue; those of a paused host only as open', async () => {
    await write(DELIVERY_TIMERS, {
      a: timer('w1', 'https://a.example', 400),
      b: timer('w2', 'https://a.example', 10),
      c: timer('w3', 'https://b.example', -60),
      d: timer('w4', 'https://paused.example', 9_000),
    });
    await write(DELIVERIES, {});
    await write(PAUSED_HOSTS, {
      'https://paused.example': { origin: 'https://paused.example', since: ago(10_000), by: 'Ann', reason: 'moves' },
    });
    const { hosts, ...sums } = await callbackStatus(storage.readStore, NOW, 5);
    expect(sums).toMatchObject({ open: 4, due: 2, overdue: 1, moreHosts: false });
    expect(hosts.map(({ origin, due, paused }) => [origin, due, paused?.by])).toEqual([
      ['https://paused.example', 1, 'Ann'],
      ['https://a.example', 2, undefined],
      ['https://b.example', 0, undefined],
    ]);
    const few = await callbackStatus(storage.readStore, NOW, 1);
    expect(few.hosts.map(({ origin }) => origin)).toEqual(['https://paused.example', 'https://a.example']);
    expect(few.moreHosts).toBe(true);
  });

  it('distinguishes payments in flight from pending, confirming and given up ones', async () => {
    await write(PAYMENTS, {
      flying: { attention: 'outcome', submittedAt: ago(3), outcomeAt: null },
      pending: { attention: 'outcome', submittedAt: ago(31), outcomeAt: null },
      confirming: { attention: 'finality', submittedAt: ago(50), outcomeAt: ago(40) },
      doubtful: { attention: 'doubt', submittedAt: ago(3_000), outcomeAt: ago(2_900) },
      over: { attention: 'doubt', submittedAt: ago(9_000), outcomeAt: ago(8_000) },
      done: { attention: 'none', submittedAt: ago(9_000), outcomeAt: ago(8_000) },
    });
    expect(await paymentStatus(storage.readStore, NOW)).toEqual({
      inFlight: 1,
      pending: 1,
      oldestSubmittedAt: ago(31),
      confirming: 1,
      inDoubt: 1,
    });
  });

  it('sums what was taken on this UTC day, and what the network cost in the last seven', async () => {
    const sums = (day: string, more: object) => ({
      day,
      key: 'GET /v2/case',
      payments: 0,
      late: 0,
      answers: 0,
      usdc: '0',
      fees: '0',
      rolledBack: 0,
      rolledBackUsdc: '0',
      failed: 0,
      failedFees: '0',
      failedQueries: 0,
      ...more,
    });
    await write(REVENUE_BY_ENDPOINT, {
      old: sums('2026-05-21', { usdc: '7000000', fees: '999999' }),
      first: sums('2026-05-25', { usdc: '5000000', fees: '10000', failedFees: '5000' }),
      today: sums('2026-05-28', { payments: 2, answers: 3, usdc: '1980000', fees: '20000' }),
      also: { ...sums('2026-05-28', { payments: 1, answers: 1, usdc: '990000' }), key: 'POST /v2/case/batch' },
      all: sums('all', { usdc: '99000000', fees: '77777777' }),
    });
    expect(await moneyStatus(storage.readStore, NOW)).toEqual({
      day: '2026-05-28',
      answers: 4,
      payments: 3,
      usdc: 2_970_000n,
      spend: { lamports: 35_000n, since: Date.parse('2026-05-25T00:00:00Z') * 1000 },
    });
  });

  it('is that of a new storage, too', async () => {
    const clock = { now: () => NOW };
    const ports = { ...storage, projections: PROJECTIONS, liveSourcesOf: () => [], clock, hosts: 5, timeoutMs: 60_000 };
    const status = await readStatus(ports);
    // On engines, other tests share the log.
    expect(read(status.log).rate).toBeNull();
    expect(read(status.projections)).toHaveLength(PROJECTIONS.length);
    expect(read(status.callbacks)).toMatchObject({ open: 0, due: 0, hosts: [] });
    expect(read(status.payments)).toMatchObject({ inFlight: 0, oldestSubmittedAt: null });
    expect(read(status.money)).toMatchObject({ answers: 0, usdc: 0n, spend: { lamports: 0n, since: null } });
    expect(read(status.nodes)).toEqual({ nodes: [], others: [] });
    expect(read(status.alarms)).toEqual([]);
  });

  it('says of a section why it cannot be read, and shows the others', async () => {
    const broken = new Proxy(storage.readStore, {
      get(store, name) {
        if (name === 'count') return () => Promise.reject(new StorageFailure('storage_unavailable', 'no answer'));
        return (Reflect.get(store, name) as () => unknown).bind(store);
      },
    });
    const clock = { now: () => NOW };
    const ports = {
      log: storage.log,
      projections: PROJECTIONS,
      liveSourcesOf: () => [],
      clock,
      hosts: 5,
      timeoutMs: 60_000,
    };
    const status = await readStatus({ ...ports, readStore: broken });
    expect(status.callbacks).toMatchObject({
      unreadable: expect.stringContaining('no answer'),
      hint: expect.any(String),
    });
    expect(status.payments).toMatchObject({ unreadable: expect.stringContaining('no answer') });
    expect(isUnreadable(status.log)).toBe(false);
    expect(isUnreadable(status.nodes)).toBe(false);
  });
});

it('does not wait for a section that has no answer', async () => {
  expect(await sectionOf(() => new Promise<object>(() => {}), 1)).toEqual({ unreadable: 'no answer within 1 ms' });
});

describe('the rate of the log', () => {
  const log = (head: number) => ({
    head: async () => String(head),
    countAfter: async (from: string | null, limit: number) => Math.min(limit, head - Number(from)),
  });
  const node = (position: number, secondsAgo: number, state: 'running' | 'silent' = 'running') => ({
    state,
    sample: { position: String(position), at: ago(secondsAgo) },
  });

  it('is counted from the oldest position that a running node remembers', async () => {
    const nodes = [node(90, 10), node(40, 62), node(0, 900, 'silent')];
    expect(await logStatus(log(100), nodes, NOW)).toEqual({
      position: '100',
      rate: { events: 60, seconds: 62, more: false },
    });
  });

  it('is not counted to the end in a storm of events', async () => {
    expect((await logStatus(log(1_000_000), [node(0, 60)], NOW)).rate).toEqual({
      events: 10_000,
      seconds: 60,
      more: true,
    });
  });

  it('is unknown without a node, and after the clock was set back', async () => {
    expect((await logStatus(log(9), [{ state: 'running', sample: null }], NOW)).rate).toBeNull();
    expect((await logStatus(log(9), [node(1, -5)], NOW)).rate).toBeNull();
  });
});

describe('how long the fee payer lasts', () => {
  it('follows from the balance above its reserve and the spend a day', () => {
    const spend = { lamports: 30_000n, since: NOW - 3 * DAY };
    expect(runwayOf(RENT_RESERVE_LAMPORTS + 100_000n, spend, NOW)).toEqual({ lamportsPerDay: 10_000n, days: 10 });
    expect(runwayOf(RENT_RESERVE_LAMPORTS - 1n, spend, NOW).days).toBe(0);
  });

  it('counts the first day as a whole one, and is unknown where nothing was spent', () => {
    const spend = { lamports: 30_000n, since: NOW - DAY / 24 };
    expect(runwayOf(RENT_RESERVE_LAMPORTS + 60_000n, spend, NOW).days).toBe(2);
    expect(runwayOf(1n, { lamports: 0n, since: null }, NOW)).toEqual({ lamportsPerDay: 0n, days: null });
  });
});
