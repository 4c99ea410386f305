/** Work under a lease, on a real store. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/runtime/instant.ts';
import { pause } from '../../src/runtime/pause.ts';
import type { HeldLease } from '../../src/storage/held-lease.ts';
import { type HeldWork, whileHeld } from '../../src/storage/while-held.ts';
import { openTestStorage, type TestStorage } from '../support/storage.ts';

let directory: string;
let storage: TestStorage;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'while-held-'));
  storage = await openTestStorage(directory);
});
afterAll(async () => {
  await storage.close();
  await rm(directory, { recursive: true, force: true });
});

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const forever = (_lease: HeldLease, signal: AbortSignal) => pause(3_600_000, signal);

/** A process that works under the lease `name`; what is left out of the work is that of a process that works for ever. */
function worker(name: string, over: Partial<HeldWork> = {}) {
  const stopping = new AbortController();
  const work = vi.fn(over.work ?? forever);
  const failed = vi.fn<(error: unknown) => void>();
  const lease = { readStore: storage.readStore, clock: systemClock, name, owner: randomUUID(), durationMs: 5_000 };
  const running = whileHeld({
    lease,
    signal: stopping.signal,
    standByMs: 20,
    backOffMs: () => 1,
    failed,
    ...over,
    work,
  });
  const stop = async () => {
    stopping.abort();
    await running;
  };
  stops.push(stop);
  return { work, failed, stop, lease };
}

const until = (condition: () => unknown) => vi.waitUntil(condition, { timeout: 20_000 });

describe('of two processes that want the same work', () => {
  it('one works and the other waits until the first stops', async () => {
    const name = randomUUID();
    const first = worker(name);
    await until(() => first.work.mock.calls.length === 1);
    const standBy = vi.fn(async () => {});
    const second = worker(name, { standBy });
    await until(() => standBy.mock.calls.length > 1);
    expect(second.work).not.toHaveBeenCalled();
    await first.stop();
    await until(() => second.work.mock.calls.length === 1);
    expect([first.failed, second.failed].flatMap(({ mock }) => mock.calls)).toEqual([]);
  });

  it('the one that loses its lease ends its work, logs that, and waits', async () => {
    const name = randomUUID();
    const lost = vi.fn();
    const ended = vi.fn();
    let isTaken = false;
    const readStore = {
      acquireLease: async (...asked: Parameters<TestStorage['readStore']['acquireLease']>) =>
        isTaken ? null : storage.readStore.acquireLease(...asked),
      releaseLease: async () => {},
    } as unknown as TestStorage['readStore'];
    const work = async (lease: HeldLease, signal: AbortSignal) => {
      await pause(3_600_000, signal);
      await lease.assertHeld();
    };
    const lease = { readStore, clock: systemClock, name, owner: randomUUID(), durationMs: 90 };
    const one = worker(name, { work, lost, ended, lease });
    await until(() => one.work.mock.calls.length === 1);
    isTaken = true;
    await until(() => lost.mock.calls.length === 1);
    expect([ended.mock.calls.length > 0, one.failed.mock.calls]).toEqual([true, []]);
  });
});

describe('work that fails', () => {
  it('is tried again, after pauses that grow until it has progressed', async () => {
    const asked: number[] = [];
    let runs = 0;
    const one = worker(randomUUID(), {
      backOffMs: (failures) => asked.push(failures) && 1,
      async work(_lease, signal, progressed) {
        runs++;
        if (runs === 4) progressed();
        if (runs < 6) throw new Error(`run ${runs}`);
        await pause(3_600_000, signal);
      },
    });
    await until(() => runs === 6);
    expect(asked).toEqual([1, 2, 3, 1, 2]);
    expect(one.failed.mock.calls.map(([error]) => (error as Error).message)).toEqual(
      [1, 2, 3, 4, 5].map((run) => `run ${run}`),
    );
  });

  it('as the lease or the standing by does, is reported and ends nothing', async () => {
    const error = new Error('no storage');
    const readStore = { acquireLease: () => Promise.reject(error) } as unknown as TestStorage['readStore'];
    const lease = { readStore, clock: systemClock, name: 'x', owner: 'me', durationMs: 1_000 };
    const cut = worker('x', { lease });
    await until(() => cut.failed.mock.calls.length > 2);
    expect(cut.failed).toHaveBeenCalledWith(error);

    const name = randomUUID();
    const holder = worker(name);
    await until(() => holder.work.mock.calls.length === 1);
    const behind = worker(name, { standBy: () => Promise.reject(error) });
    await until(() => behind.failed.mock.calls.length > 1);
    await holder.stop();
    await until(() => behind.work.mock.calls.length === 1);
  });
});

describe('work that ends by itself', () => {
  it('begins again after its rest', async () => {
    const one = worker(randomUUID(), { restMs: 5, work: async () => {} });
    await until(() => one.work.mock.calls.length > 3);
    expect(one.failed).not.toHaveBeenCalled();
  });
});
