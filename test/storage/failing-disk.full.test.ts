/** A disk that vanished is not damage: SQLite reports both alike, and only damage is a reason to restore a backup. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';

const run = promisify(execFile);
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

let folder: string;
/** Why this machine cannot run it; null if it can. */
let cannotRun: string | null = null;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'docket-failing-'));
  if (process.platform !== 'linux') {
    cannotRun = 'LD_PRELOAD, which makes reads fail, works only on Linux';
    return;
  }
  const args = ['-shared', '-fPIC', '-o', join(folder, 'disk.so'), here('../support/failing-disk.c'), '-ldl'];
  await run('gcc', args).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    cannotRun = 'there is no C compiler (gcc) to build the failing disk';
  });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('EIO is an I/O error with a hint at the disk, never at a backup, and nothing is lost when the disk is back', async ({
  skip,
}) => {
  if (cannotRun) skip(cannotRun);
  const failsWhile = join(folder, 'fails');
  const { stdout } = await run(process.execPath, [here('failing-disk-child.mjs'), join(folder, 'data'), failsWhile], {
    env: { ...process.env, LD_PRELOAD: join(folder, 'disk.so'), EIO_WHILE: failsWhile },
  });
  const said = JSON.parse(stdout);
  const failed = { code: 'storage_io_error', hint: expect.stringContaining('do not restore a backup') };
  expect(said).toMatchObject({ before: 'ok', read: failed, write: failed, open: failed });
  expect(said).toMatchObject({ 'read again': 'ok', 'write again': 'ok' });
  // The read models are not set aside as damaged either.
  await expect(stat(join(folder, 'data', 'read.sqlite.damaged'))).rejects.toMatchObject({ code: 'ENOENT' });
});
