/**
 * The wall clock is set hours forward and back while callers pay, callbacks are sent and the service is killed: nothing
 * is lost, no caller pays twice, and no callback waits longer than its own wait.
 */
import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLOCK_TOLERANCE } from '../../src/commands/delivery/wait.ts';
import { type RunningProcess, until } from '../support/processes.ts';
import { decidedPayments, expectAgreement } from './agreement.ts';
import { type CallbackStage, setCallbackStage } from './callback-stage.ts';
import {
  endedDeliveries,
  expectDeliveryAgreement,
  type LoggedDelivery,
  loggedDeliveries,
} from './delivery-agreement.ts';
import { demoCasePath, importDemoCase } from './demo-case.ts';
import { type Attempt, pay, proveWallets, startService } from './paid-load.ts';

const KILLS = Number(process.env.KILLS ?? 20);
const WALLETS = 8;
const LONGEST_JUMP_MS = 6 * 3_600_000;
/** Within this time a process notices that its clock was set back, looks everything up again and records it. */
const NOTICED_WITHIN_MS = 60_000;

describe(`${KILLS} kills at random under paid load, with the clock set hours forward and back`, () => {
  let world: CallbackStage;
  let service: RunningProcess;

  const rest = (longest: number) => new Promise((done) => setTimeout(done, randomInt(longest)));
  const jump = () => world.clock.move(randomInt(2 * LONGEST_JUMP_MS) - LONGEST_JUMP_MS);

  beforeAll(async () => {
    world = await setCallbackStage(WALLETS);
    await importDemoCase(world.stage);
    service = await startService(world.stage);
  }, 120_000);

  afterAll(async () => {
    await service?.kill();
    await world?.close();
  });

  /** Whether a delivery would wait longer from now on than its wait lasts. */
  const waitsTooLong = ({ wait }: LoggedDelivery): boolean => {
    if (!wait || wait.since === wait.until) return false;
    const [since, due] = [Date.parse(wait.since), Date.parse(wait.until)];
    return due - world.clock.now() > due - since + CLOCK_TOLERANCE / 1_000;
  };

  it(
    'nothing is lost, no caller pays twice, and every callback arrives or is tried seven times, on time',
    async () => {
      const { stage, receiver, clock } = world;
      const path = await demoCasePath(`http://127.0.0.1:${receiver.port}/hook`);
      const attempts: Attempt[] = [];
      await proveWallets(stage, path, attempts);
      let answered = 0;
      const told = (status: number) => {
        if (status === 200) answered++;
      };
      let stopped = false;
      const callers = stage.wallets.map((wallet) => pay(stage, wallet, path, attempts, () => stopped, { told }));
      for (let kill = 0; kill < KILLS; kill++) {
        await rest(1_000);
        jump();
        await rest(800);
        if (randomInt(3) === 0) jump();
        await service.kill();
        if (randomInt(2) === 0) jump();
        service = await startService(stage);
      }
      // A slow machine may have answered no caller between two kills.
      await until('callers are answered', async () => answered > KILLS, { process: service, within: 240_000 });
      // Once more every kind of wait is in the future of the clock; from here on only the service itself acts.
      await rest(1_000);
      clock.move(-LONGEST_JUMP_MS);
      await rest(1_000);
      stopped = true;
      await Promise.all(callers);
      receiver.heal();

      await until(
        'no callback waits longer than its wait lasts',
        async () => ![...(await loggedDeliveries(stage)).values()].some(waitsTooLong),
        { process: service, within: NOTICED_WITHIN_MS, every: 1_000 },
      );
      const payments = await decidedPayments(stage, service);
      const ended = await endedDeliveries(stage, service, clock);

      const settled = await expectAgreement(stage, payments.values(), attempts);
      const interrupted = expectDeliveryAgreement(ended, receiver.hits, null);
      const all = [...ended.deliveries.values()];
      const unacknowledged = all.filter(({ finished }) => finished.at(-1)?.outcome !== 'acknowledged');
      for (const { finished } of unacknowledged) {
        expect(finished.filter(({ outcome }) => outcome === 'failed')).toHaveLength(7);
      }
      const rescheduled = all.reduce((sum, delivery) => sum + delivery.rescheduled, 0);
      console.log(
        `${KILLS} kills with jumps of the clock: ${attempts.length} payments sent, ${settled.length} settled; ` +
          `${all.length} deliveries owed, ${all.length - unacknowledged.length} acknowledged, ` +
          `${unacknowledged.length} failed; ${interrupted} attempts interrupted, ${rescheduled} waits rescheduled`,
      );
      expect(all.length).toBeGreaterThan(KILLS);
      expect(rescheduled).toBeGreaterThan(0);
    },
    30 * 60_000,
  );
});
