/**
 * Given the checkpoint of a verified log, when somebody edits or damages it, then the next run neither trusts it, nor waits
 * for ever, nor ends with an error of this program: it says that the checkpoint cannot be used.
 */
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openCheckpoint } from '../../../src/service/open-audit.ts';
import { Database } from '../../../src/storage/sqlite/driver.ts';
import { openSampleLog, type SampleLog } from './sample-log.ts';

let log: SampleLog;
let checkpoint: string;
beforeEach(async () => {
  log = await openSampleLog();
  checkpoint = join(log.directory, 'audited.sqlite');
  await log.docket(1);
  await log.head();
  await log.verify({ checkpoint });
});
afterEach(() => log.remove());

function edit(change: (database: Database) => void): void {
  const database = new Database(checkpoint);
  change(database);
  database.close();
}

it.each([
  ['a changed note', `UPDATE notes SET value = replace(value, '"logTainted":false', '"logTainted":true')`],
  ['a note without its hash', `UPDATE notes SET value = substr(value, instr(value, '{'))`],
  ['a note that is no JSON', `UPDATE notes SET value = 'x'`],
  ['an empty note', `UPDATE notes SET value = 'null'`],
  ['no note', 'DELETE FROM notes'],
  ['a table less', 'DROP TABLE facts'],
  ['a table with other columns', 'DROP TABLE heads; CREATE TABLE heads (size INTEGER)'],
  ['a stream that is no JSON', `UPDATE streams SET open = 1, state = 'x'`],
  ['a stream of another shape', `UPDATE streams SET open = 1, state = '{}'`],
])('with %s is refused', async (_what, sql) => {
  edit((database) => database.exec(sql));
  await expect(log.verify({ checkpoint })).rejects.toMatchObject({
    code: 'checkpoint_damaged',
    message: expect.stringMatching(/^The checkpoint is damaged, was edited, or was written by another version/),
  });
});

it('that claims to have read beyond the end of the log is refused', async () => {
  edit((database) => {
    const text = database.prepare<[], string>('SELECT value FROM notes').pluck().get() ?? '';
    const value = text.slice(text.indexOf('\n') + 1).replace(/"upTo":"\d/, '"upTo":"9');
    const schema = 'SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name';
    const tables = database.prepare<[], string>(schema).pluck().all().join('\n');
    const sealed = createHash('sha256').update(`${tables}\n${value}`).digest('hex');
    database.prepare('UPDATE notes SET value = ?').run(`${sealed}\n${value}`);
  });
  await expect(log.verify({ checkpoint })).rejects.toMatchObject({
    code: 'checkpoint_mismatch',
    message: 'The log ends before what the checkpoint has verified.',
  });
});

it('that is a folder, or cannot be created, says so', () => {
  const folder = join(log.directory, 'folder');
  mkdirSync(folder);
  expect(() => openCheckpoint(folder)).toThrow(/is not a checkpoint/);
  expect(() => openCheckpoint(join(checkpoint, 'audited.sqlite'))).toThrow(/ cannot be created or written: /);
});
