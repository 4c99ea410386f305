/** A lease on a real store, while the clocks of its holder are set. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Clock, MICROS_PER_MS } from '../../src/runtime/instant.ts';
import { HeldLease, LeaseLost } from '../../src/storage/held-lease.ts';
import type { ReadStore } from '../../src/storage/read-store.ts';
import { openTestStorage, type TestStorage } from '../support/storage.ts';

const DURATION_MS = 300;
const HOUR = 3_600_000_000;

let directory: string;
let storage: TestStorage;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lease-'));
  storage = await openTestStorage(directory);
});
afterAll(async () => {
  await storage.close();
  await rm(directory, { recursive: true, force: true });
});

/** A holder with its own clocks, on a store that can become unreachable for it. */
function holder(name: string, owner: string = randomUUID()) {
  const clocks = { wall: 10 * HOUR, steady: 0 };
  const clock: Clock = { now: () => clocks.wall };
  const steady: Clock = { now: () => clocks.steady };
  let isReachable = true;
  const readStore = {
    acquireLease: async (...asked: Parameters<ReadStore['acquireLease']>) => {
      if (!isReachable) throw new Error('unreachable');
      return storage.readStore.acquireLease(...asked);
    },
    releaseLease: (lease) => storage.readStore.releaseLease(lease),
  } as ReadStore;
  return {
    clocks,
    cutOff() {
      isReachable = false;
    },
    take: () => HeldLease.acquire({ readStore, clock, steady, name, owner, durationMs: DURATION_MS }),
  };
}

describe('a held lease', () => {
  it('whose clock is set back is lost on time if it cannot be renewed', async () => {
    const one = holder(randomUUID());
    const lease = (await one.take())!;
    one.cutOff();
    one.clocks.wall -= 6 * HOUR;
    one.clocks.steady += (DURATION_MS / 2) * MICROS_PER_MS;
    await lease.assertHeld();
    one.clocks.steady += (DURATION_MS / 2) * MICROS_PER_MS;
    await expect(lease.assertHeld()).rejects.toThrow('unreachable');
    await vi.waitFor(() => expect(lease.lost.aborted).toBe(true), { timeout: 10_000 });
    await expect(lease.assertHeld()).rejects.toThrow();
    await lease.release();
  });

  it('is lost on time by the wall clock, too: the steady one may have stopped during sleep', async () => {
    const one = holder(randomUUID());
    const lease = (await one.take())!;
    one.cutOff();
    one.clocks.wall += DURATION_MS * MICROS_PER_MS;
    await vi.waitFor(() => expect(lease.lost.aborted).toBe(true), { timeout: 10_000 });
    await lease.release();
  });

  it('whose clock is set back is still renewed, and no other process gets it', async () => {
    const name = randomUUID();
    const [one, other] = [holder(name), holder(name)];
    const lease = (await one.take())!;
    one.clocks.wall -= 6 * HOUR;
    other.clocks.wall -= 6 * HOUR;
    // Longer than it lasts, in real time, which its heartbeats use.
    for (let look = 0; look < 10; look++) {
      await new Promise((done) => setTimeout(done, DURATION_MS / 5));
      one.clocks.wall += (DURATION_MS / 5) * MICROS_PER_MS;
      other.clocks.wall += (DURATION_MS / 5) * MICROS_PER_MS;
      expect(await other.take()).toBeNull();
    }
    await lease.assertHeld();
    await lease.release();
  });

  it('that another process has acquired is reported as lost', async () => {
    const name = randomUUID();
    const [one, other] = [holder(name), holder(name)];
    const lease = (await one.take())!;
    other.clocks.wall += HOUR;
    const taken = (await other.take())!;
    one.clocks.wall += HOUR;
    await expect(lease.assertHeld()).rejects.toBeInstanceOf(LeaseLost);
    await Promise.all([lease.release(), taken.release()]);
  });
});
