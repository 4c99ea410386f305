/** The rule of `src/storage/sqlite/open-database.ts`, checked for a whole service and the commands that run with it. */
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { reported, watching } from '../storage/descriptors.ts';
import type { RunningProcess } from '../support/processes.ts';
import { docket } from './agreement.ts';
import { demoCasePath, importDemoCase } from './demo-case.ts';
import { paymentFor, type Stage, setStage, startService } from './paid-load.ts';

let directory: string;
let stage: Stage;
let service: RunningProcess;
let report: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'docket-descriptors-'));
  report = join(directory, 'report');
  const setting = await setStage(directory, 1);
  stage = { ...setting, environment: { ...setting.environment, ...watching(report) } };
  await importDemoCase(stage);
  service = await startService(stage);
}, 120_000);

afterAll(async () => {
  await service?.kill();
  await stage?.chain.kill();
  await rm(directory, { recursive: true, force: true });
});

/** Whether a process holds a POSIX lock on a file, as the kernel lists them. */
async function holdsLock(pid: number, path: string): Promise<boolean> {
  const { ino } = await stat(path);
  const locks = (await readFile('/proc/locks', 'utf8')).split('\n');
  return locks.some((line) => line.includes(` ${pid} `) && line.includes(`:${ino} `));
}

it('no thread opens a database except through SQLite, from start to stop, and the locks stay', async () => {
  const path = await demoCasePath();
  const buy = async () => {
    const headers = await paymentFor(stage, stage.wallets[0]!, path);
    expect((await fetch(stage.url + path, { headers })).status).toBe(200);
  };
  const pid = service.child.pid ?? 0;
  const expectLocks = async () => {
    for (const file of ['log.sqlite', 'read.sqlite']) {
      expect(await holdsLock(pid, join(stage.dataDirectory, file)), `the lock on ${file}`).toBe(true);
    }
  };
  await buy();
  await expectLocks();
  for (const args of [
    ['doctor', '--json'],
    ['audit', 'replay', 'all', '--json'],
  ]) {
    await docket(args, stage.environment);
  }
  await importDemoCase(stage);
  await Promise.all(Array.from({ length: 8 }, buy));
  await expectLocks();
  await service.stop();
  const { watched, opened } = await reported(report);
  expect(opened).toEqual([]);
  // The service and its threads, and four commands.
  expect(watched.length).toBeGreaterThanOrEqual(6);
});
