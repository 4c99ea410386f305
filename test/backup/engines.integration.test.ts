/**
 * Copies between engines. Given a storage on SQLite; when it is moved to the engines, backed up there and restored on
 * SQLite; then the log has the same root, and clocks have the positions of the log that they are in.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate } from '../../src/backup/migrate.ts';
import { backupOrigin } from '../../src/backup/origin.ts';
import { Backup } from '../../src/backup/read.ts';
import { receive } from '../../src/backup/receive.ts';
import { takeBackup } from '../../src/backup/take.ts';
import { verifyBackup } from '../../src/backup/verify.ts';
import { systemClock } from '../../src/runtime/instant.ts';
import { leaseOwner } from '../../src/storage/lease-owner.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { docket } from '../crash/agreement.ts';
import { demoCasePath, importDemoCase } from '../crash/demo-case.ts';
import { type Stage, setStage, startService } from '../crash/paid-load.ts';
import { buy } from '../identity/handed-log.ts';
import { collect } from '../storage/samples.ts';
import { type RunningProcess, spawnDocket, until } from '../support/processes.ts';
import { openStandin, type Standin } from '../support/standin.ts';
import { ENGINES, openTestStorage, ownDatabase } from '../support/storage.ts';
import { CASE, type Filled, fill } from './source.ts';

const missing = ENGINES.mongo === '' || ENGINES.eventStore === '' ? ' (skipped: no engines are configured)' : '';
const ignore = () => undefined;
const CLOCK = `case-clock-${CASE}`;

describe.skipIf(missing)(`copies between SQLite and the engines${missing}`, { timeout: 300_000 }, () => {
  let folder: string;
  let sqlite: Storage;
  let engines: Storage;
  let filled: Filled;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'docket-engine-copies-'));
    sqlite = openSqlite({ directory: join(folder, 'data') });
    engines = await openTestStorage(join(folder, 'engines'));
    filled = await fill(sqlite);
  });
  afterAll(async () => {
    await sqlite?.close();
    await engines?.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('keep the log, its content and the clocks, there and back', async () => {
    const common = { clock: systemClock, owner: leaseOwner(), onProgress: ignore };
    const { root } = await migrate({ source: sqlite, target: engines, ...common });
    const unplaced = async (storage: Storage) =>
      (await collect(storage.log, null)).events.map(({ position: _, ...event }) => event);
    expect(await unplaced(engines)).toEqual(await unplaced(sqlite));
    const { events } = await collect(engines.log, null);
    const newest = events.filter(({ stream }) => stream === CASE).at(-1);
    expect((await engines.readStore.cell(CLOCK)).value?.shown).toBe(newest?.position);
    expect((await engines.payloads.get(filled.redacted))?.toString()).toBe('nothing');

    const directory = join(folder, 'backup');
    await takeBackup({ source: { ...engines, keys: null }, directory, incremental: false, ...common });
    const backup = await Backup.open(directory);
    expect(await verifyBackup(backup, ignore)).toMatchObject({ problems: [], root });

    const back = openSqlite({ directory: join(folder, 'back') });
    try {
      await receive({ target: back, origin: backupOrigin(backup), ordered: true, ...common });
      expect((await collect(back.log, null)).events).toEqual((await collect(sqlite.log, null)).events);
      expect((await back.readStore.cell(CLOCK)).value).toEqual((await sqlite.readStore.cell(CLOCK)).value);
      expect((await back.payloads.get(filled.kept))?.toString()).toBe('kept '.repeat(100));
    } finally {
      await back.close();
    }
  });
});

describe.skipIf(missing)(`an installation that is moved, with kills${missing}`, { timeout: 300_000 }, () => {
  const KILLS = 3;
  let folder: string;
  let stage: Stage;
  let standin: Standin;
  let service: RunningProcess | null = null;
  const database = ownDatabase();
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'docket-moved-'));
    const set = await setStage(folder, 1);
    // Not on the engines of this run.
    stage = { ...set, environment: { ...set.environment, EVENTSTORE_URL: '', MONGODB_URL: '' } };
    standin = await openStandin();
  }, 120_000);
  afterAll(async () => {
    await service?.kill();
    await stage?.chain.kill();
    await standin?.close();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  it('sells on the engines what it sold before, and nothing on the old storage', async () => {
    const path = await demoCasePath();
    await importDemoCase(stage);
    service = await startService(stage);
    expect((await buy(stage, path)).status).toBe(200);
    const urls = { EVENTSTORE_URL: standin.url, MONGODB_URL: database.url };
    const moved: Stage = { ...stage, environment: { ...stage.environment, ...urls } };
    await expect(docket(['migrate'], moved.environment)).rejects.toThrow(/The storage is in use by process \d+/);
    expect(await service.stop()).toBe(0);

    for (let kill = 0; kill < KILLS; kill++) {
      const migrating = spawnDocket(['migrate'], moved.environment);
      const begun = async () => migrating.output().includes('verified events') || migrating.child.exitCode !== null;
      await until('it copies', begun, { every: 1, within: 60_000 });
      await new Promise((done) => setTimeout(done, kill * 20));
      await migrating.kill();
      if (migrating.child.exitCode === 0) break;
    }
    const refused = spawnDocket(['serve'], stage.environment);
    await until('it refuses to start', async () => refused.child.exitCode !== null, { within: 60_000 });
    expect(refused.output()).toContain('log_moved');
    await docket(['migrate'], moved.environment).catch((error: Error) => {
      // A run that was faster than its kill has moved it.
      expect(error.message).toContain('was moved already');
    });

    service = await startService(moved);
    expect((await buy(moved, path)).status).toBe(200);
    expect(await service.stop()).toBe(0);
    const payments = await docket(['audit', 'replay', 'payments', '--json'], moved.environment);
    expect(payments.match(/"PaymentSettled"/g)).toHaveLength(2);
  });
});
