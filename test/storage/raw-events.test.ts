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
])('reads %i events, in batches', async (count, text) => {
  const events = await written(count, text);
  const head = (await events.head())!;
  const positions: number[] = [];
  for await (const batch of events.read(null, head)) {
    positions.push(...batch.events.map(({ position }) => Number(position)));
  }
  expect(positions).toEqual(Array.from({ length: count }, (_, index) => index + 1));
  await events.close();
});

it('reads only a few large events at once after it has met them', async () => {
  const events = await written(100, 'short');
  const database = new Database(path);
  database.exec("UPDATE events SET data = data || printf('%*s', 200000, '')");
  database.close();
  const counts: number[] = [];
  for await (const batch of events.read(null, (await events.head())!)) counts.push(batch.events.length);
  expect(counts.reduce((sum, count) => sum + count)).toBe(100);
  expect(Math.max(...counts.slice(1))).toBeLessThanOrEqual(10);
  await events.close();
});

it('names events before the first position, or beyond exact numbers, and reads the others', async () => {
  const events = await written(4, 'short');
  const database = new Database(path);
  database.exec('UPDATE events SET position = position - 2 WHERE position = 1');
  database.exec('UPDATE events SET position = 9223372036854775807 WHERE position = 4');
  database.close();
  const misplaced = [
    { stream: 'docket-0', revision: 0, position: '-1' },
    { stream: 'docket-0', revision: 3, position: '9223372036854775807' },
  ];
  expect(await events.misplaced()).toEqual(misplaced);
  expect(await events.head()).toMatch(/^0+3$/);
  const revisions: number[] = [];
  for await (const batch of events.read(null, (await events.head())!))
    revisions.push(...batch.events.map(({ revision }) => revision));
  expect(revisions).toEqual([1, 2]);
  expect([await events.find('docket-0', 0), await events.find('docket-0', 3)]).toEqual([null, null]);
  await events.close();
});
