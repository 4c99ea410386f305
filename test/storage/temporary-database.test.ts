/**
 * Given a folder in TMPDIR,
 * when a command keeps what it must remember in a temporary database,
 * then the file is there and nowhere else, also if the folder did not exist; and what cannot be used is refused.
 */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/command.ts';
import { openSampleLog } from '../audit/verify/sample-log.ts';
import { docketInProcess } from '../support/docket-in-process.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'docket-temporary-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const modules = new URL('../../dist/', import.meta.url);
/** Writes more than the cache holds, and prints the files that the process has open. */
const FILLED = `
  import { readdirSync, readlinkSync } from 'node:fs';
  import { openScratch } from '${new URL('service/open-audit.js', modules)}';
  const database = openScratch();
  database.exec('CREATE TABLE kept (bytes)');
  const insert = database.prepare('INSERT INTO kept VALUES (zeroblob(1000000))');
  for (let n = 0; n < 20; n++) insert.run();
  const open = readdirSync('/proc/self/fd').flatMap((fd) => {
    try { return [readlinkSync('/proc/self/fd/' + fd)]; } catch { return []; }
  });
  console.log(JSON.stringify(open.filter((path) => path.includes('etilqs'))));`;

it.skipIf(!existsSync('/proc/self/fd'))('is in a folder that it creates for its owner alone', async () => {
  const folder = join(directory, 'volume', 'tmp');
  const env = { ...process.env, TMPDIR: folder };
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', FILLED], { env });
  expect(JSON.parse(stdout)).toEqual([expect.stringMatching(new RegExp(`^${folder}/etilqs_`))]);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  // SQLite unlinks the file as soon as it has it open, so no kill leaves it.
  expect(readdirSync(folder)).toEqual([]);
});

it.each(['verify', 'reconcile'])('docket audit %s refuses a folder that it cannot use', async (command) => {
  const file = join(directory, 'file');
  writeFileSync(file, '');
  const log = await openSampleLog();
  const { TMPDIR } = process.env;
  try {
    process.env.TMPDIR = file;
    const { code, err } = await docketInProcess(['audit', command], { DATA_DIR: log.directory });
    expect([code, err]).toEqual([EXIT.unavailable, expect.stringMatching(/TMPDIR/)]);
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
    log.remove();
  }
});
