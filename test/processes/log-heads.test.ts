/**
 * Given a log, when a minute passes or a service stops, then the root over everything recorded so far is recorded once,
 * signed and consistent with the root before; and a log that was changed behind the service gets an alarm and no head.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readMasterKeys } from '../../src/callbacks/master-keys.ts';
import type { LogHead } from '../../src/commands/log-head/log-head.ts';
import { LOG_HEAD_STREAM } from '../../src/events/log-head.ts';
import { verifyHeadSignature } from '../../src/events/log-note.ts';
import { LogTree, leafOf } from '../../src/events/log-tree.ts';
import {
  createLogHeads,
  LogHeadDiffers,
  type LogHeadsPorts,
  type LogHeadsProcess,
} from '../../src/processes/log-heads.ts';
import { systemClock, toInstant } from '../../src/runtime/instant.ts';
import { steadyClock } from '../../src/runtime/steady-clock.ts';
import { type EventLog, NO_STREAM, type RecordedEvent } from '../../src/storage/event-log.ts';
import { hashEvent, prepareAppend } from '../../src/storage/prepare-append.ts';
import { Database } from '../../src/storage/sqlite/driver.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { authorized, submitted } from '../commands/payment/payment.fixtures.ts';

const LOG_ID = '6f1f7a52-0c3f-4b0e-9a54-1d6a2f5e8c11';
const ONE = `1:${'11'.repeat(32)}`;
const TWO = `2:${'22'.repeat(32)}`;

let directory: string;
let storage: Storage;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'heads-'));
  storage = openSqlite({ directory });
});
afterEach(async () => {
  await storage.close();
  await rm(directory, { recursive: true, force: true });
});

function node(changes: Partial<LogHeadsPorts> & { readonly master?: string } = {}) {
  const { master = ONE, ...ports } = changes;
  return createLogHeads({
    ...storage,
    masterKeys: readMasterKeys(master),
    logId: LOG_ID,
    clock: systemClock,
    steady: steadyClock,
    logger: pino({ level: 'silent' }),
    owner: 'node',
    ...ports,
  });
}

let payments = 0;
/** Two events in a stream of their own. */
async function pay(log: Pick<EventLog, 'append'> = storage.log): Promise<void> {
  const commandId = `command-${++payments}`;
  const context = { commandId, requestId: null, correlationId: commandId, causationId: null, actor: 'http' };
  const stream = `payment-${String(payments).padStart(64, '0')}`;
  const events = [authorized, submitted];
  await log.append(prepareAppend({ stream, head: NO_STREAM, events, context, recordedAt: toInstant(0) }));
}

async function allEvents(): Promise<readonly RecordedEvent[]> {
  const all: RecordedEvent[] = [];
  for await (const { events } of storage.log.readAll(null, { by: 'all' })) all.push(...events);
  return all;
}

const types = async (): Promise<readonly string[]> => (await storage.log.read(LOG_HEAD_STREAM)).map(({ type }) => type);

/** Every recorded head, each checked against the whole log. */
async function checkedHeads(): Promise<readonly LogHead[]> {
  const events = await allEvents();
  const keys = new Map<number, string>();
  const heads: LogHead[] = [];
  for (const { type, data } of events) {
    if (type === 'LogHeadKeyIntroduced') keys.set(data.masterVersion as number, data.publicKey as string);
    if (type !== 'LogHeadRecorded') continue;
    const head = data as unknown as LogHead;
    const tree = new LogTree();
    for (const { stream, revision, metadata } of events.slice(0, head.size)) {
      tree.add(leafOf({ stream, revision, hash: metadata.hash }));
    }
    const last = events[head.size - 1];
    expect(head).toMatchObject({
      root: tree.root().toString('hex'),
      peaks: tree.peaks.map((peak) => peak.toString('hex')),
      last: { stream: last?.stream, revision: last?.revision },
    });
    expect(verifyHeadSignature(head, LOG_ID, keys.get(head.masterVersion) ?? '')).toBe(true);
    heads.push(head);
  }
  assertChain(events.filter(({ stream }) => stream === LOG_HEAD_STREAM));
  return heads;
}

/** Each event continues the hash of the one before it. */
function assertChain(stream: readonly RecordedEvent[]): void {
  let previous = '';
  for (const event of stream) {
    expect(event.metadata.hash).toBe(hashEvent(previous, event));
    previous = event.metadata.hash;
  }
}

const sizes = async (): Promise<readonly number[]> => (await checkedHeads()).map(({ size }) => size);

