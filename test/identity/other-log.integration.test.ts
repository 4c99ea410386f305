import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { loggedPayments } from '../crash/agreement.ts';
import { demoCasePath, importDemoCase } from '../crash/demo-case.ts';
import { type Stage, setStage, startService } from '../crash/paid-load.ts';
import { freePort, type RunningProcess } from '../support/processes.ts';
import { openStandin, type Standin } from '../support/standin.ts';
import { ENGINES, ownDatabase } from '../support/storage.ts';
import { becomesUnready, buy, DEMO_AFTER, docket, expectNothingSold, receivedBy, refusal } from './handed-log.ts';

const missing = ENGINES.mongo === '' ? ' (skipped: MONGODB_URL is not set)' : '';

/**
 * A service on EventStoreDB and MongoDB starts on, or is switched to, another log, an older one, or none. The event
 * store is a stand-in that only this test uses, on folders that the test exchanges underneath it.
 */
describe.skipIf(missing)(`a service on engines that gets another log${missing}`, { timeout: 300_000 }, () => {
  let directory: string;
  let stage: Stage;
  let elsewhere: Stage;
  let path: string;
  let port: number;
  let standin: Standin | null = null;
  const running: RunningProcess[] = [];
  const payTo = Keypair.generate().publicKey.toBase58();
  const [ownReadModels, otherReadModels, newReadModels] = [ownDatabase(), ownDatabase(), ownDatabase()];
  const folder = (name: string) => join(directory, name);

  /** Starts the event store on a folder, at the address of the previous one. */
  async function handOver(name: string): Promise<void> {
    await standin?.close();
    standin = null;
    await mkdir(folder(name), { recursive: true });
    standin = await openStandin('--db', folder(name), '--port', String(port));
  }

  /** A copy of a log, taken while its event store is stopped. */
  async function copy(from: string, to: string): Promise<void> {
    await rm(folder(to), { recursive: true, force: true });
    await cp(folder(from), folder(to), { recursive: true });
  }

  const on = (over: NodeJS.ProcessEnv): Stage => ({ ...stage, environment: { ...stage.environment, ...over } });
  const asOther = () => on({ MONGODB_URL: otherReadModels.url });

  async function start(at: Stage): Promise<RunningProcess> {
    const service = await startService(at);
    running.push(service);
    return service;
  }

  async function sellOnce(at: Stage): Promise<void> {
    const service = await start(at);
    const before = await receivedBy(stage, payTo).catch(() => 0n);
    expect((await buy(at, path)).status).toBe(200);
    expect(await receivedBy(stage, payTo)).toBe(before + 990_000n);
    expect(await service.stop()).toBe(0);
  }

  /** Nothing is sold at a failed start. */
  async function refused(at: Stage, code: string): Promise<string> {
    const before = await receivedBy(stage, payTo);
    const said = await refusal(at);
    expect(said).toContain(`(${code})`);
    expect(await receivedBy(stage, payTo)).toBe(before);
    return said;
  }

  // `first` after one sale; `second` after another, as the read models have it; `other` of another service.
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'docket-other-engine-log-'));
    port = await freePort();
    const set = await setStage(directory, 1);
    stage = {
      ...set,
      environment: {
        ...set.environment,
        PAY_TO: payTo,
        LOG_LEVEL: 'info',
        EVENTSTORE_URL: `esdb://127.0.0.1:${port}?tls=false`,
        MONGODB_URL: ownReadModels.url,
      },
    };
    elsewhere = await setStage(folder('elsewhere'), 0);
    path = await demoCasePath();
    await handOver('second');
    await importDemoCase(stage);
    await sellOnce(stage);
    await standin?.close();
    await copy('second', 'first');
    await handOver('second');
    await sellOnce(stage);
    await handOver('other');
    await importDemoCase(asOther());
    await sellOnce(asOther());
  }, 600_000);
  afterEach(async () => {
    for (const service of running.splice(0)) await service.kill();
  });
  afterAll(async () => {
    await standin?.close();
    await stage?.chain.kill();
    await elsewhere?.chain.kill();
    for (const database of [ownReadModels, otherReadModels, newReadModels]) await database.drop();
    await rm(directory, { recursive: true, force: true });
  }, 60_000);

  describe('at its start', () => {
    it('rejects the log of another service with its own read models', async () => {
      await handOver('other');
      await refused(stage, 'log_differs');
      const imported = await docket(stage, 'import', DEMO_AFTER);
      expect([imported.code, imported.output]).toEqual([3, expect.stringContaining('(log_differs)')]);
    });

    it('rejects an emptied log with read models', async () => {
      await handOver('empty');
      expect(await refused(stage, 'log_missing')).toContain('MONGODB_URL');
      const imported = await docket(stage, 'import', DEMO_AFTER);
      expect([imported.code, imported.output]).toEqual([3, expect.stringContaining('(log_missing)')]);
    });

    it('rejects a log of another chain, with its read models or new ones, and decides no payment of it', async () => {
      await handOver('second');
      const before = await loggedPayments(stage);
      expect([...before.values()].map(({ settled, failed }) => [settled, failed])).toEqual([
        [1, 0],
        [1, 0],
      ]);
      const rpc = { SOLANA_RPC_URL: elsewhere.environment.SOLANA_RPC_URL };
      await refused(on(rpc), 'log_chain_differs');
      await refused(on({ ...rpc, MONGODB_URL: newReadModels.url }), 'log_chain_differs');
      // A node that creates its own local chain, as each of two nodes with SOLANA_NETWORK=local did.
      await refused(
        on({ SOLANA_RPC_URL: '', SOLANA_LOCAL_PORT: String(await freePort()), DATA_DIR: folder('own-chain') }),
        'log_chain_differs',
      );
      expect(await loggedPayments(stage)).toEqual(before);
      // Its own service finds it unchanged.
      const service = await start(stage);
      expect(service.output()).not.toContain('read_model_rebuilt');
    });
  });

  /** The folder that the service runs on from here; it is restored after each exchange. */
  async function exchanged(name: string, code: string): Promise<void> {
    await handOver('second');
    const service = await start(stage);
    expect((await buy(stage, path)).status).toBe(200);
    const before = await receivedBy(stage, payTo);
    await handOver(name);
    // A claim that was written to the other log may be settled by its owner: until that is known it is pending.
    for (let asked = 0; asked < 3; asked++) expect([202, 503]).toContain((await buy(stage, path)).status);
    await becomesUnready(stage, service, code);
    await expectNothingSold(stage, path, payTo);
    expect(await receivedBy(stage, payTo)).toBe(before);
    expect(service.output()).toContain(`"alarm":"${code}"`);
    await service.stop();
  }

  describe('while it runs', () => {
    it('sells nothing more from an emptied event store, and does not start on it again', async () => {
      await exchanged('emptied', 'log_emptied');
      await refused(stage, 'log_missing');
    });

    it('sells nothing more from the log of another service, and does not restart on it', async () => {
      await exchanged('other', 'log_differs');
      await refused(stage, 'log_differs');
    });

    it('sells nothing more from a log that went back; the next start rebuilds the read models and says so', async () => {
      await copy('first', 'older');
      await exchanged('older', 'log_went_back');
      // Until then, commands add nothing to it.
      const imported = await docket(stage, 'import', DEMO_AFTER);
      expect([imported.code, imported.output]).toEqual([3, expect.stringContaining('(read_models_ahead)')]);
      const service = await start(stage);
      expect(service.output()).toContain('"alarm":"read_model_rebuilt"');
      const before = await receivedBy(stage, payTo);
      const { status, location } = await buy(stage, path);
      expect(status).toBe(200);
      expect(await receivedBy(stage, payTo)).toBe(before + 990_000n);
      expect((await fetch(`${stage.url}${location}`)).status).toBe(200);
    });
  });
});
