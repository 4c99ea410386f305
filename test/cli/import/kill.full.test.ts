/** `kill -9` in the middle of an import, repeatedly: the next run completes it. Runs the compiled program. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { COMPLETE } from '../../../src/projections/freshness.ts';
import { createCaseQueries } from '../../../src/queries/case-answer.ts';
import { systemClock } from '../../../src/runtime/instant.ts';
import { openSqlite } from '../../../src/storage/sqlite/open.ts';
import { rawDocket, rawEntry } from '../../dockets/raw-docket.ts';
import { bodyOf, court } from '../../dockets/world.ts';

const KILLS = Number(process.env.KILLS ?? 20);
const ROOT = join(import.meta.dirname, '../../..');
const PROGRAM = join(ROOT, 'bin/docket.js');
const DOCKETS = 6;
const BEFORE = 1_500;
const AFTER = 1_600;

const number = (index: number): string => `3:24-cv-0${1000 + index}`;
const docket = (index: number, entries: number) =>
  rawDocket(
    Array.from({ length: entries }, (_, at) => rawEntry(at + 1, '2024-02-05', `NOTICE ${at} in case ${index}`)),
    { docket_number: number(index) },
  );

it.skipIf(!existsSync(join(ROOT, 'dist/cli/main.js')))(
  'loses nothing and reports nothing twice',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'docket-kill-'));
    const directory = join(folder, 'data');
    const environment = { ...process.env, DATA_DIR: directory };
    const start = (...files: string[]): ChildProcess =>
      spawn(process.execPath, [PROGRAM, 'import', ...files, '--json'], {
        env: environment,
        stdio: 'ignore',
      });
    const ended = (child: ChildProcess): Promise<number | null> =>
      new Promise((resolve) => child.once('exit', (code) => resolve(code)));
    const lines = async (name: string, entries: number): Promise<string> => {
      const path = join(folder, name);
      await writeFile(
        path,
        Array.from({ length: DOCKETS }, (_, index) => JSON.stringify(docket(index, entries))).join('\n'),
      );
      return path;
    };
    /** Bytes of the log, including its newest: shows the progress of an import. */
    const logBytes = async (): Promise<number> => {
      const sizes = ['log.sqlite', 'log.sqlite-wal'].map((name) => stat(join(directory, name)).catch(() => null));
      return (await Promise.all(sizes)).reduce((sum, found) => sum + (found?.size ?? 0), 0);
    };
    let inTheMiddle = 0;
    const ask = async (index: number, lastChecked: string | null) => {
      const storage = openSqlite({ directory });
      const answer = await createCaseQueries({
        readStore: storage.readStore,
        freshness: COMPLETE,
        clock: systemClock,
      }).answerCase({
        court: court('cand'),
        courtCode: 'cand',
        caseId: number(index),
        lastChecked,
        since: lastChecked,
        context: 'basic',
        language: null,
        filingTypes: null,
      });
      await storage.close();
      if ('problem' in answer) throw new Error(answer.problem);
      return answer;
    };
    try {
      for (let kill = 0; kill < KILLS; kill++) {
        await rm(directory, { recursive: true, force: true });
        const first = await lines('before.ndjson', BEFORE);
        const second = await lines('after.ndjson', AFTER);
        for (const [file, isSecond] of [
          [first, false],
          [second, true],
        ] as const) {
          const since = isSecond ? await Promise.all([...Array(DOCKETS).keys()].map((index) => ask(index, null))) : [];
          const killAt = (await logBytes()) + Math.random() * (isSecond ? 300_000 : 4_000_000);
          const killed = start(file);
          const exit = ended(killed);
          while ((await logBytes()) <= killAt && killed.exitCode === null) await delay(1);
          if (killed.exitCode === null) inTheMiddle++;
          killed.kill('SIGKILL');
          await exit;
          const again = start(file);
          expect(await ended(again), `after kill ${kill}`).toBe(0);
          for (let index = 0; index < DOCKETS; index++) {
            const answer = await ask(index, since[index]?.queriedAt ?? '2026-01-01T00:00:00.000000Z');
            const { case: served, delta } = bodyOf(answer);
            expect(served.filing_count).toBe(isSecond ? AFTER : BEFORE);
            expect(delta.change_count, `case ${index} after kill ${kill}`).toBe(isSecond ? AFTER - BEFORE : 0);
            expect(bodyOf(await ask(index, answer.queriedAt)).delta.change_count).toBe(0);
          }
        }
      }
      expect(inTheMiddle, 'imports killed before they had ended').toBeGreaterThan(0);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
  30 * 60_000,
);
