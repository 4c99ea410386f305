/** The log committed in a thread. Node cannot load TypeScript into one, so the thread itself runs the built project. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, MICROS_PER_SECOND, systemClock } from '../../../src/runtime/instant.ts';
import { RevisionConflict } from '../../../src/storage/event-log.ts';
import { Database } from '../../../src/storage/sqlite/driver.ts';
import { outcomeReceived, outcomeToSend } from '../../../src/storage/sqlite/log-thread-messages.ts';
import { openSqlite, openSqliteLog } from '../../../src/storage/sqlite/open.ts';
import { StorageFailure } from '../../../src/storage/storage-failure.ts';
import { eventLogConformance } from '../event-log.conformance.ts';
import { payloadStoreConformance } from '../payload-store.conformance.ts';
import { freshStream, notes } from '../samples.ts';

const BUILT = new URL('../../../dist/storage/sqlite/log-thread-entry.js', import.meta.url);
if (!existsSync(fileURLToPath(BUILT))) throw new Error('this test runs the built project: npm run build first');

type Opened = ReturnType<typeof openSqliteLog>;

/** Opens the log with a thread that has started and accepts every write, including single ones. */
async function opened(directory: string, clock: Clock = systemClock, entry = BUILT): Promise<Opened> {
  const storage = openSqliteLog(join(directory, 'log.sqlite'), clock, { logThread: { entry, fewestWrites: 1 } });
  await storage.thread?.started;
  return storage;
}

const closed = async ({ log, payloads, cells }: Opened) => {
  for (const port of [log, payloads, cells]) await port.close();
};

async function openShared(clock?: Clock) {
  const directory = await mkdtemp(join(tmpdir(), 'docket-thread-'));
  const all: Opened[] = [];
  const another = async () => {
    const storage = await opened(directory, clock);
    all.push(storage);
    return storage;
  };
  const close = async () => {
    for (const storage of all) await closed(storage);
    await rm(directory, { recursive: true });
  };
  return { directory, storage: await another(), another, close };
}

eventLogConformance('SQLite, committed in a thread', async () => {
  const { storage, another, close } = await openShared();
  return { log: storage.log, another: async () => (await another()).log, close };
});

payloadStoreConformance('SQLite, committed in a thread', async (clock) => {
  const { directory, storage, another, close } = await openShared(clock);
  return {
    payloads: storage.payloads,
    another: async () => (await another()).payloads,
    async corrupt(name) {
      const database = new Database(join(directory, 'log.sqlite'));
      const bytes = database.prepare<[string], Buffer>('SELECT bytes FROM payloads WHERE name = ?').pluck().get(name)!;
      bytes.writeUInt8(bytes.readUInt8(20) ^ 1, 20);
      database.prepare('UPDATE payloads SET bytes = ? WHERE name = ?').run(bytes, name);
      database.close();
    },
    close,
  };
});

