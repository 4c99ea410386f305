/**
 * Given orders to forget on a storage with many sales,
 * when the command is killed again and again while it removes (`kill -9`), and then run once more,
 * then nothing of what it concerns is left in any file, nothing else is gone, and no breach was added to the log.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { systemClock } from '../../../src/runtime/instant.ts';
import { openSqlite } from '../../../src/storage/sqlite/open.ts';
import { ADA, BOB, HOOK, sell } from '../../commands/forget/sold.ts';
import { docketInProcess } from '../../support/docket-in-process.ts';

const KILLS = Number(process.env.KILLS ?? 3);
const SALES = 120;
const ROOT = join(import.meta.dirname, '../../..');
const ORDERS = [
  ['wallet', ADA],
  ['callback-url', HOOK],
];

it.skipIf(!existsSync(join(ROOT, 'dist/cli/main.js')))(
  'an order that is killed is carried out once, and whole',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'docket-forget-kill-'));
    const directory = join(folder, 'data');
    const environment = { ...process.env, DATA_DIR: directory };
    const start = (order: readonly string[]): ChildProcess =>
      spawn(
        process.execPath,
        [join(ROOT, 'bin/docket.js'), 'forget', ...order, '--reason', 'a test', '--by', 'Ann', '--yes'],
        {
          env: environment,
          stdio: 'ignore',
        },
      );
    const ended = (child: ChildProcess): Promise<number | null> =>
      new Promise((resolve) => child.once('exit', (code) => resolve(code)));
    const logBytes = async (): Promise<number> => {
      const sizes = ['log.sqlite', 'log.sqlite-wal'].map((name) => stat(join(directory, name)).catch(() => null));
      return (await Promise.all(sizes)).reduce((sum, found) => sum + (found?.size ?? 0), 0);
    };
    /** The sales are no real payments, which breaks rules of money; what counts is that nothing is added. */
    const breaches = async (): Promise<readonly string[]> => {
      const { out } = await docketInProcess(['audit', 'verify', '--json'], environment);
      return out.split('\n').filter((line) => line.includes('"rule"'));
    };
    const inFiles = async (): Promise<string> => {
      const files = await readdir(directory, { withFileTypes: true });
      const held = files.filter((file) => file.isFile()).map(({ name }) => readFile(join(directory, name), 'latin1'));
      return (await Promise.all(held)).join('\n');
    };
    try {
      const storage = openSqlite({ directory });
      const [targets, kept] = [new Set<string>(), new Set<string>()];
      for (let sale = 0; sale < SALES; sale++) {
        const isAda = sale % 2 === 0;
        const wallet = isAda ? ADA : BOB;
        const urls = sale % 3 === 0 ? ['https://receiver.example/kept'] : [HOOK];
        const { answer, callbacks } = await sell(storage, systemClock, { of: `sold to ${wallet}` }, { wallet, urls });
        const [callback] = callbacks;
        if (!isAda) kept.add(answer);
        if (callback) (isAda || sale % 3 !== 0 ? targets : kept).add(callback.target);
      }
      await storage.close();
      const before = await breaches();

      let inTheMiddle = 0;
      for (const order of ORDERS) {
        for (let kill = 0; kill < KILLS; kill++) {
          const size = await logBytes();
          const child = start(order);
          const exit = ended(child);
          let hasEnded = false;
          void exit.then(() => {
            hasEnded = true;
          });
          while (!hasEnded && (await logBytes()) === size) await delay(2);
          await delay(kill * 5);
          child.kill('SIGKILL');
          if ((await exit) === null) inTheMiddle++;
        }
        expect(await ended(start(order))).toBeLessThanOrEqual(1);
      }
      // On a fast machine an order is complete after few of its kills.
      expect(inTheMiddle).toBeGreaterThan(0);

      const files = await inFiles();
      expect(files).not.toContain('s3cr3t-7d1f');
      expect(files).not.toContain(`sold to ${ADA}`);
      const after = openSqlite({ directory });
      const found = await after.payloads.resolve([...targets, ...kept]);
      expect([...targets].filter((name) => found.has(name))).toEqual([]);
      expect([...kept].filter((name) => !found.has(name))).toEqual([]);
      await after.close();
      const { out } = await docketInProcess(['forget', 'list', '--json'], environment);
      const orders = out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(orders.filter(({ completed }) => !completed)).toEqual([]);
      expect(orders.reduce((sum, { removed }) => sum + removed.answer, 0)).toBe(SALES / 2);
      const known = new Set(before);
      expect((await breaches()).filter((breach) => !known.has(breach))).toEqual([]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
  600_000,
);
