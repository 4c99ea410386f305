/**
 * The connections to both engines are broken in every way under paid load with callbacks, for the service as a separate
 * process. The event store is a stand-in that only this test uses. No fault reaches FerretDB in the middle of a
 * command, since it may never answer again after that: its proxy passes one whole command at a time, and waits for its
 * end even if the client is gone.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultProxy, openFaultProxy, seeded } from '../support/fault-proxy.ts';
import type { RunningProcess } from '../support/processes.ts';
import { SEED } from '../support/seed.ts';
import { openStandin, type Standin } from '../support/standin.ts';
import { ENGINES, ownDatabase } from '../support/storage.ts';
import { type CallbackStage, setCallbackStage } from './callback-stage.ts';
import { demoCasePath, importDemoCase } from './demo-case.ts';
import {
  expectAlive,
  expectNoRuntimeWarning,
  expectToldOnce,
  type FaultyRun,
  liveThroughAnOutage,
  liveThroughFaults,
  type Outage,
} from './faulty-peers.ts';
import { expectOneStory } from './one-story.ts';
import { type Attempt, startService } from './paid-load.ts';

/** With CI's ten kills, each kind of fault occurs once. */
const FAULTS_EACH = Math.ceil(Number(process.env.KILLS ?? 20) * 0.7);
const WALLETS = 2;

describe.skipIf(!ENGINES.mongo)(`${FAULTS_EACH} faults of each engine's connections, seed ${SEED}`, () => {
  const random = seeded(SEED);
  let world: CallbackStage;
  let standin: Standin;
  let database: ReturnType<typeof ownDatabase>;
  let proxies: Record<'eventStore' | 'mongo', FaultProxy>;
  let service: RunningProcess;
  let path: string;
  const outages: Outage[] = [];
  const attempts: Attempt[] = [];
  const run = (): FaultyRun => ({ stage: world.stage, service, path, attempts });

  beforeAll(async () => {
    standin = await openStandin();
    database = ownDatabase();
    const mongo = new URL(database.url);
    proxies = {
      eventStore: await openFaultProxy(standin.ports[0] ?? 0, random),
      mongo: await openFaultProxy(Number(mongo.port || 27_017), random, mongo.hostname),
    };
    mongo.host = `127.0.0.1:${proxies.mongo.port}`;
    // Otherwise the driver would bypass the proxy and connect to the members of a replica set.
    mongo.searchParams.set('directConnection', 'true');
    const setting = await setCallbackStage(WALLETS);
    const environment = {
      ...setting.stage.environment,
      LOG_LEVEL: 'info',
      EVENTSTORE_URL: `esdb://127.0.0.1:${proxies.eventStore.port}?tls=false`,
      MONGODB_URL: mongo.href,
    };
    world = { ...setting, stage: { ...setting.stage, environment } };
    await importDemoCase(world.stage);
    service = await startService(world.stage);
    path = await demoCasePath(`http://127.0.0.1:${world.receiver.port}/hook`);
  }, 300_000);

  afterAll(async () => {
    await service?.kill();
    await Promise.all(Object.values(proxies ?? {}).map((proxy) => proxy.close()));
    await world?.close();
    await standin?.close();
    await database?.drop();
  }, 60_000);

  it(
    'the event store: one process survives',
    async () => {
      await liveThroughFaults(run(), { part: 'event_log', proxy: proxies.eventStore }, FAULTS_EACH, random);
      outages.push(await liveThroughAnOutage(run(), { part: 'event_log', proxy: proxies.eventStore }));
    },
    15 * 60_000,
  );

  it(
    'MongoDB: one process survives',
    async () => {
      await liveThroughFaults(run(), { part: 'read_store', proxy: proxies.mongo }, FAULTS_EACH, random);
      outages.push(await liveThroughAnOutage(run(), { part: 'read_store', proxy: proxies.mongo }));
    },
    15 * 60_000,
  );

  it(
    'and reports each outage and each recovery once',
    async () => {
      expect(outages.map(({ part }) => part)).toEqual(['event_log', 'read_store']);
      for (const outage of outages) await expectToldOnce(run(), outage);
    },
    10 * 60_000,
  );

  it(
    'the chain, the log, the callers and the receiver agree',
    async () => {
      await expectOneStory(world, service, attempts);
      expectNoRuntimeWarning(service.output());
      expectAlive(service);
    },
    30 * 60_000,
  );
});
