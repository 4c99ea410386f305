/**
 * The wall clock is set hours forward and back while callers pay, callbacks go out and the service is killed: nothing is
 * lost, nobody pays twice, and no callback waits longer than its own wait is long.
 */
import { randomInt } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLOCK_TOLERANCE } from '../../src/commands/delivery-wait.ts';
import { type MovedClock, movedClock } from '../support/moved-clock.ts';
import { type RunningProcess, until } from '../support/processes.ts';
import { docket, expectAgreement, isUndecided, loggedPayments } from './agreement.ts';
import {
  expectDeliveryAgreement,
  isFinal,
  type LoggedDelivery,
  loggedDeliveries,
  owedDeliveries,
} from './delivery-agreement.ts';
import { type FailingReceiver, openFailingReceiver } from './failing-receiver.ts';
import { type Attempt, pay, SLOT_MS, type Stage, setStage, startService } from './paid-load.ts';

const KILLS = Number(process.env.KILLS ?? 20);
const WALLETS = 8;
const FIXTURE = new URL('../../fixtures/demo-before.json', import.meta.url).pathname;
const DECIDED_WITHIN_MS = (150 + 32) * SLOT_MS + 30_000;
const HOUR_MS = 3_600_000;
const LONGEST_JUMP_MS = 6 * HOUR_MS;
/** Within which a process notices that its clock was set back, looks everything up anew and records it. */
const NOTICED_WITHIN_MS = 60_000;

describe(`${KILLS} kills at random under paid load, and the clock set hours forward and back`, () => {
  let directory: string;
  let stage: Stage;
  let receiver: FailingReceiver;
  let service: RunningProcess;
  let clock: MovedClock;

  const rest = (longest: number) => new Promise((done) => setTimeout(done, randomInt(longest)));
  const jump = () => clock.move(randomInt(2 * LONGEST_JUMP_MS) - LONGEST_JUMP_MS);

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'docket-clock-'));
    receiver = await openFailingReceiver();
    clock = movedClock(directory);
    const setting = await setStage(directory, WALLETS);
    stage = {
      ...setting,
      environment: {
        ...setting.environment,
        ...clock.environment,
        CALLBACK_ALLOW_PRIVATE: `127.0.0.1:${receiver.port}`,
      },
    };
    await docket(['import', FIXTURE, '--json'], stage.environment);
    service = await startService(stage);
  }, 120_000);

  afterAll(async () => {
    await service?.kill();
    await stage?.chain.kill();
    await receiver?.close();
    await rm(directory, { recursive: true, force: true });
  });

  /** Longer than a wait is long, a delivery may not wait from now on. */
  const waitsTooLong = ({ wait }: LoggedDelivery): boolean => {
    if (!wait || wait.since === wait.until) return false;
    const [since, due] = [Date.parse(wait.since), Date.parse(wait.until)];
    return due - clock.now() > due - since + CLOCK_TOLERANCE / 1_000;
  };

  it(
    'nothing is lost, nobody pays twice, and every callback arrives or is tried seven times, in its time',
    async () => {
      const { court_id: court, docket_number: number } = JSON.parse(await readFile(FIXTURE, 'utf8'));
      const target = encodeURIComponent(`http://127.0.0.1:${receiver.port}/hook`);
      const path = `/v2/case?court_code=${court}&case_id=${encodeURIComponent(number)}&callback_url=${target}`;
      const attempts: Attempt[] = [];
      let stopped = false;
      const callers = stage.wallets.map((wallet) => pay(stage, wallet, path, attempts, () => stopped));
      for (let kill = 0; kill < KILLS; kill++) {
        await rest(1_000);
        jump();
        await rest(800);
        if (randomInt(3) === 0) jump();
        await service.kill();
        if (randomInt(2) === 0) jump();
        service = await startService(stage);
      }
      // Every kind of wait is left behind once more, and then nothing helps but what the service does by itself.
      await rest(1_000);
      clock.move(-LONGEST_JUMP_MS);
      await rest(1_000);
      stopped = true;
      await Promise.all(callers);
      receiver.heal();

      await until(
        'no callback waits for longer than its wait is long',
        async () => ![...(await loggedDeliveries(stage)).values()].some(waitsTooLong),
        { process: service, within: NOTICED_WITHIN_MS, every: 1_000 },
      );
      await until(
        'every submitted payment has its outcome',
        async () => ![...(await loggedPayments(stage)).values()].some(isUndecided),
        { process: service, within: DECIDED_WITHIN_MS, every: 1_000 },
      );
      const owed = await owedDeliveries(stage);
      await until(
        'every delivery owed has come to its end',
        async () => {
          clock.move(HOUR_MS);
          const deliveries = [...(await loggedDeliveries(stage)).values()];
          return deliveries.length === owed.size && deliveries.every(isFinal);
        },
        { process: service, within: 240_000, every: 2_000 },
      );

      const settled = await expectAgreement(stage, (await loggedPayments(stage)).values(), attempts);
      const deliveries = await loggedDeliveries(stage);
      const interrupted = expectDeliveryAgreement(deliveries, owed, receiver.hits, null);
      const all = [...deliveries.values()];
      const unacknowledged = all.filter(({ finished }) => finished.at(-1)?.outcome !== 'acknowledged');
      for (const { finished } of unacknowledged) {
        expect(finished.filter(({ outcome }) => outcome === 'failed')).toHaveLength(7);
      }
      const rescheduled = all.reduce((sum, delivery) => sum + delivery.rescheduled, 0);
      console.log(
        `${KILLS} kills with jumps of the clock: ${attempts.length} payments sent, ${settled.length} settled; ` +
          `${all.length} deliveries owed, ${all.length - unacknowledged.length} acknowledged, ` +
          `${unacknowledged.length} failed; ${interrupted} attempts interrupted, ${rescheduled} waits timed anew`,
      );
      expect(all.length).toBeGreaterThan(KILLS);
      expect(rescheduled).toBeGreaterThan(0);
    },
    30 * 60_000,
  );
});
