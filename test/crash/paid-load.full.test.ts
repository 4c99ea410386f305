import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PublicKey } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PRICE, tokenAccountOf } from '../solana/payment-transactions.ts';
import { DOCKET, type RunningProcess, until } from '../support/processes.ts';
import { type Attempt, pay, SLOT_MS, type Stage, setStage, startService } from './paid-load.ts';

const KILLS = Number(process.env.KILLS ?? 20);
const WALLETS = 16;
const FIXTURE = new URL('../../fixtures/demo-before.json', import.meta.url).pathname;
/** A payment whose fate only expiry decides is known 20 s after finality has passed its last valid block. */
const DECIDED_WITHIN_MS = (150 + 32) * SLOT_MS + 20_000 + 10_000;

interface PaymentEventLine {
  readonly stream: string;
  readonly type: string;
  readonly data: { requestId?: string; wallet?: string; transaction?: string };
}

async function docket(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [DOCKET, ...args], {
    env: { ...process.env, NODE_ENV: 'test', ...environment },
    maxBuffer: 512 * 1024 * 1024,
  });
  return stdout;
}

describe(`${KILLS} kills at random under paid load`, () => {
  let directory: string;
  let stage: Stage;
  let service: RunningProcess;
  const attempts: Attempt[] = [];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'docket-kill-'));
    stage = await setStage(directory, WALLETS);
    await docket(['import', FIXTURE, '--json'], stage.environment);
    service = await startService(stage);
  }, 120_000);

  afterAll(async () => {
    await service?.kill();
    await stage?.chain.kill();
    await rm(directory, { recursive: true, force: true });
  });

  it('every payment ends answered or uncharged, and none is charged twice', async () => {
    const { court_id: court, docket_number: number } = JSON.parse(
      await (await import('node:fs/promises')).readFile(FIXTURE, 'utf8'),
    );
    const path = `/v2/case?court_code=${court}&case_id=${encodeURIComponent(number)}`;
    let stopped = false;
    const callers = stage.wallets.map((wallet) => pay(stage, wallet, path, attempts, () => stopped));
    for (let kill = 0; kill < KILLS; kill++) {
      await new Promise((done) => setTimeout(done, 50 + randomInt(1_500)));
      await service.kill();
      service = await startService(stage);
    }
    await new Promise((done) => setTimeout(done, 1_000));
    stopped = true;
    await Promise.all(callers);

    let events: readonly PaymentEventLine[] = [];
    const undecided = () => {
      const open = new Set<string>();
      for (const { stream, type } of events) {
        if (type === 'PaymentSubmitted') open.add(stream);
        if (/^Payment(Settled|SettledLate|Failed)$/.test(type)) open.delete(stream);
      }
      return open.size;
    };
    await until(
      'every submitted payment has its outcome',
      async () => {
        const lines = await docket(['audit', 'replay', 'payments', '--json'], stage.environment);
        events = lines
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line));
        return undecided() === 0;
      },
      { process: service, within: DECIDED_WITHIN_MS, every: 1_000 },
    );

    const requests = new Map<string, { requestId: string; wallet: string; settled: number; failed: number }>();
    for (const { stream, type, data } of events) {
      if (type === 'PaymentAuthorized') {
        requests.set(stream, { requestId: data.requestId ?? '', wallet: data.wallet ?? '', settled: 0, failed: 0 });
      }
      const request = requests.get(stream);
      if (request && (type === 'PaymentSettled' || type === 'PaymentSettledLate')) request.settled += 1;
      if (request && type === 'PaymentFailed') request.failed += 1;
    }
    const settled = [...requests.values()].filter((request) => request.settled > 0);

    // None is charged twice: the money that left each wallet is the price of what was settled for it, exactly.
    expect(settled.filter((request) => request.settled !== 1)).toEqual([]);
    for (const { publicKey } of stage.wallets) {
      const wallet = publicKey.toBase58();
      const left = 500_000_000n - (await stage.rpc.tokens(tokenAccountOf(new PublicKey(wallet)).toBase58()));
      const bought = settled.filter((request) => request.wallet === wallet).length;
      expect(left, `base units that left ${wallet}`).toBe(PRICE * BigInt(bought));
    }

    // Money taken is always answered: each settled request has its answer at its result URL.
    for (const { requestId } of settled) {
      const result = await fetch(`${stage.url}/v2/results/${requestId}`);
      const body = (await result.json()) as { meta: { request_id: string } };
      expect([result.status, body.meta.request_id]).toEqual([200, requestId]);
    }

    // What callers were told is true: a 200 was settled, a refusal never is.
    const settledIds = new Set(settled.map(({ requestId }) => requestId));
    for (const { status, requestId } of attempts) {
      if (status === 200) expect(settledIds.has(requestId ?? ''), `${requestId} was answered`).toBe(true);
      if (typeof status === 'number' && status >= 400) expect(settledIds.has(requestId ?? '')).toBe(false);
    }
    const answered = attempts.filter(({ status }) => status === 200).length;
    const lost = attempts.filter(({ status }) => status === 'connection lost').length;
    console.log(
      `${KILLS} kills: ${attempts.length} payments sent, ${answered} answered, ${lost} connections lost, ` +
        `${settled.length} settled (${settled.length - answered} of them fetched later), ` +
        `${[...requests.values()].filter((request) => request.failed).length} failed uncharged`,
    );
    expect(answered).toBeGreaterThan(KILLS);
    expect(lost).toBeGreaterThan(0);
  });
});
