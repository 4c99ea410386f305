import { mkdtemp, open, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Clock, systemClock } from '../../src/runtime/instant.ts';
import { freeBytes } from '../../src/storage/disk-space.ts';
import type { Count, Find } from '../../src/storage/read-store.ts';
import { Database, type Statement } from '../../src/storage/sqlite/driver.ts';
import { countSql, createTableSql, findSql, type Query } from '../../src/storage/sqlite/find-query.ts';
import { LogWatch } from '../../src/storage/sqlite/log-watch.ts';
import { openSqlite, openSqliteLog, type SqliteStorage } from '../../src/storage/sqlite/open.ts';
import { StorageFailure } from '../../src/storage/storage-failure.ts';
import { eventLogConformance } from './event-log.conformance.ts';
import { payloadStoreConformance } from './payload-store.conformance.ts';
import { readStoreConformance } from './read-store.conformance.ts';
import { freshStream, notes } from './samples.ts';

const temporaryDirectory = () => mkdtemp(join(tmpdir(), 'docket-storage-'));

/** One folder, opened as often as a suite needs: each opening is what another process would have. */
async function openShared(clock: Clock = systemClock) {
  const directory = await temporaryDirectory();
  const opened: SqliteStorage[] = [];
  const another = (): SqliteStorage => {
    const storage = openSqlite({ directory, clock });
    opened.push(storage);
    return storage;
  };
  const close = async () => {
    for (const storage of opened) await storage.close();
    await rm(directory, { recursive: true });
  };
  return { directory, storage: another(), another, close };
}

eventLogConformance('SQLite', async () => {
  const { storage, another, close } = await openShared();
  return { log: storage.log, another: async () => another().log, close };
});

