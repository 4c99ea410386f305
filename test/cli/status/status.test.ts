/** Given a service that runs, has stopped or never was, when an operator runs docket status, then it says so. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createStatusCommand } from '../../../src/cli/status/status.ts';
import { readConfig } from '../../../src/config.ts';
import { PROJECTIONS } from '../../../src/projections/all.ts';
import { systemClock, toInstant } from '../../../src/runtime/instant.ts';
import { createAlarmKeeper } from '../../../src/service/alarm-keeper.ts';
import { dataFolderId } from '../../../src/service/data-folder-id.ts';
import { startNodeRole } from '../../../src/service/node-role.ts';
import { leaseOwner } from '../../../src/storage/lease-owner.ts';
import { openSqlite, type SqliteStorage } from '../../../src/storage/sqlite/open.ts';
import { silent } from '../../http/serving.ts';
import { docketInProcess } from '../../support/docket-in-process.ts';

let directory: string;
let data: string;
let admin: Server;
/** What the running service answers on `/readyz`; null if none runs. */
let readiness: object | null;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'status-cli-'));
  data = join(directory, 'data');
  await mkdir(data);
  readiness = null;
  admin = createServer((_, response) => {
    if (readiness) response.end(JSON.stringify(readiness));
    else response.destroy();
  });
  await new Promise<void>((done) => admin.listen(0, '127.0.0.1', done));
});
afterEach(async () => {
  admin.closeAllConnections();
  await new Promise((done) => admin.close(done));
  await rm(directory, { recursive: true });
});

const adminPort = () => (admin.address() as AddressInfo).port;
const environment = () => ({ DATA_DIR: data, ADMIN_PORT: String(adminPort()) });
const docket = (...argv: string[]) => docketInProcess(['status', ...argv], environment());

async function withStorage(act: (storage: SqliteStorage) => Promise<void> = async () => undefined): Promise<void> {
  const storage = openSqlite({ directory: data });
  for (const { name, collections } of PROJECTIONS) await storage.readStore.prepare(name, 1, collections);
  await act(storage);
  await storage.close();
}

const serving = (parts: object) => ({ ready: false, data_folder_id: dataFolderId(data), parts });
const since = toInstant(systemClock.now());

describe('docket status', () => {
  it('says where to find a service if there is nothing to read', async () => {
    const { code, out, err } = await docket();
    expect([code, out]).toEqual([3, '']);
    expect(err).toMatch(/There is no event log in .*\nSet DATA_DIR .*, or start one here: docket serve\./);
  });

  it('shows the storage of a service that has stopped', async () => {
    await withStorage();
    const { code, out } = await docket();
    expect(code).toBe(0);
    expect(out).toMatch(/^service +not running; .*docket serve$/m);
    expect(out).toMatch(/^log +empty$/m);
    expect(out).toMatch(/^projections +all \d+ up to date$/m);
    expect(out).toMatch(/^fee payer +cannot be read: the local chain runs only with the service$/m);
    expect(out).toMatch(/^nodes +none$/m);
  });

  it('shows the parts of the service here as it answers now; exit code 1 while one is down', async () => {
    await withStorage();
    readiness = serving({
      chain: { status: 'down', since, reason: 'unreachable', code: 'chain_unreachable', hint: 'Check it.' },
      callbacks: { status: 'nominal', since, reason: null },
    });
    const { code, out, err } = await docket();
    expect(code).toBe(1);
    expect(out).toMatch(/^service +running, 1 node: 1 part nominal, 0 degraded, 1 down$/m);
    expect(out).toMatch(/^ +DOWN chain: unreachable \(chain_unreachable, for \d+ s\)\n +Check it\.$/m);
    expect(err).toContain('Something is down.');
    const json = await docket('--json');
    expect(json.code).toBe(1);
    expect(JSON.parse(json.out)).toMatchObject({ ok: false, service: 'running' });
    readiness = serving({ chain: { status: 'degraded', since, reason: 'slow' } });
    expect((await docket()).code).toBe(0);
  });

  it('shows every node, the alarms of all, and what each node owns', async () => {
    const owner = leaseOwner();
    await withStorage(async ({ readStore, log }) => {
      const alarms = createAlarmKeeper(owner, systemClock);
      const node = startNodeRole({
        log,
        readStore,
        health: () => ({ disk: { status: 'degraded', since, reason: 'little is left', hint: 'Free space.' } }),
        feePayer: () => ({ address: 'FEEPAYER', lamports: '1500000000', at: since }),
        alarms,
        clock: systemClock,
        logger: silent,
        owner,
        version: '9.9.9',
      });
      node.listens({ url: 'http://here', adminUrl: 'http://127.0.0.1:1' });
      await node.beat();
      await readStore.acquireLease('payment-recovery', owner, systemClock.now(), 15_000_000);
      alarms.raise({ name: 'low_disk', level: 'warn', at: systemClock.now(), message: 'low', details: {} });
      await node.beat();
      await node.beat();
      const { code, out } = await docket();
      expect(code).toBe(0);
      expect(out).toMatch(/^service +running, 1 node: 0 parts nominal, 1 degraded, 0 down$/m);
      expect(out).toMatch(/^ +DEGRADED disk: little is left \(for \d+ s\)\n +Free space\.$/m);
      expect(out).toMatch(/^fee payer +1\.5 SOL, nothing spent in 7 days; FEEPAYER$/m);
      expect(out).toMatch(
        /^nodes +\S+ process \d+, version 9\.9\.9, http:\/\/here, up for \d+ s\n +owns payment-recovery$/m,
      );
      expect(out).toMatch(/^alarms +low_disk \d+ s ago on /m);
      await node.stop();
    });
  });

  it('shows what the service says even if the storage cannot be read, and why not', async () => {
    await writeFile(join(data, 'log.sqlite'), 'this is no database, and longer than a header of one'.repeat(100));
    readiness = serving({ event_log: { status: 'down', since, reason: 'corrupt' } });
    const { code, out } = await docket();
    expect(code).toBe(1);
    expect(out).toMatch(/^ +DOWN event_log: corrupt/m);
    expect(out).toMatch(/^storage +cannot be read: /m);
    expect(JSON.parse((await docket('--json')).out)).toMatchObject({
      ok: false,
      storage: { unreadable: expect.any(String) },
    });
  });

  it('does not mistake the service of another data folder for its own', async () => {
    await withStorage();
    readiness = { ready: true, data_folder_id: 'another', parts: { chain: { status: 'down', since, reason: 'x' } } };
    const { code, out } = await docket();
    expect(code).toBe(0);
    expect(out).toMatch(/^service +not running on this storage; .*another DATA_DIR/m);
    expect(out).not.toContain('DOWN');
  });

  it.each([
    ['--interval', '0'],
    ['--interval', 'soon'],
    ['--interval', '1e3'],
    ['--hosts', '-1'],
    ['--hosts', '1001'],
  ])('rejects %s %s', async (option, value) => {
    await withStorage();
    const { code, err } = await docket(`${option}=${value}`);
    expect(code).toBe(2);
    expect(err).toContain(`${option} ${value} is not a number from`);
  });
});

