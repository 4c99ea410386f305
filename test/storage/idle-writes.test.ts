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

it('all leases of a process are renewed in one commit for each heartbeat', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'docket-idle-'));
  const storage = openSqlite({ directory });
  let renewals = 0;
  const readStore = {
    acquireLease: (...asked) => {
      renewals++;
      return storage.readStore.acquireLease(...asked);
    },
    releaseLease: (lease) => storage.readStore.releaseLease(lease),
  } as ReadStore;
  const owner = 'a process';
  const leases: HeldLease[] = [];
  for (let n = 0; n < LEASES; n++) {
    const options = { readStore, clock: systemClock, owner, name: `lease/${n}`, durationMs: 900 } as const;
    leases.push((await HeldLease.acquire(options))!);
  }
  const written = async () => (await stat(join(directory, 'read.sqlite-wal'))).size / FRAME_BYTES;
  const [framesBefore, renewalsBefore] = [await written(), renewals];
  await vi.waitFor(() => expect(renewals - renewalsBefore).toBeGreaterThanOrEqual(LEASES * BEATS), {
    timeout: 15_000,
    interval: 20,
  });
  // The table of leases is one or two pages.
  expect((await written()) - framesBefore).toBeLessThanOrEqual(2 * (BEATS + 1));
  for (const lease of leases) {
    expect(lease.lost.aborted).toBe(false);
    await lease.release();
  }
  await storage.close();
  await rm(directory, { recursive: true });
});
