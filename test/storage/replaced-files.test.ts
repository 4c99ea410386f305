/** Given an open storage, when one of its files is deleted or replaced, then nothing more is acknowledged. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqlite, type SqliteStorage } from '../../src/storage/sqlite/open.ts';
import { FOREIGN_PROGRAMS } from '../support/foreign-programs.ts';
import { freshStream, notes } from './samples.ts';

const entry = new URL('../../dist/storage/sqlite/log-thread-entry.js', import.meta.url);
if (!existsSync(entry)) throw new Error('this test runs the built project: npm run build first');

/** A copy with `fs` would itself break the rule under test: this process has the database open. */
const copy = (from: string, to: string) => promisify(execFile)('cp', ['-r', from, to]);

const ACCIDENTS = {
  deleted: (path: string) => rm(path),
  'replaced by its own copy': async (path: string) => {
    await copy(path, `${path}.copy`);
    await rename(`${path}.copy`, path);
  },
};

const WRITERS = [
  { writer: 'the main thread', logThread: false },
  { writer: 'the thread of the log', logThread: { entry, fewestWrites: 1 } },
] as const;

let folder: string;
let storage: SqliteStorage;
const alarms: unknown[] = [];
const logger = { debug: () => undefined, error: (alarm: unknown) => alarms.push(alarm) };

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'docket-replaced-'));
  alarms.length = 0;
});
afterEach(async () => {
  await storage.close();
  await rm(folder, { recursive: true, force: true });
});

async function open(logThread: (typeof WRITERS)[number]['logThread'] = false): Promise<string> {
  const directory = join(folder, 'data');
  storage = openSqlite({ directory, logger, logThread });
  await storage.logThreadStarted;
  await storage.log.append(notes(freshStream(), ['before']));
  await storage.readStore.increment('before', 1, 10, 0, 1_000_000);
  return directory;
}
const count = () => storage.readStore.increment('after', 1, 10, 0, 1_000_000);

describe.each(WRITERS)('the event log, written by $writer', ({ logThread }) => {
  it.each(
    ['log.sqlite', 'log.sqlite-wal', 'log.sqlite-shm'].flatMap((file) =>
      Object.entries(ACCIDENTS).map(([what, happen]) => ({ file, what, happen })),
    ),
  )('acknowledges nothing once $file is $what, and says so once', async ({ file, happen }) => {
    const directory = await open(logThread);
    await happen(join(directory, file));
    // The check before the write detects it: the caller knows that nothing was written.
    await expect(storage.log.append(notes(freshStream(), ['a']))).rejects.toMatchObject({
      code: 'storage_replaced',
      message: expect.stringContaining(file),
      hint: expect.stringMatching(/Copy the -wal files/),
      nothingWritten: true,
    });
    // From then on no write is tried.
    const refused = { code: 'storage_replaced', nothingWritten: true };
    await expect(storage.log.append(notes(freshStream(), ['b']))).rejects.toMatchObject(refused);
    await expect(storage.payloads.put('docket', Buffer.of(1))).rejects.toMatchObject(refused);
    // A check is not a write.
    const { code } = refused;
    for (const part of [storage.log, storage.payloads]) await expect(part.check()).rejects.toMatchObject({ code });
    await expect(storage.log.head()).rejects.toMatchObject(refused);
    expect(alarms).toEqual([expect.objectContaining({ alarm: 'storage_replaced', reason: expect.any(String) })]);
    // The read models have separate files.
    await storage.readStore.check();
  });
});

describe('the read models', () => {
  it.each(
    ['read.sqlite', 'read.sqlite-wal', 'read.sqlite-shm'].flatMap((file) =>
      Object.entries(ACCIDENTS).map(([what, happen]) => ({ file, what, happen })),
    ),
  )('are not used any more once $file is $what', async ({ file, happen }) => {
    const directory = await open();
    await happen(join(directory, file));
    const refused = { code: 'storage_replaced', message: expect.stringContaining(file) };
    await expect(count()).rejects.toMatchObject(refused);
    await expect(storage.readStore.find({ collection: 'cases', limit: 1 })).rejects.toMatchObject(refused);
    await expect(storage.readStore.check()).rejects.toMatchObject(refused);
    await storage.log.check();
  });
});

it('a data folder that is moved away, with a copy in its place, is detected by the next check', async () => {
  const directory = await open();
  await rename(directory, `${directory}.old`);
  await copy(`${directory}.old`, directory);
  for (const part of [storage.log, storage.payloads, storage.readStore]) {
    await expect(part.check()).rejects.toMatchObject({ code: 'storage_replaced' });
  }
  await expect(count()).rejects.toMatchObject({ code: 'storage_replaced' });
});

