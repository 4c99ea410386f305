/** What an idle service writes: counted in frames of the write-ahead log, not in time. */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { systemClock } from '../../src/runtime/instant.ts';
import { HeldLease } from '../../src/storage/held-lease.ts';
import type { ReadStore } from '../../src/storage/read-store.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';

/** As many as a service holds: projections, recovery, what follows a settlement, 16 partitions of callbacks. */
const LEASES = 23;
const FRAME_BYTES = 4_096 + 24;
const BEATS = 5;
const BEAT_MS = 30_000;

it('all leases of a process are renewed in one commit for each heartbeat', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'docket-idle-'));
  const storage = openSqlite({ directory });
  const renewing: Promise<unknown>[] = [];
  const readStore = {
    acquireLease(...asked) {
      const renewal = storage.readStore.acquireLease(...asked);
      renewing.push(renewal);
      return renewal;
    },
    releaseLease: (lease) => storage.readStore.releaseLease(lease),
  } as ReadStore;
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    const leases: HeldLease[] = [];
    for (let n = 0; n < LEASES; n++) {
      const options = { readStore, clock: systemClock, owner: 'a process', name: `lease/${n}` } as const;
      leases.push((await HeldLease.acquire({ ...options, durationMs: 3 * BEAT_MS }))!);
    }
    const written = async () => (await stat(join(directory, 'read.sqlite-wal'))).size / FRAME_BYTES;
    const framesBefore = await written();
    for (let beat = 1; beat <= BEATS; beat++) {
      vi.advanceTimersByTime(BEAT_MS);
      await Promise.all(renewing);
      expect(renewing).toHaveLength(LEASES * (beat + 1));
    }
    // The table of leases is one or two pages.
    expect((await written()) - framesBefore).toBeLessThanOrEqual(2 * BEATS);
    for (const lease of leases) {
      expect(lease.lost.aborted).toBe(false);
      await lease.release();
    }
  } finally {
    vi.useRealTimers();
  }
  await storage.close();
  await rm(directory, { recursive: true, force: true });
});
