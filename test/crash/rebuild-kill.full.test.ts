/**
 * Given a log and current read models, when a rebuild is killed ten times (`kill -9`) and run again, then it equals a read
 * model that was never killed, document for document. `EVENTS=1000000` for a large log. Runs the compiled program.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { writeAuditLog } from '../../bench/support/audit-log.mjs';
import { PROJECTIONS } from '../../src/projections/all.ts';
import { createProjectionRunner } from '../../src/projections/runner.ts';
import { systemClock } from '../../src/runtime/instant.ts';
import { openSqlite, type SqliteStorage } from '../../src/storage/sqlite/open.ts';

const EVENTS = Number(process.env.EVENTS ?? 30_000);
const KILLS = 10;
/** It folds most events of such a log, whose dockets have no content to fold. */
const NAME = 'payments';
const ROOT = join(import.meta.dirname, '../..');
const PROGRAM = join(ROOT, 'bin/docket.js');
/** Slow enough to be killed anywhere in the log. */
const SLOWLY = String(Math.ceil(EVENTS / 3));

/** The network whose genesis the written log names; nothing here reaches it. */
const NETWORK = {
  SOLANA_NETWORK: 'mainnet',
  SOLANA_RPC_URL: 'https://127.0.0.1:1',
  PAY_TO: Keypair.generate().publicKey.toBase58(),
  FEE_PAYER_KEY: bs58.encode(Keypair.generate().secretKey),
};

it.skipIf(!existsSync(join(ROOT, 'dist/cli/main.js')))(
  'a rebuild that is killed ten times equals one that never was',
  async () => {
    const directory = await mkdtemp(join(tmpdir(), 'docket-rebuild-kill-'));
    let storage: SqliteStorage | null = null;
    try {
      await writeAuditLog(directory, EVENTS);
      storage = openSqlite({ directory });
      const projections = PROJECTIONS.filter(({ name }) => name === NAME);
      const options = { ...storage, projections, clock: systemClock, owner: 'never killed' };
      await createProjectionRunner({ ...options, logger: pino({ level: 'silent' }) }).catchUp();
      let kills = 0;
      while (kills < KILLS) {
        const killAt = String(Math.floor((EVENTS * (kills + 1)) / (KILLS + 2))).padStart(20, '0');
        const rebuild = start(directory, 'rebuild', NAME, '--reason', 'a test', '--max-rate', SLOWLY);
        const exited = ended(rebuild);
        while (((await storage.readStore.progress(NAME, 2))?.position ?? '') < killAt && rebuild.exitCode === null) {
          await delay(5);
        }
        if (rebuild.exitCode !== null) throw new Error(`the rebuild of ${NAME} ended after ${kills} kills`);
        rebuild.kill('SIGKILL');
        await exited;
        kills++;
      }
      expect(await ended(start(directory, 'rebuild', NAME, '--reason', 'a test', '--max-rate', '100000000'))).toBe(0);
      const { out, code } = await output(start(directory, 'verify', NAME, '--json'));
      expect({ ...JSON.parse(out), code }).toMatchObject({ from: 1, to: 2, differences: 0, code: 0 });
      expect(JSON.parse(out).documents).toBeGreaterThan(0);
    } finally {
      await storage?.close();
      await rm(directory, { recursive: true, force: true });
    }
  },
);

function start(directory: string, ...words: string[]): ChildProcess {
  const env = { ...process.env, ...NETWORK, DATA_DIR: directory };
  return spawn(process.execPath, [PROGRAM, 'projections', ...words], { env, stdio: ['ignore', 'pipe', 'inherit'] });
}

const ended = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => child.once('exit', (code) => resolve(code)));

async function output(child: ChildProcess): Promise<{ readonly out: string; readonly code: number | null }> {
  let out = '';
  child.stdout?.on('data', (chunk) => {
    out += String(chunk);
  });
  return new Promise((resolve) => child.once('close', (code) => resolve({ out, code })));
}
