/** Raw reading of a SQLite log: given events in any number, when they are read in parts, then each is read once. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Database } from '../../src/storage/sqlite/driver.ts';
import { openSqliteLog } from '../../src/storage/sqlite/open.ts';
import { SqliteRawEvents } from '../../src/storage/sqlite/raw-events.ts';
import { notes } from './samples.ts';

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'docket-raw-'));
  path = join(directory, 'log.sqlite');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

async function written(count: number, text: string): Promise<SqliteRawEvents> {
  const { log, payloads, cells } = openSqliteLog(path);
  const texts = Array.from({ length: count }, () => text);
  for (let from = 0; from < count; from += 64) await log.append(notes(`docket-${from}`, texts.slice(from, from + 64)));
  await Promise.all([log.close(), payloads.close(), cells.close()]);
  return new SqliteRawEvents(path);
}

it.each([
  [1, 'short'],
  [63, 'short'],
  [64, 'short'],
  [65, 'short'],
  [256, 'short'],
  [257, 'short'],
  [512, 'short'],
  [200, 'long'.repeat(4_000)],
])('reads %i events, in batches and as rows of the same batches', async (count, text) => {
  const events = await written(count, text);
  const head = (await events.head())!;
  const positions: number[] = [];
  for await (const batch of events.read(null, head)) {
    expect([...events.rows(batch.after, batch.upTo)]).toEqual(batch.events);
    positions.push(...batch.events.map(({ position }) => Number(position)));
  }
  expect(positions).toEqual(Array.from({ length: count }, (_, index) => index + 1));
  await events.close();
});

it('stops at a position that numbers cannot tell from its neighbours', async () => {
  const events = await written(128, 'short');
  const database = new Database(path);
  database.exec('UPDATE events SET position = position + 9007199254740991');
  database.close();
  const read = async () => {
    for await (const batch of events.read(null, (await events.head())!))
      expect(batch.events.length).toBeLessThan(1_000);
  };
  await expect(read()).rejects.toThrow(/which this service never writes/);
  await events.close();
});