payloadStoreConformance('SQLite', async (clock) => {
  const { directory, storage, another, close } = await openShared(clock);
  return {
    payloads: storage.payloads,
    another: async () => another().payloads,
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

readStoreConformance('SQLite', async () => {
  const { storage, another, close } = await openShared();
  return { readStore: storage.readStore, another: async () => another().readStore, close };
});

describe('SQLite storage', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await temporaryDirectory();
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('keeps its files private', async () => {
    const data = join(directory, 'data');
    const storage = openSqlite({ directory: data });
    await storage.log.append(notes(freshStream(), ['a']));
    expect((await stat(data)).mode & 0o777).toBe(0o700);
    const files = await readdir(data);
    expect(files).toContain('log.sqlite-wal');
    for (const file of files) expect((await stat(join(data, file))).mode & 0o777).toBe(0o600);
    await storage.close();
  });

  it('numbers events without gaps, regardless of rejections in between', async () => {
    const storage = openSqlite({ directory });
    const streams = Array.from({ length: 30 }, () => freshStream());
    const appends = streams.flatMap((stream) => [1, 2].map(() => storage.log.append(notes(stream, ['a', 'b']))));
    await Promise.allSettled(appends);
    const positions: string[] = [];
    for await (const { events } of storage.log.readAll(null, { by: 'all' })) {
      positions.push(...events.map(({ position }) => position));
    }
    expect(positions).toEqual(Array.from({ length: 60 }, (_, index) => String(index + 1).padStart(20, '0')));
    await storage.close();
  });

  it('finds everything after it was closed with writes in flight', async () => {
    const storage = openSqlite({ directory });
    const stream = freshStream();
    const appending = storage.log.append(notes(stream, ['a']));
    const putting = storage.payloads.put('docket', Buffer.from('text'));
    await new Promise((resolve) => setImmediate(resolve));
    await storage.close();
    await appending;
    const again = openSqlite({ directory });
    expect(await again.log.read(stream)).toHaveLength(1);
    expect((await again.payloads.get(await putting))?.toString()).toBe('text');
    await again.close();
  });

  it('rejects everything once it is closed', async () => {
    const storage = openSqlite({ directory });
    await storage.close();
    await storage.close();
    const closed = { code: 'storage_closed' };
    await expect(storage.log.append(notes(freshStream(), ['a']))).rejects.toMatchObject(closed);
    await expect(storage.log.read('any')).rejects.toMatchObject(closed);
    await expect(storage.log.check()).rejects.toMatchObject(closed);
    await expect(storage.payloads.put('docket', Buffer.of(1))).rejects.toMatchObject(closed);
    await expect(storage.readStore.check()).rejects.toMatchObject(closed);
  });

  it('removes deleted content from its write-ahead log, even if a process that died deleted it', async () => {
    const storage = openSqlite({ directory });
    const kept = await storage.payloads.put('answer', Buffer.from('kept'));
    const name = await storage.payloads.put('answer', Buffer.from('secret'));
    const inWriteAheadLog = async () => (await stat(join(directory, 'log.sqlite-wal'))).size;
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const removing = async (removed: string, empties: boolean) => {
      await storage.payloads.remove(removed);
      expect(vi.getTimerCount()).toBe(empties ? 1 : 0);
      if (!empties) return;
      expect(await inWriteAheadLog()).toBeGreaterThan(0);
      vi.runAllTimers();
      await expect.poll(inWriteAheadLog, { interval: 1 }).toBe(0);
    };
    try {
      // A starting process does not know the state of the write-ahead log.
      await removing('0'.repeat(64), true);
      // Removing a missing blob leaves nothing behind, and no caller may wait for a checkpoint.
      await removing('0'.repeat(64), false);
      await removing(name, true);
      await removing(name, false);
      await removing(kept, true);
    } finally {
      vi.useRealTimers();
      await storage.close();
    }
  });

  it('misses no commit between a check of the log and the wait for the next one', async () => {
    const { file, log, payloads, cells } = openSqliteLog(join(directory, 'log.sqlite'));
    const watch = new LogWatch(file);
    const mark = watch.mark();
    watch.wake();
    await watch.changed(mark, undefined);
    const waiting = watch.changed(watch.mark(), undefined);
    const still = Symbol();
    expect(await Promise.race([waiting, new Promise((resolve) => setTimeout(resolve, 30, still))])).toBe(still);
    watch.wake();
    await waiting;
    for (const port of [log, payloads, cells]) await port.close();
  });

  it('ends a waiting subscription when it is closed', async () => {
    const storage = openSqlite({ directory });
    const subscribed = (async () => {
      for await (const _ of storage.log.subscribe(null, { by: 'all' }));
    })();
    const ended = expect(subscribed).rejects.toMatchObject({ code: 'storage_closed' });
    await new Promise((resolve) => setTimeout(resolve, 20));
    await storage.close();
    await ended;
  });

  it('rejects data that a newer version wrote, and says so', () => {
    openSqliteLog(join(directory, 'log.sqlite')).file.database.pragma('user_version = 99');
    expect(() => openSqlite({ directory })).toThrow(StorageFailure);
    expect(() => openSqlite({ directory })).toThrow(/schema version 99/);
  });

  it('rejects a file that is not a database, and says so', async () => {
    await writeFile(join(directory, 'log.sqlite'), 'no database '.repeat(1000));
    expect(() => openSqlite({ directory })).toThrow(expect.objectContaining({ code: 'storage_corrupt' }));
  });

  describe('damaged read models', () => {
    const written = async (stream: string) => {
      const storage = openSqlite({ directory });
      await storage.log.append(notes(stream, ['a']));
      await storage.readStore.prepare('notes', 1, [{ name: 'notes', indexes: [] }]);
      for (let n = 0; n < 200; n++) {
        const write = { collection: 'notes', id: `n${n}`, document: { text: 'x'.repeat(1_000) }, position: `${n}` };
        await storage.readStore.commit({ projection: 'notes', generation: 1, writes: [write], position: `${n}` });
      }
      await storage.close();
      return join(directory, 'read.sqlite');
    };

    it.each([
      ['cut off', async (path: string) => truncate(path, 8_192)],
      ['overwritten', async (path: string) => writeFile(path, 'no database '.repeat(1_000))],
    ])('are set aside and rebuilt: %s', async (_, damage) => {
      const stream = freshStream();
      const path = await written(stream);
      await damage(path);
      const storage = openSqlite({ directory });
      expect(await storage.log.read(stream)).toHaveLength(1);
      expect(await storage.readStore.checkpoint('notes', 1)).toBeNull();
      await storage.readStore.prepare('notes', 1, [{ name: 'notes', indexes: [] }]);
      expect((await stat(`${path}.damaged`)).size).toBeGreaterThan(0);
      await storage.close();
    });

    it('are distinguished from a damaged log, if the damage is found later', async () => {
      const path = await written(freshStream());
      const { size } = await stat(path);
      const file = await open(path, 'r+');
      for (let at = 12 * 4_096; at < size; at += 4_096) await file.write(Buffer.alloc(4_096, 9), 0, 4_096, at);
      await file.close();
      const storage = openSqlite({ directory });
      await expect(storage.readStore.find({ collection: 'notes', limit: 500 }, 1)).rejects.toMatchObject({
        code: 'read_models_corrupt',
        message: expect.stringContaining('read.sqlite'),
        hint: expect.stringContaining('rebuilds them from the log'),
      });
      await storage.close();
    });
  });

  it('recognizes a full disk, loses nothing because of it, and continues once there is space', async () => {
    const { file, log, payloads, cells } = openSqliteLog(join(directory, 'log.sqlite'));
    const before = freshStream();
    await log.append(notes(before, ['a']));
    const pages = Number(file.database.pragma('page_count', { simple: true }));
    file.database.pragma(`max_page_count = ${pages + 4}`);
    const large = notes(freshStream(), ['x'.repeat(100_000)]);
    const full = await log.append(large).catch((error: unknown) => error);
    expect(full).toBeInstanceOf(StorageFailure);
    expect(full).toMatchObject({
      code: 'storage_full',
      hint: expect.stringMatching(/free space/i),
      nothingWritten: true,
    });
    expect(await log.read(before)).toHaveLength(1);
    expect(await log.read(large.stream)).toEqual([]);
    file.database.pragma('max_page_count = 1000000');
    expect(await log.append(large)).toMatchObject({ revision: 0 });
    for (const port of [log, payloads, cells]) await port.close();
  });

  it('recognizes a database that cannot be written', async () => {
    const { file, log, payloads, cells } = openSqliteLog(join(directory, 'log.sqlite'));
    file.database.pragma('query_only = ON');
    const readOnly = { code: 'storage_read_only', nothingWritten: true };
    await expect(log.append(notes(freshStream(), ['a']))).rejects.toMatchObject(readOnly);
    await expect(payloads.put('docket', Buffer.of(1))).rejects.toMatchObject({ code: 'storage_read_only' });
    expect(await log.head()).toBeNull();
    for (const port of [log, payloads, cells]) await port.close();
  });

  describe('a commit that fails', () => {
    const committing = async (fault: (commit: () => void) => void) => {
      const prepare = Database.prototype.prepare;
      vi.spyOn(Database.prototype, 'prepare').mockImplementation(function (this: Database, sql: string) {
        const statement = prepare.call(this, sql);
        if (sql !== 'COMMIT') return statement;
        return { run: () => fault(() => (statement as Statement<[]>).run()) } as unknown as Statement;
      });
      try {
        return openSqliteLog(join(directory, 'log.sqlite'));
      } finally {
        vi.restoreAllMocks();
      }
    };

    it.each([
      ['SQLITE_FULL', true, 'storage_full'],
      ['SQLITE_IOERR_FSYNC', false, 'storage_io_error'],
      ['SQLITE_IOERR_WRITE', false, 'storage_io_error'],
      ['SQLITE_IOERR_SHMSIZE', false, 'storage_full'],
      ['SQLITE_READONLY', false, 'storage_read_only'],
    ])('with %s is certain to have written nothing: %s', async (code, nothingWritten, told) => {
      const { log, payloads, cells } = await committing(() => {
        throw new Database.SqliteError('it failed', code);
      });
      const append = notes(freshStream(), ['a']);
      const failure = await log.append(append).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(StorageFailure);
      expect(failure).toMatchObject({ code: told, nothingWritten });
      expect(await log.read(append.stream)).toEqual([]);
      for (const port of [log, payloads, cells]) await port.close();
    });

    it('after it has reached the disk is repeated, and was already there', async () => {
      const { log, payloads, cells } = await committing((commit) => {
        commit();
        throw new Database.SqliteError('it failed', 'SQLITE_IOERR_FSYNC');
      });
      const append = notes(freshStream(), ['a']);
      await expect(log.append(append)).rejects.toMatchObject({ nothingWritten: false });
      expect(await log.read(append.stream)).toHaveLength(1);
      for (const port of [log, payloads, cells]) await port.close();
    });
  });

  it('is certain to have written nothing while another process held the database, or after it was closed', async () => {
    const { file, log, payloads, cells } = openSqliteLog(join(directory, 'log.sqlite'));
    const other = new Database(join(directory, 'log.sqlite'));
    other.exec('BEGIN IMMEDIATE');
    const busy = { code: 'storage_busy', nothingWritten: true };
    expect(() => file.transactionNow(() => undefined)).toThrow(expect.objectContaining(busy));
    other.close();
    for (const port of [log, payloads, cells]) await port.close();
    const closed = { code: 'storage_closed', nothingWritten: true };
    await expect(log.append(notes(freshStream(), ['a']))).rejects.toMatchObject(closed);
    expect(() => file.transactionNow(() => undefined)).toThrow(expect.objectContaining(closed));
  });

  describe('the check whether it can be written', () => {
    const full = { code: 'storage_full' };
    const versionOf = async () => {
      const looking = new Database(join(directory, 'log.sqlite'), { readonly: true });
      const version = () => looking.pragma('data_version', { simple: true });
      return { version, close: () => looking.close() };
    };

    it('writes nothing while everything works', async () => {
      const { log, payloads, cells } = openSqliteLog(join(directory, 'log.sqlite'));
      await log.append(notes(freshStream(), ['a']));
      const { version, close } = await versionOf();
      const before = version();
      for (let look = 0; look < 3; look++) await log.check();
      expect(version()).toBe(before);
      close();
      for (const port of [log, payloads, cells]) await port.close();
    });

    it('fails from a failed write until one succeeds, and adds nothing to the log', async () => {
      const { file, log, payloads, cells } = openSqliteLog(join(directory, 'log.sqlite'));
      await log.append(notes(freshStream(), ['a']));
      const head = await log.head();
      const pages = Number(file.database.pragma('page_count', { simple: true }));
      file.database.pragma(`max_page_count = ${pages}`);
      await expect(log.append(notes(freshStream(), ['x'.repeat(100_000)]))).rejects.toMatchObject(full);
      file.database.pragma('query_only = ON');
      await expect(log.check()).rejects.toMatchObject({ code: 'storage_read_only' });
      await expect(log.check()).rejects.toMatchObject({ code: 'storage_read_only' });
      file.database.pragma('query_only = OFF');
      await log.check();
      const { version, close } = await versionOf();
      const before = version();
      await log.check();
      expect(version()).toBe(before);
      close();
      expect(await log.head()).toBe(head);
      expect(file.database.pragma('page_count', { simple: true })).toBe(pages);
      for (const port of [log, payloads, cells]) await port.close();
    });

    it('accepts any write that has succeeded since', async () => {
      const { file, log, payloads, cells } = openSqliteLog(join(directory, 'log.sqlite'));
      file.database.pragma('query_only = ON');
      await expect(payloads.put('docket', Buffer.of(1))).rejects.toMatchObject({ code: 'storage_read_only' });
      await expect(log.check()).rejects.toMatchObject({ code: 'storage_read_only' });
      file.database.pragma('query_only = OFF');
      await cells.compareAndSet('cell', 0, { n: 1 });
      file.database.pragma('query_only = ON');
      await log.check();
      for (const port of [log, payloads, cells]) await port.close();
    });

    it('fails if the file is gone, and knows how much space there is', async () => {
      const storage = openSqlite({ directory });
      const free = await storage.freeBytes();
      expect(free).toBeGreaterThan(0);
      await storage.log.check();
      await rm(join(directory, 'log.sqlite'));
      await expect(storage.log.check()).rejects.toThrow(/log\.sqlite/);
      await storage.close();
      expect(await freeBytes(join(directory, 'nowhere'))).toBeNull();
    });
  });

  it('gives a new subscription what another process has just written before it goes live', async () => {
    const storage = openSqlite({ directory });
    const elsewhere = openSqlite({ directory });
    const first = storage.log.subscribe(null, { by: 'all' })[Symbol.asyncIterator]();
    expect((await first.next()).value).toMatchObject({ events: [], live: true });
    await elsewhere.log.append(notes(freshStream(), ['a']));
    const second = storage.log.subscribe(null, { by: 'all' })[Symbol.asyncIterator]();
    expect((await second.next()).value.events).toHaveLength(1);
    for (const one of [first, second]) await one.return?.();
    await elsewhere.close();
    await storage.close();
  });

  it('waits for another process that writes, without stopping everything else', async () => {
    const storage = openSqlite({ directory });
    const writer = new Database(join(directory, 'log.sqlite'));
    writer.exec('BEGIN IMMEDIATE');
    const appending = storage.log.append(notes(freshStream(), ['a']));
    const putting = storage.payloads.put('docket', Buffer.of(1));
    let isOver = false;
    void Promise.race([appending, putting]).finally(() => {
      isOver = true;
    });
    // A write that waits by blocking gives up before the process has had so many turns.
    await new Promise((resolve) => setTimeout(resolve, 300));
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(isOver).toBe(false);
    writer.exec('COMMIT');
    writer.close();
    expect(await appending).toMatchObject({ revision: 0 });
    expect(await putting).toHaveLength(64);
    await storage.close();
  });

  it('removes bytes from the files too', async () => {
    const { readFile } = await import('node:fs/promises');
    const storage = openSqlite({ directory });
    const secret = 'alien registration number';
    const blob = await storage.payloads.put('docket', Buffer.from(secret));
    await storage.payloads.remove(blob);
    await storage.close();
    for (const file of await readdir(directory)) {
      expect((await readFile(join(directory, file))).includes(secret)).toBe(false);
    }
  });

  describe('searches', () => {
    const spec = { name: 'filings', indexes: [['caseId', 'availableAt'], ['wallet']] };
    const plan = (query: Query): string => {
      const database = new Database(':memory:');
      for (const statement of createTableSql(spec, 1)) database.exec(statement);
      const rows = database.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${query.sql}`);
      const details = rows.all(...query.parameters).map(({ detail }) => detail);
      database.close();
      return details.join('; ');
    };
    const matching: Count = {
      collection: 'filings',
      equals: { caseId: 'c' },
      range: { field: 'availableAt', above: 't1', upTo: 't2' },
    };
    const delta: Find = {
      ...matching,
      order: { field: 'availableAt', direction: 'ascending' },
      limit: 10,
    };

    it.each([
      ['the delta', findSql(delta, 1)],
      ['the delta, newest first', findSql({ ...delta, order: { field: 'availableAt', direction: 'descending' } }, 1)],
      ['a later page', findSql({ ...delta, after: { value: 't1', id: 'f' } }, 1)],
      ['its count', countSql(matching, 1)],
      ['its count up to a limit', countSql({ ...matching, limit: 10 }, 1)],
    ])('walk the index for %s', (_, query) => {
      const steps = plan(query);
      expect(steps).toMatch(
        /SEARCH filings@1 USING (COVERING )?INDEX filings@1:caseId,availableAt \(<expr>=\? AND <expr>/,
      );
      expect(steps).not.toMatch(/TEMP B-TREE|SCAN filings/);
    });

    it('walk the index for one field, ordered by id without sorting', () => {
      const steps = plan(findSql({ collection: 'filings', equals: { wallet: 'w' }, after: { id: 'a' }, limit: 5 }, 1));
      expect(steps).toMatch(/INDEX filings@1:wallet \(<expr>=\? AND id>\?\)/);
      expect(steps).not.toMatch(/TEMP B-TREE|SCAN/);
    });
  });
});