describe('a log that is committed in a thread', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'docket-thread-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  const changesHere = ({ file }: Opened) =>
    file.database.prepare<[], number>('SELECT total_changes()').pluck().get() ?? Number.NaN;

  it('is written only by the thread, and cells, too, are set once for each version', async () => {
    const storage = await opened(directory);
    const before = changesHere(storage);
    const stream = freshStream();
    await storage.log.append(notes(stream, ['a', 'b']));
    const blob = await storage.payloads.put('docket', Buffer.from('text'));
    expect(await storage.cells.compareAndSet('cell', 0, { n: 1 })).toBe(true);
    expect(await storage.cells.compareAndSet('cell', 0, { n: 2 })).toBe(false);
    expect(await storage.cells.compareAndSet('cell', 1, { n: 3 })).toBe(true);
    expect(await storage.log.read(stream)).toHaveLength(2);
    expect((await storage.payloads.get(blob))?.toString()).toBe('text');
    expect(await storage.cells.get('cell')).toEqual({ version: 2, value: { n: 3 } });
    expect(changesHere(storage)).toBe(before);
    await closed(storage);
  });

  it('rejects with the same errors', async () => {
    const storage = await opened(directory);
    const stream = freshStream();
    await storage.log.append(notes(stream, ['a']));
    const conflict = await storage.log.append(notes(stream, ['other'])).catch((error: unknown) => error);
    expect(conflict).toBeInstanceOf(RevisionConflict);
    expect(conflict).toMatchObject({ stream, expected: -1, actual: 0 });
    storage.file.database.exec('DROP TABLE payloads');
    const gone = await storage.payloads.put('docket', Buffer.of(1)).catch((error: unknown) => error);
    expect(gone).toBeInstanceOf(Error);
    expect((gone as Error).message).toMatch(/no such table: (main\.)?payloads/);
    await closed(storage);
  });

  it('reports whether a write is certain to have written nothing', () => {
    for (const nothingWritten of [true, false]) {
      const failure = new StorageFailure('storage_full', 'no room', { nothingWritten });
      const received = outcomeReceived(structuredClone(outcomeToSend({ error: failure })));
      expect(received).toMatchObject({ error: { code: 'storage_full', message: 'no room', nothingWritten } });
      expect('error' in received && received.error).toBeInstanceOf(StorageFailure);
    }
  });

  it('is closed with all pending writes on disk', async () => {
    const storage = await opened(directory);
    const streams = Array.from({ length: 20 }, () => freshStream());
    const appending = streams.map((stream) => storage.log.append(notes(stream, ['a'])));
    await new Promise((resolve) => setImmediate(resolve));
    await closed(storage);
    await Promise.all(appending);
    const again = await opened(directory);
    for (const stream of streams) expect(await again.log.read(stream)).toHaveLength(1);
    await closed(again);
  });

  it('continues without the thread once that has ended, and repeats writes of unknown outcome', async () => {
    const entry = join(directory, 'ends.mjs');
    await writeFile(
      entry,
      `import { parentPort } from 'node:worker_threads';
       parentPort.on('message', () => { throw new Error('the disk is on fire'); });
       parentPort.postMessage('ready');`,
    );
    const logged: unknown[] = [];
    const logger = { debug: () => {}, error: (details: unknown) => logged.push(details) };
    const logThread = { entry: pathToFileURL(entry), fewestWrites: 1 };
    const storage = openSqliteLog(join(directory, 'log.sqlite'), systemClock, { logger, logThread });
    await storage.thread?.started;
    const append = notes(freshStream(), ['a']);
    const lost = await storage.log.append(append).catch((error: unknown) => error);
    expect(lost).toBeInstanceOf(StorageFailure);
    expect(lost).toMatchObject({
      code: 'storage_unavailable',
      hint: expect.stringMatching(/repeat the write/),
      nothingWritten: false,
    });
    expect(await storage.log.append(append)).toMatchObject({ revision: 0 });
    expect(logged).toEqual([{ err: expect.objectContaining({ message: 'the disk is on fire' }) }]);
    await closed(storage);
  });

  it('checkpoints the write-ahead log of the read store, so that no commit there has to', async () => {
    const storage = openSqlite({ directory, logThread: { entry: BUILT, fewestWrites: 1 } });
    const path = join(directory, 'read.sqlite');
    const before = (await stat(path)).size;
    const window = 60 * MICROS_PER_SECOND;
    // Wide enough for many pages, but fewer than would make a commit checkpoint them.
    const counters = Array.from({ length: 2_000 }, (_, index) => `${index} ${'x'.repeat(200)}`);
    await Promise.all(counters.map((id) => storage.readStore.increment(id, 1, 9, 1000, window)));
    expect((await stat(path)).size).toBe(before);
    const stream = freshStream();
    for (let turn = 0; (await stat(path)).size === before; turn++) {
      expect(turn).toBeLessThan(2_000);
      await storage.log.append(notes(`${stream}-${turn}`, ['a']));
    }
    expect((await storage.readStore.increment(counters[7] ?? '', 1, 9, 1000, window)).count).toBe(2);
    await storage.close();
  });

  it('leaves a single write to the main thread', async () => {
    const storage = openSqliteLog(join(directory, 'log.sqlite'), systemClock, { logThread: { entry: BUILT } });
    await storage.thread?.started;
    const before = changesHere(storage);
    await storage.log.append(notes(freshStream(), ['a']));
    const afterOne = changesHere(storage);
    expect(afterOne).toBeGreaterThan(before);
    await Promise.all([1, 2].map(() => storage.log.append(notes(freshStream(), ['a']))));
    expect(changesHere(storage)).toBe(afterOne);
    await closed(storage);
  });
});
