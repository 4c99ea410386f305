import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../../src/storage/sqlite/driver.ts';
import { demoCasePath, importDemoCase } from '../crash/demo-case.ts';
import { type Stage, setStage, startService } from '../crash/paid-load.ts';
import type { RunningProcess } from '../support/processes.ts';
import { becomesUnready, buy, DEMO_AFTER, docket, expectNothingSold, receivedBy, refusal } from './handed-log.ts';

/**
 * A service starts on, or is switched to, another log, an older one, or none. It rejects each with a separate code, and
 * nothing is sold.
 */
describe('a service that gets another log', () => {
  let directory: string;
  let stage: Stage;
  let path: string;
  const payTo = Keypair.generate().publicKey.toBase58();
  /**
   * Saved data folders: `first` after one sale, `second` after another, `other` of another service on the same chain.
   */
  const saved = (name: string) => join(directory, name);

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'docket-other-log-'));
    const set = await setStage(directory, 1);
    stage = { ...set, environment: { ...set.environment, PAY_TO: payTo, LOG_LEVEL: 'info' } };
    path = await demoCasePath();
    await importDemoCase(stage);
    for (const name of ['first', 'second']) {
      const service = await startService(stage);
      expect((await buy(stage, path)).status).toBe(200);
      expect(await service.stop()).toBe(0);
      await cp(stage.dataDirectory, saved(name), { recursive: true });
    }
    const other = { ...stage, environment: { ...stage.environment, DATA_DIR: saved('other') } };
    await importDemoCase(other);
    const service = await startService(other);
    expect((await buy(stage, path)).status).toBe(200);
    expect(await service.stop()).toBe(0);
  }, 180_000);
  afterAll(async () => {
    await stage?.chain.kill();
    await rm(directory, { recursive: true, force: true });
  });

  const received = () => receivedBy(stage, payTo);

  /** A data folder assembled from saved ones. */
  async function lay(from: string, replaced: Readonly<Record<string, string | null>> = {}): Promise<Stage> {
    const folder = await mkdtemp(join(directory, 'case-'));
    await cp(saved(from), folder, { recursive: true });
    for (const [file, source] of Object.entries(replaced)) {
      for (const suffix of ['', '-wal', '-shm']) await rm(join(folder, file + suffix), { force: true });
      if (source !== null) await cp(join(saved(source), file), join(folder, file));
    }
    return { ...stage, dataDirectory: folder, environment: { ...stage.environment, DATA_DIR: folder } };
  }

  /** The service's message when it fails to start, while no caller is charged. */
  async function refused(at: Stage): Promise<string> {
    const before = await received();
    const said = await refusal(at);
    expect(await received()).toBe(before);
    return said;
  }

  describe('at its start', () => {
    it('rejects the log of another service with its own read models', async () => {
      const at = await lay('second', { 'log.sqlite': 'other' });
      expect(await refused(at)).toContain('(log_differs)');
      // Commands, too, must not write to it, or show what it does not contain.
      const imported = await docket(at, 'import', DEMO_AFTER);
      expect([imported.code, imported.output]).toEqual([3, expect.stringContaining('(log_differs)')]);
      expect((await docket(at, 'doctor')).output).toMatch(/WRONG log identity[^\n]*\(log_differs\)/);
    });

    it('rejects read models without a log, and starts with neither once they are removed', async () => {
      const at = await lay('second', { 'log.sqlite': null });
      const said = await refused(at);
      expect(said).toContain('(log_missing)');
      expect(said).toContain('delete read.sqlite');
      for (const file of ['read.sqlite', 'log.sqlite']) await rm(join(at.dataDirectory, file), { force: true });
      const service = await startService(at);
      expect(service.output()).toContain('the event log has been given its identity');
      await service.stop();
    });

    it('rejects a log of another chain', async () => {
      const elsewhere = await setStage(join(directory, 'elsewhere'), 0);
      try {
        const at = await lay('second');
        const rpc = elsewhere.environment.SOLANA_RPC_URL;
        expect(await refused({ ...at, environment: { ...at.environment, SOLANA_RPC_URL: rpc } })).toContain(
          '(log_chain_differs)',
        );
        const imported = await docket(
          {
            ...at,
            environment: {
              ...at.environment,
              SOLANA_NETWORK: 'devnet',
              FEE_PAYER_KEY: JSON.stringify([...Keypair.generate().secretKey]),
            },
          },
          'import',
          DEMO_AFTER,
        );
        expect([imported.code, imported.output]).toEqual([3, expect.stringContaining('(log_chain_differs)')]);
      } finally {
        await elsewhere.chain.kill();
      }
    });

    it('rejects another receiver until an operator has recorded the change with a reason', async () => {
      const at = await lay('second');
      const receiver = Keypair.generate().publicKey.toBase58();
      const moved = { ...at, environment: { ...at.environment, PAY_TO: receiver } };
      expect(await refused(moved)).toContain('(log_receiver_differs)');
      expect((await docket(moved, 'log', 'receiver', receiver)).code).toBe(2);
      const changed = await docket(moved, 'log', 'receiver', receiver, '--reason', 'a new treasury', '--by', 'Ann');
      expect([changed.code, changed.output]).toEqual([0, expect.stringContaining(`PAY_TO=${receiver}`)]);
      expect(JSON.parse((await docket(moved, 'log', 'show', '--json')).output)).toMatchObject({
        receiver,
        receiver_changes: [{ previous: payTo, receiver, reason: 'a new treasury', by: 'Ann' }],
      });
      expect(await refused(at)).toContain('(log_receiver_differs)');
      const service = await startService(moved);
      await service.stop();
    });

    it('rebuilds read models that are ahead of an older log, and says so', async () => {
      const at = await lay('second', { 'log.sqlite': 'first' });
      const imported = await docket(at, 'import', DEMO_AFTER);
      expect([imported.code, imported.output]).toEqual([3, expect.stringContaining('(read_models_ahead)')]);
      const service = await startService(at);
      try {
        expect(service.output()).toContain('"alarm":"read_model_rebuilt"');
        const before = await received();
        const { status, location } = await buy(stage, path);
        expect(status).toBe(200);
        expect(await received()).toBe(before + 990_000n);
        const kept = await fetch(`${at.url}${location}`);
        expect(kept.status).toBe(200);
      } finally {
        await service.stop();
      }
    });

    it('gives an older log without an identity one, and keeps its read models', async () => {
      const at = await lay('second');
      const read = new Database(join(at.dataDirectory, 'read.sqlite'));
      read.exec('DELETE FROM made_from; UPDATE checkpoints SET newest = NULL');
      read.close();
      const log = new Database(join(at.dataDirectory, 'log.sqlite'));
      log.exec("DELETE FROM events WHERE stream = 'log-identity'");
      log.close();
      const service = await startService(at);
      expect(service.output()).toContain('the event log has been given its identity');
      expect(service.output()).not.toContain('read_model_rebuilt');
      expect((await buy(stage, path)).status).toBe(200);
      await service.stop();
    });
  });

  describe('while it runs', () => {
    const exchange = async (change: (log: Database) => void, code: string, atNextStart: string | null) => {
      const at = await lay('second');
      const service: RunningProcess = await startService(at);
      const log = new Database(join(at.dataDirectory, 'log.sqlite'));
      log.pragma('busy_timeout = 5000');
      log.prepare('ATTACH ? AS other').run(join(saved('other'), 'log.sqlite'));
      try {
        const before = await received();
        log.transaction(() => change(log)).immediate();
        // A claim that was written to the other log may be settled by its owner: until that is known it is pending.
        for (let asked = 0; asked < 3; asked++) expect([202, 503]).toContain((await buy(stage, path)).status);
        await becomesUnready(at, service, code);
        await expectNothingSold(at, path, payTo);
        expect(await received()).toBe(before);
        expect(service.output()).toContain(`"alarm":"${code}"`);
      } finally {
        log.close();
        await service.stop();
      }
      if (atNextStart !== null) expect(await refused(at)).toContain(`(${atNextStart})`);
    };

    // The claim of the first caller is in it by then, so that it is no longer empty.
    it('sells nothing more from an emptied log, and does not start on it again', () =>
      exchange((log) => log.exec('DELETE FROM main.events'), 'log_emptied', 'log_differs'));

    it('sells nothing more from the log of another service, and does not restart on it', () =>
      exchange(
        (log) => {
          const positions = 'position + 100, type, stream, revision, id, metadata, data';
          log.exec(`DELETE FROM main.events; INSERT INTO main.events SELECT ${positions} FROM other.events`);
        },
        'log_differs',
        'log_differs',
      ));

    it('sells nothing more from a log that went back', () =>
      exchange(
        (log) => log.exec('DELETE FROM main.events WHERE position > (SELECT max(position) - 3 FROM main.events)'),
        'log_went_back',
        null,
      ));

    it('sells nothing more after an operator changes the receiver, until it is restarted with the new one', async () => {
      const at = await lay('second');
      const receiver = Keypair.generate().publicKey.toBase58();
      const moved = { ...at, environment: { ...at.environment, PAY_TO: receiver } };
      const service = await startService(at);
      const changed = await docket(at, 'log', 'receiver', receiver, '--reason', 'a new treasury');
      expect(changed.code, changed.output).toBe(0);
      await becomesUnready(at, service, 'log_receiver_differs');
      await expectNothingSold(at, path, payTo);
      expect(await service.stop()).toBe(0);
      expect(await refused(at)).toContain('(log_receiver_differs)');
      const before = await received();
      const again = await startService(moved);
      expect((await buy(moved, path)).status).toBe(200);
      expect([await received(), await receivedBy(moved, receiver)]).toEqual([before, 990_000n]);
      await again.stop();
    });
  });
});