describe('docket status --watch', () => {
  interface Screen {
    readonly isTTY: boolean;
    readonly columns?: number;
    readonly rows?: number;
  }
  /** Watches until it has been drawn so often. */
  async function watch(argv: readonly string[], screen: Screen, times: number): Promise<string[]> {
    const written: string[] = [];
    let stop = (): void => undefined;
    const stopped = new Promise<void>((resolve) => {
      stop = resolve;
    });
    const isEnd = argv.includes('--json')
      ? (text: string) => text.startsWith('{')
      : (text: string) => /alarms|larger window/.test(text);
    const stdout = Object.assign(
      new Writable({
        write(chunk, _encoding, done) {
          written.push(String(chunk));
          if (written.filter(isEnd).length >= times) stop();
          done();
        },
      }),
      screen,
    );
    const stderr = new Writable({ write: (_chunk, _encoding, done) => done() });
    const program = new Command().exitOverride();
    const storageOf = () => {
      const config = readConfig(environment());
      return { config, open: async () => openSqlite({ directory: data }) };
    };
    const add = createStatusCommand({ storageOf, stopped: () => stopped });
    add(program, { environment: environment(), stdin: process.stdin, stdout, stderr, interactive: false });
    await program.parseAsync(['status', '--watch', '--interval', '0.5', ...argv], { from: 'user' });
    return written;
  }

  it('writes one block after the other where there is no terminal', async () => {
    await withStorage();
    const text = (await watch([], { isTTY: false }, 2)).join('');
    expect(text.match(/^status /gm)).toHaveLength(2);
    expect(text).not.toContain('\u001B');
  });

  it('writes one object a line with --json', async () => {
    await withStorage();
    const lines = (await watch(['--json'], { isTTY: false }, 2)).join('').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).service)).toEqual(['stopped', 'stopped']);
  });

  it('redraws a terminal, within its width and height', async () => {
    await withStorage();
    const tall = await watch([], { isTTY: true, columns: 50, rows: 50 }, 2);
    expect(tall.every((screen) => screen.startsWith('\u001B[H') && screen.endsWith('\u001B[J'))).toBe(true);
    const lines = (tall[0] ?? '').slice(3).split('\u001B[K\n').slice(0, -1);
    expect(lines.every((line) => line.length <= 50 || !line.trim().includes(' '))).toBe(true);
    const [small = ''] = await watch([], { isTTY: true, columns: 50, rows: 6 }, 1);
    expect(small.split('\n')).toHaveLength(6);
    expect(small).toMatch(/\d+ more lines: use a larger window/);
  });
});
