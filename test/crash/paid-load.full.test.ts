import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningProcess } from '../support/processes.ts';
import { decidedPayments, expectAgreement } from './agreement.ts';
import { demoCasePath, importDemoCase } from './demo-case.ts';
import { type Attempt, pay, proveWallets, type Stage, setStage, startService, untilUnderWay } from './paid-load.ts';

const KILLS = Number(process.env.KILLS ?? 20);
const WALLETS = 16;
/** Answers between two kills: so few that the wallets do not use up their 60 requests of a minute. */
const MOST_ANSWERS = 60;

describe(`${KILLS} kills at random under paid load`, () => {
  let directory: string;
  let stage: Stage;
  let service: RunningProcess;
  const attempts: Attempt[] = [];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'docket-kill-'));
    stage = await setStage(directory, WALLETS);
    await importDemoCase(stage);
    service = await startService(stage);
  }, 120_000);

  afterAll(async () => {
    await service?.kill();
    await stage?.chain.kill();
    await rm(directory, { recursive: true, force: true });
  });

  it('every payment ends answered or uncharged, and none is charged twice', async () => {
    const path = await demoCasePath();
    // The others are new: the first kills may keep them out for a while.
    const proven = stage.wallets.slice(WALLETS / 2);
    await proveWallets(stage, path, attempts, proven);
    let stopped = false;
    const callers = stage.wallets.map((wallet) => pay(stage, wallet, path, attempts, () => stopped));
    for (let kill = 0; kill < KILLS; kill++) {
      await untilUnderWay(service, attempts, MOST_ANSWERS);
      await service.kill();
      service = await startService(stage);
    }
    await untilUnderWay(service, attempts, MOST_ANSWERS);
    stopped = true;
    await Promise.all(callers);

    const payments = await decidedPayments(stage, service);
    const settled = await expectAgreement(stage, payments.values(), attempts);
    const answered = attempts.filter(({ status }) => status === 200).length;
    const lost = attempts.filter(({ status }) => status === 'connection lost').length;
    console.log(
      `${KILLS} kills: ${attempts.length} payments sent, ${answered} answered, ${lost} connections lost, ` +
        `${settled.length} settled (${settled.length - answered} of them fetched later), ` +
        `${[...payments.values()].filter(({ failed }) => failed).length} failed uncharged`,
    );
    expect(answered).toBeGreaterThan(proven.length + KILLS);
    expect(lost).toBeGreaterThan(0);
  });
});