describe('a round', () => {
  it('records a head over all events, and the key before its first use', async () => {
    await pay();
    expect((await node().round())?.size).toBe(2);
    expect(await types()).toEqual(['LogHeadKeyIntroduced', 'LogHeadRecorded']);
    expect(await sizes()).toEqual([2]);
  });

  it('records nothing over an empty log, or where only heads are new', async () => {
    const heads = node();
    expect(await heads.round()).toBeNull();
    await pay();
    await heads.round();
    for (const other of [heads, heads, node()]) expect(await other.round()).toBeNull();
    expect(await types()).toHaveLength(2);
  });

  it('covers the earlier heads with the events that follow them', async () => {
    const heads = node();
    for (let minute = 0; minute < 3; minute++) {
      await pay();
      await heads.round();
    }
    // Each head is an event itself, and the first also introduced the key.
    expect(await sizes()).toEqual([2, 6, 9]);
  });

  it('leaves to the next round what is recorded while it writes', async () => {
    await pay();
    const heads = node({
      log: {
        ...bound(storage.log),
        async append(append) {
          await pay();
          return storage.log.append(append);
        },
      },
    });
    await heads.round();
    await heads.round();
    expect(await sizes()).toEqual([2, 6]);
  });

  it('continues after a restart from what is recorded', async () => {
    for (let start = 0; start < 4; start++) {
      await pay();
      await node().round();
    }
    expect(await sizes()).toEqual([2, 6, 9, 12]);
  });

  it('introduces the next key when the master key is rotated', async () => {
    await pay();
    await node().round();
    await pay();
    await node({ master: `${TWO},${ONE}` }).round();
    expect(await types()).toEqual([
      'LogHeadKeyIntroduced',
      'LogHeadRecorded',
      'LogHeadKeyIntroduced',
      'LogHeadRecorded',
    ]);
    expect((await checkedHeads()).map(({ masterVersion }) => masterVersion)).toEqual([1, 2]);
  });

  it('keeps the progress of a long catch-up in a head each', async () => {
    for (let count = 0; count < 10; count++) await pay();
    expect((await node({ mostEvents: 8 }).round())?.size).toBe(23);
    expect(await sizes()).toEqual([8, 16, 23]);
  });

  it('that is cut short records what it has read', async () => {
    for (let count = 0; count < 300; count++) await pay();
    const stopping = new AbortController();
    const log: LogHeadsPorts['log'] = {
      append: (append) => storage.log.append(append),
      read: (stream, options) => storage.log.read(stream, options),
      async *readAll(from, filter) {
        for await (const batch of storage.log.readAll(from, filter)) {
          stopping.abort();
          yield batch;
        }
      },
    };
    const cut = await node({ log }).round(stopping.signal);
    expect(cut?.size).toBeLessThan(600);
    await node().round();
    expect(await sizes()).toEqual([cut?.size, 602]);
  });
});

describe('two nodes that both believe they may write', () => {
  it('record each head once, and each continues what the other wrote', async () => {
    const [one, two] = [node({ owner: 'one' }), node({ owner: 'two' })];
    for (let minute = 0; minute < 5; minute++) {
      await pay();
      await Promise.all([one.round(), two.round()]);
      await pay();
      await (minute % 2 ? one : two).round();
    }
    const recorded = await sizes();
    expect(recorded).toHaveLength(10);
    expect([...recorded].sort((a, b) => a - b)).toEqual(recorded);
  });

  it('of two versions of the master key each introduce theirs', async () => {
    const [one, two] = [node({ owner: 'one' }), node({ owner: 'two', master: `${TWO},${ONE}` })];
    for (let minute = 0; minute < 2; minute++) {
      for (const each of [one, two]) {
        await pay();
        await each.round();
      }
    }
    expect((await checkedHeads()).map(({ masterVersion }) => masterVersion)).toEqual([1, 2, 1, 2]);
  });
});

describe('an append without an outcome', () => {
  it.each([
    ['was written', true],
    ['was not written', false],
  ])('leads to one head, if it %s', async (_, isWritten) => {
    await pay();
    let fails = true;
    const heads = node({
      log: {
        ...bound(storage.log),
        async append(append) {
          if (!fails) return storage.log.append(append);
          fails = false;
          if (isWritten) await storage.log.append(append);
          throw new Error('the connection was lost');
        },
      },
    });
    await expect(heads.round()).rejects.toThrow('the connection was lost');
    await heads.round();
    expect(await types()).toEqual(['LogHeadKeyIntroduced', 'LogHeadRecorded']);
    await pay();
    await heads.round();
    expect(await sizes()).toEqual([2, 6]);
  });
});

