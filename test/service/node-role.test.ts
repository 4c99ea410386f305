/** Given nodes that share a storage, when one of them runs, stops or dies, then every other process sees it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Health } from '../../src/http/admin/health.ts';
import { lastAlarms } from '../../src/queries/status-alarms.ts';
import { statusNodes } from '../../src/queries/status-nodes.ts';
import { toInstant } from '../../src/runtime/instant.ts';
import { createAlarmKeeper } from '../../src/service/alarm-keeper.ts';
import { type NodeRoleOptions, startNodeRole } from '../../src/service/node-role.ts';
import { StorageFailure } from '../../src/storage/storage-failure.ts';
import { openTestStorage, type TestStorage } from '../support/storage.ts';

const NOW = 1_780_000_000_000_000;
const SECOND = 1_000_000;
const LEASE = 15 * SECOND;
const WELL: Health = { event_log: { status: 'nominal', since: toInstant(NOW), reason: null } };

describe('a node', () => {
  let directory: string;
  let storage: TestStorage;
  let now: number;
  let head: string;
  let health: Health;
  const clock = { now: () => now };
  beforeEach(async () => {
    [now, head, health] = [NOW, '0007', WELL];
    directory = await mkdtemp(join(tmpdir(), 'node-'));
    storage = await openTestStorage(directory, clock);
  });
  afterEach(async () => {
    await storage.close();
    await rm(directory, { recursive: true, force: true });
  });

  const nodeOf = (owner: string, more: Partial<NodeRoleOptions> = {}) =>
    startNodeRole({
      log: { head: async () => head },
      readStore: storage.readStore,
      health: () => health,
      feePayer: () => ({ address: 'F', lamports: '5000', at: toInstant(now) }),
      alarms: createAlarmKeeper(owner, clock),
      clock,
      logger: pino({ level: 'silent' }),
      owner,
      version: '9.9.9',
      ...more,
    });
  const seen = async () => (await statusNodes(storage.readStore, now)).nodes;

  it('is seen with its process, its addresses, its parts and what it owns', async () => {
    const node = nodeOf('elsewhere/17/1/a');
    await node.beat();
    node.listens({ url: 'http://one', adminUrl: 'http://one:1' });
    await node.beat();
    await storage.readStore.acquireLease('payment-recovery', 'elsewhere/17/1/a', now, LEASE);
    await storage.readStore.acquireLease('log-heads', 'somebody else', now, LEASE);
    expect(await statusNodes(storage.readStore, now)).toMatchObject({
      nodes: [
        {
          state: 'running',
          host: hostname(),
          pid: process.pid,
          version: '9.9.9',
          startedAt: toInstant(NOW),
          lastSeen: toInstant(NOW),
          url: 'http://one',
          parts: WELL,
          feePayer: { lamports: '5000' },
          leases: ['payment-recovery'],
        },
      ],
      others: [{ name: 'log-heads', owner: 'somebody else' }],
    });
    await node.stop();
  });

  it('is gone once it has stopped, and its last alarms are kept', async () => {
    const alarms = createAlarmKeeper('elsewhere/17/1/a', clock);
    const node = nodeOf('elsewhere/17/1/a', { alarms });
    await node.beat();
    alarms.raise({ name: 'late', level: 'warn', at: now, message: 'while it stopped', details: {} });
    await node.stop();
    expect(await seen()).toEqual([]);
    expect(await lastAlarms(storage.readStore, now)).toMatchObject([{ name: 'late' }]);
  });

  it('is silent when it has not written for half a minute, and forgotten after an hour', async () => {
    const node = nodeOf('elsewhere/17/1/a');
    await node.beat();
    now += 30 * SECOND;
    expect(await seen()).toMatchObject([{ state: 'running' }]);
    now += 1;
    expect(await seen()).toMatchObject([{ state: 'silent', lastSeen: toInstant(NOW) }]);
    now = NOW + 3_600 * SECOND;
    expect(await seen()).toEqual([]);
    await node.stop();
  });

  it('of this machine whose process was killed is dead at once', async () => {
    // Process ids end far below.
    const node = nodeOf(`${hostname()}/999999999/1/a`);
    await node.beat();
    expect(await seen()).toMatchObject([{ state: 'dead' }]);
    await node.stop();
  });

  it('writes at once that a part has changed, and otherwise only now and then', async () => {
    let written = 0;
    const readStore = {
      async writeNotices() {
        written++;
      },
    };
    const node = nodeOf('elsewhere/17/1/a', { readStore });
    await node.beat();
    now += 5 * SECOND;
    await node.beat();
    expect(written).toBe(1);
    now += 5 * SECOND;
    await node.beat();
    expect(written).toBe(2);
    health = { event_log: { status: 'down', since: toInstant(now), reason: 'gone' } };
    await node.beat();
    expect(written).toBe(3);
    await node.stop();
  });

  it('shows where the log was a minute ago', async () => {
    const node = nodeOf('elsewhere/17/1/a');
    for (let beat = 0; beat <= 30; beat++) {
      head = String(beat).padStart(4, '0');
      await node.beat();
      now += 5 * SECOND;
    }
    expect(await seen()).toMatchObject([{ sample: { position: '0018', at: toInstant(NOW + 18 * 5 * SECOND) } }]);
    await node.stop();
  });

  it('works on while neither the log nor the store answers, and is seen again after that', async () => {
    let isDown = true;
    const fail = () => {
      throw new StorageFailure('storage_unavailable', 'no answer');
    };
    const node = nodeOf('elsewhere/17/1/a', {
      log: { head: async () => (isDown ? fail() : head) },
      readStore: { writeNotices: async (notices) => (isDown ? fail() : storage.readStore.writeNotices(notices)) },
    });
    await node.beat();
    expect(await seen()).toEqual([]);
    isDown = false;
    await node.beat();
    expect(await seen()).toMatchObject([{ state: 'running' }]);
    await node.stop();
  });
});
