/**
 * Checkpoints of `docket audit verify`: given a file with what earlier runs have verified, when the log has grown, then
 * a run reads only what is new and judges as if it had read all.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { examinerHere } from '../../../src/audit/verify/examine.ts';
import { LOG_HEAD_STREAM } from '../../../src/events/log-head.ts';
import { openCheckpoint } from '../../../src/service/open-audit.ts';
import type { Database } from '../../../src/storage/sqlite/driver.ts';
import { SqliteRawEvents } from '../../../src/storage/sqlite/raw-events.ts';
import { docketNumber, edit, openSampleLog, rehash, type SampleLog } from './sample-log.ts';

const ONE = docketNumber(1);

let log: SampleLog;
let checkpoint: string;
beforeEach(async () => {
  log = await openSampleLog();
  checkpoint = join(log.directory, 'audited.sqlite');
  await log.docket(1);
  await log.head();
});
afterEach(() => log.remove());

it('reads only what is newer', async () => {
  expect(await log.verify({ checkpoint })).toMatchObject({ events: 8, read: 8, streams: 4, own: [] });
  await log.docket(2);
  await log.head();
  const after = await log.verify({ checkpoint });
  expect(after).toMatchObject({
    events: 13,
    read: 5,
    streams: 5,
    own: [],
    proven: { size: 12 },
    payloads: { named: 4 },
  });
  const whole = await log.verify();
  expect({ ...after, read: whole.read }).toEqual(whole);
  expect(await log.verify({ checkpoint })).toMatchObject({ events: 13, read: 0, own: [] });
});

it('keeps the breaches of earlier runs, and finds later ones in streams that it knows', async () => {
  log.tamper((db) => edit(db, ONE, 0, (data) => ({ ...data, court: 'cacd' })));
  expect((await log.verify({ checkpoint })).own).toEqual([`hash_matches ${ONE} 0`]);
  await log.head();
  log.tamper((db) => edit(db, LOG_HEAD_STREAM, 2, (data) => ({ ...data, size: 3 })));
  expect((await log.verify({ checkpoint })).own).toEqual([
    `hash_matches ${ONE} 0`,
    `hash_matches ${LOG_HEAD_STREAM} 2`,
  ]);
});

it('finds an event that was hidden before the first position since, and reports it once', async () => {
  await log.verify({ checkpoint });
  log.tamper((db) =>
    db.exec("INSERT INTO events SELECT -1, type, 'docket-x', 0, id, metadata, data FROM events WHERE position = 3"),
  );
  const found = ['positions_contiguous docket-x 0'];
  expect((await log.verify({ checkpoint })).own).toEqual(found);
  expect((await log.verify({ checkpoint })).own).toEqual(found);
});

it('resumes after a kill from what was committed', async () => {
  await log.docket(2);
  await log.docket(3);
  const killed = new Error('killed');
  const whole = await log.verify();
  let batches = 0;
  const run = log.verify({
    checkpoint,
    commitEvery: 5,
    ports: { examiner: inSmallBatches(log) },
    onProgress: () => {
      batches++;
      if (batches === 4) throw killed;
    },
  });
  await expect(run).rejects.toBe(killed);
  const resumed = await log.verify({ checkpoint });
  expect(resumed.read).toBeGreaterThan(0);
  expect(resumed.read).toBeLessThan(whole.events);
  expect({ ...resumed, read: whole.read }).toEqual(whole);
});

const CHANGED: readonly (readonly [what: string, change: (db: Database) => void, message: RegExp])[] = [
  [
    'its last event is gone',
    (db) => db.exec('DELETE FROM events WHERE position = 8'),
    /no longer holds .*log-head 1.* missing/,
  ],
  [
    'its last event is another',
    (db) => {
      edit(db, LOG_HEAD_STREAM, 0, (data) => ({ ...data, masterVersion: 9 }));
      rehash(db, LOG_HEAD_STREAM);
    },
    /no longer holds .*log-head 1.* another/,
  ],
  [
    'it is another log',
    (db) => {
      edit(db, 'log-identity', 0, (data) => ({ ...data, logId: '1b7f3f6e-0c1d-4c57-9d38-2f6b8a4e1c55' }));
    },
    /The checkpoint is of log 0b7f.*, and this is log 1b7f/,
  ],
];

it.each(CHANGED)('refuses a log if %s', async (_what, change, message) => {
  await log.verify({ checkpoint });
  log.tamper(change);
  await expect(log.verify({ checkpoint })).rejects.toThrow(message);
});

it('refuses to leave content uncompared without saying so', async () => {
  await log.verify({ checkpoint, content: false });
  await expect(log.verify({ checkpoint })).rejects.toThrow(/without comparing content/);
  expect(await log.verify({ checkpoint, content: false })).toMatchObject({ own: [], payloads: null });
});

it('knows the roots of the heads that it has seen, and says so of others', async () => {
  const kept = await log.head();
  await log.docket(2);
  await log.head();
  await log.verify({ checkpoint });
  expect(await log.verify({ checkpoint, kept })).toMatchObject({ own: [], keptHolds: true });
  const unknown = { size: 2, root: 'f'.repeat(64) };
  await expect(log.verify({ checkpoint, kept: unknown })).rejects.toThrow(/does not know the root of the first 2/);
});

it('is never another database, nor any other file, and has one user at a time', async () => {
  expect(() => openCheckpoint(join(log.directory, 'log.sqlite'))).toThrow(/is not a checkpoint/);
  const text = join(log.directory, 'notes.txt');
  writeFileSync(text, 'x'.repeat(4096));
  expect(() => openCheckpoint(text)).toThrow(/is not a checkpoint/);
  const first = openCheckpoint(checkpoint);
  first.exec('BEGIN IMMEDIATE');
  expect(() => openCheckpoint(checkpoint)).toThrow(/in use by another run/);
  first.close();
  expect(existsSync(checkpoint)).toBe(true);
});

/** The same log, two events at a time. */
function inSmallBatches({ directory }: SampleLog) {
  const events = new SqliteRawEvents(join(directory, 'log.sqlite'));
  const log = {
    async *read(after: string | null, upTo: string) {
      for (let from = Number(after ?? 0); from < Number(upTo); from += 2) {
        yield events.batch(from, Math.min(from + 2, Number(upTo)));
      }
    },
  };
  return examinerHere(log, (stream, revision) => events.findNow(stream, revision));
}