describe('a log that was changed behind the service', () => {
  const change = (sql: string) => {
    const database = new Database(join(directory, 'log.sqlite'));
    expect(database.prepare(sql).run().changes).toBeGreaterThan(0);
    database.close();
  };
  const exchange = () => {
    change('UPDATE events SET position = -3 WHERE position = 8');
    change('UPDATE events SET position = 8 WHERE position = 9');
    change('UPDATE events SET position = 9 WHERE position = -3');
  };

  async function threeHeads(heads: LogHeadsProcess): Promise<void> {
    for (const count of [1, 1, 2]) {
      for (let each = 0; each < count; each++) await pay();
      await heads.round();
    }
  }

  it.each([
    ['an event that the last head covers removed', () => change('DELETE FROM events WHERE position = 8')],
    ['the last event that it covers removed', () => change('DELETE FROM events WHERE position = 11')],
    ['two events exchanged', exchange],
    ['an event moved to another stream', () => change("UPDATE events SET stream = 'payment-x' WHERE position = 8")],
    [
      'a hash replaced',
      () => change(`UPDATE events SET metadata = json_set(metadata, '$.hash', '${'0'.repeat(64)}') WHERE position = 9`),
    ],
  ])('gets no further head from the next start, with %s', async (_, damage) => {
    // Leaves: payment 2, key and head 2 (positions 3, 4), payment 2, head (7), payments 4 (8 to 11), and one head (12).
    await threeHeads(node());
    damage();
    await pay();
    await expect(node().round()).rejects.toBeInstanceOf(LogHeadDiffers);
    expect(await types()).toHaveLength(4);
  });

  it('gets no further head from the running service, with its newest head removed', async () => {
    const running = node();
    await threeHeads(running);
    change('DELETE FROM events WHERE position = 12');
    await pay();
    await expect(running.round()).rejects.toBeInstanceOf(LogHeadDiffers);
    expect(await types()).toHaveLength(3);
  });
});

describe('the process', () => {
  /** Rounds that a test starts one by one. */
  function minutes() {
    let next: () => void = () => undefined;
    let begun: () => void = () => undefined;
    const waiting = () =>
      new Promise<void>((resolve) => {
        begun = resolve;
      });
    let waits = waiting();
    return {
      untilNext: (signal: AbortSignal) =>
        new Promise<void>((resolve) => {
          next = resolve;
          signal.addEventListener('abort', () => resolve(), { once: true });
          begun();
        }),
      /** Lets a minute pass, and resolves when its round has ended. */
      async pass() {
        await waits;
        waits = waiting();
        next();
        await waits;
      },
      waits: () => waits,
    };
  }

  it('records a head each minute and at a stop', async () => {
    const [time, stopping] = [minutes(), new AbortController()];
    const running = node(time).run(stopping.signal);
    await pay();
    await time.pass();
    expect(await sizes()).toEqual([2]);
    await time.pass();
    expect(await sizes()).toEqual([2]);
    await pay();
    stopping.abort();
    await running;
    expect(await sizes()).toEqual([2, 6]);
  });

  it('leaves the heads to the node that has the lease', async () => {
    const [first, second, stopping] = [minutes(), minutes(), new AbortController()];
    const one = node({ ...first, owner: 'one' }).run(stopping.signal);
    await first.waits();
    await pay();
    const stopped = AbortSignal.abort();
    await node({ ...second, owner: 'two' }).run(stopped);
    expect(await types()).toEqual([]);
    stopping.abort();
    await one;
    expect(await sizes()).toEqual([2]);
  });

  it('logs one alarm if the log does not match its head, and continues', async () => {
    await pay();
    await node().round();
    const database = new Database(join(directory, 'log.sqlite'));
    database.prepare('DELETE FROM events WHERE position = 2').run();
    database.close();
    const lines: Record<string, unknown>[] = [];
    const logger = pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line)) });
    const [time, stopping] = [minutes(), new AbortController()];
    const running = node({ ...time, logger }).run(stopping.signal);
    await time.pass();
    await time.pass();
    stopping.abort();
    await running;
    expect(lines.filter(({ alarm }) => alarm === 'log_head_differs')).toHaveLength(1);
    expect(await types()).toHaveLength(2);
  });
});

const bound = (log: EventLog): LogHeadsPorts['log'] => ({
  append: (append) => log.append(append),
  read: (stream, options) => log.read(stream, options),
  readAll: (from, filter) => log.readAll(from, filter),
});
