import { randomInt } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningProcess, until } from '../support/processes.ts';
import { docket, expectAgreement, isUndecided, type LoggedPayment, loggedPayments } from './agreement.ts';
import { type Attempt, pay, SLOT_MS, type Stage, setStage, startService } from './paid-load.ts';

const KILLS = Number(process.env.KILLS ?? 20);
const WALLETS = 16;
const FIXTURE = new URL('../../fixtures/demo-before.json', import.meta.url).pathname;
/** A payment whose fate only expiry decides is known 20 s after finality has passed its last valid block. */
const DECIDED_WITHIN_MS = (150 + 32) * SLOT_MS + 20_000 + 10_000;

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
    const { court_id: court, docket_number: number } = JSON.parse(await readFile(FIXTURE, 'utf8'));
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

    let payments: ReadonlyMap<string, LoggedPayment> = new Map();
    await until(
      'every submitted payment has its outcome',
      async () => {
        payments = await loggedPayments(stage);
        return ![...payments.values()].some(isUndecided);
      },
      { process: service, within: DECIDED_WITHIN_MS, every: 1_000 },
    );
    const settled = await expectAgreement(stage, payments.values(), attempts);
    const answered = attempts.filter(({ status }) => status === 200).length;
    const lost = attempts.filter(({ status }) => status === 'connection lost').length;
    console.log(
      `${KILLS} kills: ${attempts.length} payments sent, ${answered} answered, ${lost} connections lost, ` +
        `${settled.length} settled (${settled.length - answered} of them fetched later), ` +
        `${[...payments.values()].filter(({ failed }) => failed).length} failed uncharged`,
    );
    expect(answered).toBeGreaterThan(KILLS);
    expect(lost).toBeGreaterThan(0);
  });
});