it('a data folder that was moved and put back is the same as before', async () => {
  const directory = await open();
  await rename(directory, `${directory}.old`);
  await rename(`${directory}.old`, directory);
  for (const part of [storage.log, storage.payloads, storage.readStore]) await part.check();
  await storage.log.append(notes(freshStream(), ['after']));
});

it('a write-ahead log that was deleted is written back when the storage is closed: nothing recorded is lost', async () => {
  const directory = await open();
  const stream = freshStream();
  await storage.log.append(notes(stream, ['kept']));
  await rm(join(directory, 'log.sqlite-wal'));
  await expect(storage.log.check()).rejects.toMatchObject({ code: 'storage_replaced' });
  await storage.close();
  storage = openSqlite({ directory });
  expect(await storage.log.read(stream)).toHaveLength(1);
});

it('closing does not touch what has replaced its files', async () => {
  const directory = await open();
  await rename(directory, `${directory}.old`);
  const other = openSqlite({ directory });
  const stream = freshStream();
  await other.log.append(notes(stream, ['another service']));
  await storage.close();
  for (const end of ['', '-wal', '-shm']) expect(existsSync(join(directory, `log.sqlite${end}`))).toBe(true);
  await other.log.check();
  expect(await other.log.read(stream)).toHaveLength(1);
  await other.close();
});

describe.each(WRITERS)('a log that is overwritten in place, written by $writer', ({ logThread }) => {
  const [{ sql }] = FOREIGN_PROGRAMS as [(typeof FOREIGN_PROGRAMS)[number]];
  const overwritten = { code: 'storage_replaced', message: expect.stringContaining('was overwritten') };
  /** More pages than the write-ahead log of the next append will hold. */
  const fill = async () => {
    for (let n = 0; n < 5; n++) await storage.payloads.put('docket', randomBytes(50_000));
    await storage.log.append(notes(freshStream(), ['more']));
  };
  /** Then the database file has everything, and the write-ahead log nothing. */
  const checkpoint = (path: string) => sql(path, 'PRAGMA wal_checkpoint(TRUNCATE)');

  it('with an older backup: the next append is not acknowledged', async () => {
    const path = join(await open(logThread), 'log.sqlite');
    await fill();
    await sql(path, `VACUUM INTO '${folder}/backup.sqlite'`);
    await fill();
    await checkpoint(path);
    await storage.log.check();
    await copy(join(folder, 'backup.sqlite'), path);
    await expect(storage.log.append(notes(freshStream(), ['lost']))).rejects.toMatchObject(overwritten);
    await expect(storage.log.check()).rejects.toMatchObject(overwritten);
    expect(alarms).toHaveLength(1);
  });

  it('with the log of another service, of the same size: the next check reports it', async () => {
    const path = join(await open(logThread), 'log.sqlite');
    const other = join(folder, 'other');
    const another = openSqlite({ directory: other });
    await another.log.append(notes(freshStream(), ['another service']));
    await another.close();
    await checkpoint(path);
    await storage.log.check();
    await copy(join(other, 'log.sqlite'), path);
    await expect(storage.log.check()).rejects.toMatchObject(overwritten);
    await expect(storage.log.append(notes(freshStream(), ['lost']))).rejects.toMatchObject({ nothingWritten: true });
  });

  it('while every page of it is in the write-ahead log: nothing is lost, so nothing stops', async () => {
    const directory = await open(logThread);
    const path = join(directory, 'log.sqlite');
    await copy(join(directory, 'read.sqlite'), path);
    const stream = freshStream();
    await storage.log.append(notes(stream, ['after']));
    await storage.log.check();
    // What a `kill -9` would leave.
    await copy(directory, join(folder, 'left'));
    const left = openSqlite({ directory: join(folder, 'left') });
    expect(await left.log.read(stream)).toHaveLength(1);
    await left.close();
    expect((await sql(join(folder, 'left', 'log.sqlite'), 'PRAGMA integrity_check')).trim()).toBe('ok');
    expect(alarms).toEqual([]);
  });

  it('is not confused with one that another program has checkpointed, vacuumed and holds', async () => {
    const path = join(await open(logThread), 'log.sqlite');
    await fill();
    await checkpoint(path);
    await storage.log.check();
    const before = statSync(path).size;
    await sql(path, 'DELETE FROM payloads');
    await sql(path, 'VACUUM');
    await checkpoint(path);
    expect(statSync(path).size).toBeLessThan(before);
    await storage.log.append(notes(freshStream(), ['after']));
    await storage.log.check();
    expect(alarms).toEqual([]);
  });
});
