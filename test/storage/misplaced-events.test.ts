/**
 * Given a SQLite log in whose file somebody has put events at positions where the service never writes,
 * when the service reads the log, then every reader finds the same events, and reading ends.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Database } from '../../src/storage/sqlite/driver.ts';
import { openSqlite, type SqliteStorage } from '../../src/storage/sqlite/open.ts';
import { collect, notes } from './samples.ts';

const STREAM = 'operator-a';

let directory: string;
let storage: SqliteStorage;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'misplaced-'));
  storage = openSqlite({ directory });
  await storage.log.append(notes(STREAM, ['one', 'two', 'three']));
});
afterEach(async () => {
  await storage.close();
  rmSync(directory, { recursive: true, force: true });
});

/** The position is given as text: a number in JavaScript cannot say all of them. */
function move(revision: number, position: string): void {
  const database = new Database(join(directory, 'log.sqlite'));
  database
    .prepare('UPDATE events SET position = CAST(? AS INTEGER) WHERE stream = ? AND revision = ?')
    .run(position, STREAM, revision);
  database.close();
}

async function readEverywhere() {
  const { log } = storage;
  const leaves: number[] = [];
  for await (const { events } of log.readLeaves?.(null) ?? []) leaves.push(...events.map(({ revision }) => revision));
  const revisions = (events: readonly { readonly revision: number }[]) => events.map(({ revision }) => revision);
  return {
    stream: revisions(await log.read(STREAM)),
    all: revisions((await collect(log, null)).events),
    byType: revisions((await collect(log, null, { by: 'types', types: ['EventSkipped'] })).events),
    byStream: revisions((await collect(log, null, { by: 'streams', prefixes: [STREAM] })).events),
    leaves,
  };
}
const everywhere = (revisions: readonly number[]) => ({
  stream: revisions,
  all: revisions,
  byType: revisions,
  byStream: revisions,
  leaves: revisions,
});

it.each(['0', '-1', '-9223372036854775808', '9007199254740992', '9223372036854775807'])(
  'an event at position %s is visible to no reader',
  async (position) => {
    move(2, position);
    expect(await readEverywhere()).toEqual(everywhere([0, 1]));
    expect(await storage.log.head()).toMatch(/^0{19}2$/);
  },
);

it('an event far away is read by all, without a look at each position before it', async () => {
  move(2, `${2 ** 52}`);
  expect(await readEverywhere()).toEqual(everywhere([0, 1, 2]));
});

it('nothing is written where no reader would find it', async () => {
  move(2, '9007199254740992');
  const append = notes('operator-b', ['four']);
  await expect(storage.log.append(append)).rejects.toMatchObject({ code: 'storage_unavailable', nothingWritten: true });
  expect(await storage.log.read('operator-b')).toEqual([]);
});
