/**
 * Heads under kills and on an event store: given processes that record heads and die at any moment, or a log that other
 * programs write into, then every head holds, and no head that anybody saw is lost.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { readMasterKeys } from '../../src/callbacks/master-keys.ts';
import type { LogHead } from '../../src/commands/log-head/log-head.ts';
import { LOG_HEAD_STREAM } from '../../src/events/log-head.ts';
import { verifyHeadSignature } from '../../src/events/log-note.ts';
import { LogTree, leafOf } from '../../src/events/log-tree.ts';
import { createLogHeads } from '../../src/processes/log-heads.ts';
import { systemClock } from '../../src/runtime/instant.ts';
import type { EventLog } from '../../src/storage/event-log.ts';
import { openEventStore } from '../../src/storage/eventstoredb/open.ts';
import { hashEvent } from '../../src/storage/prepare-append.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import { freshStream, notes } from '../storage/samples.ts';
import { openStandin } from '../support/standin.ts';

const CHILD = fileURLToPath(new URL('./log-heads-child.mjs', import.meta.url));
const LOG_ID = '6f1f7a52-0c3f-4b0e-9a54-1d6a2f5e8c11';
const MASTER = `1:${'11'.repeat(32)}`;
const KILLS = 6;

/** The recorded heads, each checked against all events before it. */
async function checkedHeads(log: EventLog): Promise<readonly LogHead[]> {
  const tree = new LogTree();
  const roots = new Map<number, string>();
  const recorded: LogHead[] = [];
  let [publicKey, previous] = ['', ''];
  for await (const { events } of log.readAll(null, { by: 'all' })) {
    for (const event of events) {
      const { stream, revision, metadata, type, data } = event;
      if (stream === LOG_HEAD_STREAM) {
        expect(metadata.hash).toBe(hashEvent(previous, event));
        previous = metadata.hash;
      }
      if (type === 'LogHeadKeyIntroduced') publicKey = data.publicKey as string;
      if (type === 'LogHeadRecorded') recorded.push(data as unknown as LogHead);
      tree.add(leafOf({ stream, revision, hash: metadata.hash }));
      roots.set(tree.size, tree.root().toString('hex'));
    }
  }
  for (const head of recorded) {
    expect(roots.get(head.size)).toBe(head.root);
    expect(verifyHeadSignature(head, LOG_ID, publicKey)).toBe(true);
  }
  const sizes = recorded.map(({ size }) => size);
  expect(sizes).toEqual([...new Set(sizes)].sort((a, b) => a - b));
  return recorded;
}

it(`holds through ${KILLS} kills of two processes that both write`, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'heads-kill-'));
  const seen: LogHead[] = [];
  try {
    for (let kill = 0; kill < KILLS; kill++) {
      const children = [0, 1].map(() => {
        const child = spawn(process.execPath, [CHILD, directory, LOG_ID, MASTER], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        const lines = createInterface({ input: child.stdout });
        const first = once(lines, 'line');
        lines.on('line', (line) => {
          // The last line of a killed process may be cut.
          if (line.endsWith('}')) seen.push(JSON.parse(line) as LogHead);
        });
        return { child, first, ended: Promise.all([once(child, 'exit'), once(lines, 'close')]) };
      });
      await Promise.all(children.map(({ first, ended }) => Promise.race([first, ended])));
      await sleep(Math.random() * 300);
      for (const { child } of children) child.kill('SIGKILL');
      for (const { child, ended } of children) {
        await ended;
        expect(child.signalCode).toBe('SIGKILL');
      }
    }
    const storage = openSqlite({ directory });
    const ports = { masterKeys: readMasterKeys(MASTER), logId: LOG_ID, clock: systemClock, owner: 'after' };
    await createLogHeads({ ...storage, ...ports, logger: pino({ level: 'silent' }) }).round();
    const recorded = await checkedHeads(storage.log);
    expect(recorded.length).toBeGreaterThan(KILLS);
    const roots = new Map(recorded.map(({ size, root }) => [size, root]));
    for (const { size, root } of seen) expect(roots.get(size)).toBe(root);
    await storage.close();
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

describe('an event store that other programs use too', () => {
  it('gets heads over the events of this service only, from two nodes at once', async () => {
    const standin = await openStandin();
    const others = new EventStoreDBClient({ endpoint: `127.0.0.1:${standin.ports[0]}` }, { insecure: true });
    const logs = await Promise.all([openEventStore(standin.url), openEventStore(standin.url)]);
    const directory = await mkdtemp(join(tmpdir(), 'heads-esdb-'));
    const { readStore, close } = openSqlite({ directory });
    try {
      const nodes = logs.map((log, index) =>
        createLogHeads({
          log,
          readStore,
          masterKeys: readMasterKeys(MASTER),
          logId: LOG_ID,
          clock: systemClock,
          logger: pino({ level: 'silent' }),
          owner: `node-${index}`,
        }),
      );
      const [log] = logs as [EventLog, EventLog];
      for (let minute = 0; minute < 4; minute++) {
        await others.appendToStream(`orders-${randomUUID()}`, jsonEvent({ type: 'OrderPlaced', data: {} }));
        await log.append(notes(freshStream(), ['one', 'two']));
        await others.appendToStream('payment-17', jsonEvent({ type: 'PaymentSettled', data: {} }));
        await Promise.all(nodes.map((node) => node.round()));
      }
      const recorded = await checkedHeads(log);
      // Two events a minute, the head of each, and the key once.
      expect(recorded.map(({ size }) => size)).toEqual([2, 6, 9, 12]);
    } finally {
      await Promise.all(logs.map((log) => log.close()));
      await close();
      await others.dispose();
      await standin.close();
      await rm(directory, { recursive: true, force: true });
    }
  });
});
