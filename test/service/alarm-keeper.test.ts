/** Given a process that raises alarms, when they are written, then any node sees them: few, joined, and none lost. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lastAlarms } from '../../src/queries/status-alarms.ts';
import type { RaisedAlarm } from '../../src/runtime/alarms.ts';
import { toInstant } from '../../src/runtime/instant.ts';
import { createAlarmKeeper } from '../../src/service/alarm-keeper.ts';
import { StorageFailure } from '../../src/storage/storage-failure.ts';
import { openTestStorage, type TestStorage } from '../support/storage.ts';

const NOW = 1_780_000_000_000_000;
const SECOND = 1_000_000;
const at = (seconds: number) => toInstant(NOW + seconds * SECOND);
const DAY = 24 * 3_600 * SECOND;

const alarm = (name: string, at: number, reason = 'because'): RaisedAlarm => ({
  name,
  level: 'error',
  at,
  message: `${name}!`,
  details: { reason },
});

describe('alarms', () => {
  let directory: string;
  let storage: TestStorage;
  let now: number;
  const clock = { now: () => now };
  beforeEach(async () => {
    now = NOW;
    directory = await mkdtemp(join(tmpdir(), 'alarms-'));
    storage = await openTestStorage(directory, clock);
  });
  afterEach(async () => {
    await storage.close();
    await rm(directory, { recursive: true, force: true });
  });

  it('are seen from another process: the newest first, equal ones once, with their number and times', async () => {
    const keeper = createAlarmKeeper('one', clock);
    keeper.raise(alarm('disk_down', NOW - 3 * SECOND, 'first'));
    keeper.raise(alarm('chain_down', NOW - 2 * SECOND));
    keeper.raise(alarm('disk_down', NOW - SECOND, 'second'));
    await keeper.write(storage.readStore);
    const seen = await lastAlarms(storage.readStore, NOW);
    expect(seen).toMatchObject([
      { name: 'disk_down', count: 2, first: at(-3), last: at(-1), details: { reason: 'second' } },
      { name: 'chain_down', count: 1, first: at(-2), last: at(-2) },
    ]);
    expect(seen).toEqual(keeper.last());
  });

  it('of a process that restarts again and again are one, with the number of all', async () => {
    for (let start = 0; start < 5; start++) {
      now += SECOND;
      const keeper = createAlarmKeeper(`start ${start}`, clock);
      keeper.raise(alarm('master_key_generated', now));
      await keeper.write(storage.readStore);
    }
    expect(await lastAlarms(storage.readStore, now)).toMatchObject([
      { name: 'master_key_generated', count: 5, first: at(1), last: at(5) },
    ]);
  });

  it('are written once however often they are raised, and not at all without news', async () => {
    let written = 0;
    const store = {
      async writeNotices(notices: readonly unknown[]) {
        written += notices.length;
      },
    };
    const keeper = createAlarmKeeper('one', clock);
    for (let time = 0; time < 10_000; time++) keeper.raise(alarm('log_lines_lost', NOW + time));
    await keeper.write(store);
    await keeper.write(store);
    expect(written).toBe(1);
    expect(keeper.last()).toMatchObject([{ count: 10_000 }]);
  });

  it('that the store could not record are written once it answers', async () => {
    const down = {
      async writeNotices() {
        throw new StorageFailure('storage_full', 'full');
      },
    };
    const keeper = createAlarmKeeper('one', clock);
    keeper.raise(alarm('disk_down', NOW));
    await expect(keeper.write(down)).rejects.toThrow('full');
    await keeper.write(storage.readStore);
    expect(await lastAlarms(storage.readStore, NOW)).toMatchObject([{ name: 'disk_down' }]);
  });

  it('are forgotten after a week', async () => {
    const keeper = createAlarmKeeper('one', clock);
    keeper.raise(alarm('disk_down', NOW));
    await keeper.write(storage.readStore);
    expect(await lastAlarms(storage.readStore, NOW + 7 * DAY - 1)).toHaveLength(1);
    expect(await lastAlarms(storage.readStore, NOW + 7 * DAY)).toEqual([]);
  });
});
