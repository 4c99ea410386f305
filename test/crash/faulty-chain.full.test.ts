import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { honest, LYING, MOODS, type Mood, type MoodName } from '../solana/chain-moods.ts';
import { type FaultyRpc, openFaultyRpc } from '../solana/faulty-rpc.ts';
import type { RunningProcess } from '../support/processes.ts';
import { decidedPayments, expectAgreement } from './agreement.ts';
import { demoCasePath, importDemoCase } from './demo-case.ts';
import { type Attempt, pay, proveWallets, type Stage, setStage, startService, untilUnderWay } from './paid-load.ts';

const KILLS = Number(process.env.KILLS ?? 20);
const WALLETS = 12;
/** Bounds of the payments page: after the restart, and after finality has passed the last valid block. */
const DECIDED_MS = 30_000;
const EXPIRED_MS = 20_000;
/** Allows for the clocks of two processes, the polling of this test, and a machine that is slow or pauses. */
const TOLERANCE_MS = 15_000;

const names = Object.keys(MOODS) as MoodName[];
const truthful = names.filter((name) => !LYING.has(name));
const anyOf = <T>(list: readonly T[]): T => list[randomInt(list.length)] as T;

/**
 * Calls made at the start of the service and by its health checks: they alert an operator and belong to no payment. One
 * that shares a batch with a payment's calls fails with them, and is retried alone.
 */
const APART = new Set(['getGenesisHash', 'getBalance', 'getAccountInfo', 'requestAirdrop', 'requestTokenAirdrop']);
const sparing =
  (mood: Mood): Mood =>
  (call) =>
    APART.has(call.method) ? honest(call) : mood(call);

/**
 * Changes the endpoints' moods now and then; no two endpoints lie at once, since then nothing could establish the
 * truth.
 */
function moodSwings(endpoints: readonly FaultyRpc[]) {
  const seen = new Set<string>();
  let timer: NodeJS.Timeout;
  const swing = () => {
    const liar = randomInt(endpoints.length);
    endpoints.forEach((endpoint, index) => {
      const name = randomInt(3) === 0 ? null : anyOf(index === liar ? names : truthful);
      if (name) seen.add(name);
      endpoint.fault = name ? sparing(MOODS[name]) : honest;
    });
    timer = setTimeout(swing, 100 + randomInt(1_400));
  };
  swing();
  return {
    seen,
    stop() {
      clearTimeout(timer);
      for (const endpoint of endpoints) endpoint.fault = honest;
    },
  };
}

describe(`${KILLS} kills at random, with a chain that misbehaves at random`, () => {
  let directory: string;
  let stage: Stage;
  let endpoints: readonly FaultyRpc[] = [];
  let service: RunningProcess;
  const attempts: Attempt[] = [];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'docket-faulty-'));
    const setting = await setStage(directory, WALLETS);
    endpoints = await Promise.all([openFaultyRpc(setting.rpc.url), openFaultyRpc(setting.rpc.url)]);
    stage = {
      ...setting,
      environment: { ...setting.environment, SOLANA_RPC_URL: endpoints.map(({ url }) => url).join(',') },
    };
    await importDemoCase(stage);
    service = await startService(stage);
  }, 120_000);

  afterAll(async () => {
    await service?.kill();
    await stage?.chain.kill();
    await Promise.all(endpoints.map((endpoint) => endpoint.close()));
    await rm(directory, { recursive: true, force: true });
  });

  it('every payment ends answered or uncharged, in time, and none is charged twice', async () => {
    const path = await demoCasePath();
    const finality = watchFinality(stage);
    await proveWallets(stage, path, attempts);
    const told = (wanted: Attempt['status']) => attempts.filter(({ status }) => status === wanted).length;
    const swings = moodSwings(endpoints);
    let stopped = false;
    const callers = stage.wallets.map((wallet) => pay(stage, wallet, path, attempts, () => stopped));
    /** Time for some moods, and then a payment that the kill interrupts. */
    const killInTheMiddle = async () => {
      await new Promise((done) => setTimeout(done, 200 + randomInt(2_300)));
      await untilUnderWay(service, attempts, 0);
      await service.kill();
    };
    // A slow machine, or moods that let little through, may need more.
    const hasSold = () => told(200) > WALLETS + KILLS;
    for (let kill = 1; kill < KILLS || (!hasSold() && kill < 3 * KILLS); kill++) {
      await killInTheMiddle();
      service = await startService(stage);
    }
    await killInTheMiddle();
    // The last restart finds everything that the faults have left, and a chain that answers again.
    stopped = true;
    swings.stop();
    service = await startService(stage);
    const restartedAt = Date.now();
    await Promise.all(callers);

    const payments = await decidedPayments(stage, service, 90_000);
    finality.stop();
    let slowest = 0;
    for (const payment of payments.values()) {
      const { outcomeAt, reason, lastValidBlockHeight } = payment;
      if (outcomeAt === null) continue;
      const bound =
        reason === 'expired'
          ? Math.max(finality.passedAt(lastValidBlockHeight ?? 0), restartedAt) + EXPIRED_MS
          : restartedAt + DECIDED_MS;
      if (reason !== 'expired') slowest = Math.max(slowest, outcomeAt - restartedAt);
      expect(outcomeAt, JSON.stringify(payment)).toBeLessThan(bound + TOLERANCE_MS);
    }
    const settled = await expectAgreement(stage, payments.values(), attempts);

    const failed = [...payments.values()].filter((payment) => payment.failed > 0).length;
    console.log(
      `${KILLS} kills, moods ${[...swings.seen].join(' ')}: ${attempts.length} payments sent, ${told(200)} answered, ` +
        `${told(202)} pending, ${told(402)} rejected, ${told(503)} unavailable, ${told('connection lost')} connections ` +
        `lost; ${settled.length} settled, ${failed} failed uncharged; the last settled ${slowest} ms after the last restart`,
    );
    expect(settled.length).toBeGreaterThan(WALLETS + KILLS);
    expect(told('connection lost')).toBeGreaterThan(0);
  });
});

/** Records when the finalized height of the chain itself passed each height. */
function watchFinality({ rpc }: Stage) {
  const passed: { readonly at: number; readonly height: number }[] = [];
  const look = async () => {
    const { blockHeight } = await rpc.call<{ blockHeight: number }>('getEpochInfo', { commitment: 'finalized' });
    passed.push({ at: Date.now(), height: blockHeight });
  };
  const timer = setInterval(() => void look().catch(() => undefined), 200);
  return {
    passedAt: (height: number) => passed.find((one) => one.height > height)?.at ?? Date.now(),
    stop: () => clearInterval(timer),
  };
}
