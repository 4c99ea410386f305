/** The connections to the chain and to a receiver of callbacks are broken in every way under paid load. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultProxy, openFaultProxy, seeded } from '../support/fault-proxy.ts';
import type { RunningProcess } from '../support/processes.ts';
import { SEED } from '../support/seed.ts';
import { decidedPayments, expectAgreement } from './agreement.ts';
import { type CallbackStage, setCallbackStage } from './callback-stage.ts';
import { endedDeliveries } from './delivery-agreement.ts';
import { demoCasePath, importDemoCase } from './demo-case.ts';
import {
  expectAlive,
  expectToldOnce,
  type FaultyRun,
  liveThroughAnOutage,
  liveThroughFaults,
  type Outage,
} from './faulty-peers.ts';
import { type Attempt, startService } from './paid-load.ts';

/** With CI's ten kills, each kind of fault occurs once. */
const FAULTS_EACH = Math.ceil(Number(process.env.KILLS ?? 20) * 0.7);
const WALLETS = 2;

describe(`${FAULTS_EACH} faults of each peer's connections, seed ${SEED}`, () => {
  const random = seeded(SEED);
  let world: CallbackStage;
  let proxies: Record<'chain' | 'receiver', FaultProxy>;
  let service: RunningProcess;
  let path: string;
  let outage: Outage;
  const attempts: Attempt[] = [];
  const run = (): FaultyRun => ({ stage: world.stage, service, path, attempts });

  beforeAll(async () => {
    const setting = await setCallbackStage(WALLETS);
    proxies = {
      chain: await openFaultProxy(Number(new URL(setting.stage.rpc.url).port), random),
      receiver: await openFaultProxy(setting.receiver.port, random),
    };
    const environment = {
      ...setting.stage.environment,
      LOG_LEVEL: 'info',
      SOLANA_RPC_URL: `http://127.0.0.1:${proxies.chain.port}`,
      CALLBACK_ALLOW_PRIVATE: `127.0.0.1:${proxies.receiver.port}`,
    };
    world = { ...setting, stage: { ...setting.stage, environment } };
    await importDemoCase(world.stage);
    service = await startService(world.stage);
    path = await demoCasePath(`http://127.0.0.1:${proxies.receiver.port}/hook`);
  }, 120_000);

  afterAll(async () => {
    await service?.kill();
    await Promise.all(Object.values(proxies ?? {}).map((proxy) => proxy.close()));
    await world?.close();
  }, 60_000);

  it('the chain: one process survives', async () => {
    await liveThroughFaults(run(), { part: 'chain', proxy: proxies.chain }, FAULTS_EACH, random);
    outage = await liveThroughAnOutage(run(), { part: 'chain', proxy: proxies.chain });
  });

  it('a receiver of callbacks: one process survives', async () => {
    await liveThroughFaults(run(), { part: null, proxy: proxies.receiver }, FAULTS_EACH, random);
  });

  it('and reports the outage and the recovery of the chain once', async () => {
    await expectToldOnce(run(), outage);
  });

  it('the chain, the log, the callers and the receiver agree', async () => {
    world.receiver.heal();
    const payments = await decidedPayments(world.stage, service, 240_000);
    const settled = await expectAgreement(world.stage, payments.values(), attempts);
    const ended = await endedDeliveries(world.stage, service, world.clock);
    // If a fault has swallowed an acknowledgement, the callback is sent again, so duplicates are correct here.
    expect([...ended.deliveries.keys()].sort()).toEqual([...ended.owed.keys()].sort());
    for (const { idempotencyKey } of world.receiver.hits) expect(ended.deliveries.has(idempotencyKey)).toBe(true);
    console.log(`${attempts.length} payments, ${settled.length} settled, ${ended.deliveries.size} callbacks`);
    expect(settled.length).toBeGreaterThan(0);
    expectAlive(service);
  });
});
