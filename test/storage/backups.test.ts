/** What docs/operating.md says about backups, with the programs that it names. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqlite, type SqliteStorage } from '../../src/storage/sqlite/open.ts';
import { FOREIGN_PROGRAMS } from '../support/foreign-programs.ts';
import { freshStream, notes } from './samples.ts';

const run = promisify(execFile);
const cp = (from: string, to: string) => run('cp', [from, to]);

let folder: string;
let storage: SqliteStorage;
let written: number;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'docket-backup-'));
  await mkdir(join(folder, 'backup'));
  storage = openSqlite({ directory: join(folder, 'data') });
  written = 0;
  await append(40);
});
afterEach(async () => {
  await storage.close();
  await rm(folder, { recursive: true, force: true });
});

async function append(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await storage.log.append(notes(freshStream(), [`${++written} ${'x'.repeat(2_000)}`]));
}
const log = () => join(folder, 'data', 'log.sqlite');
const backup = () => join(folder, 'backup', 'log.sqlite');

/** How many events the service finds in a folder. */
async function eventsIn(directory: string): Promise<number> {
  const opened = openSqlite({ directory });
  try {
    return await opened.log.countAfter(null, 1_000_000);
  } finally {
    await opened.close();
  }
}

describe.each([
  ['VACUUM INTO', () => run('sqlite3', [log(), `VACUUM INTO '${backup()}'`])],
  ['.backup', () => run('sqlite3', [log(), `.backup '${backup()}'`])],
])('%s of a log in use', (_, save) => {
  it('has every event that was acknowledged before it, and the service starts from it', async () => {
    const saving = save();
    await append(20);
    await saving;
    await append(5);
    const found = await eventsIn(join(folder, 'backup'));
    expect(found).toBeGreaterThanOrEqual(40);
    expect(found).toBeLessThanOrEqual(60);
  });
});

it('a copy of only log.sqlite, made while it is in use, is not a backup', async () => {
  await cp(log(), backup());
  const found = await FOREIGN_PROGRAMS[0]!.sql(backup(), 'SELECT count(*) FROM events').catch(() => '0');
  expect(Number(found)).toBeLessThan(written);
});

it('a -wal of another log damages a restored one: restore into an empty folder', async () => {
  await run('sqlite3', [log(), `VACUUM INTO '${backup()}'`]);
  await append(40);
  const restored = join(folder, 'restored');
  await mkdir(restored);
  // What a killed process leaves behind.
  await cp(`${log()}-wal`, join(restored, 'log.sqlite-wal'));
  await cp(backup(), join(restored, 'log.sqlite'));
  const mixed = await FOREIGN_PROGRAMS[0]!
    .sql(join(restored, 'log.sqlite'), 'PRAGMA integrity_check; SELECT count(*) FROM events')
    .catch(() => 'damaged');
  expect(mixed).not.toBe('ok\n40');
  await rm(restored, { recursive: true });
  await mkdir(restored);
  await cp(backup(), join(restored, 'log.sqlite'));
  expect(await eventsIn(restored)).toBe(40);
});
