import { randomBytes, randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningProcess, until } from '../support/processes.ts';
import { decidedPayments, docket, expectVerified } from './agreement.ts';
import { type CallbackStage, setCallbackStage } from './callback-stage.ts';
import { endedDeliveries, expectDeliveryAgreement } from './delivery-agreement.ts';
import { demoCasePath, importDemoCase } from './demo-case.ts';
import { type Attempt, pay, startService } from './paid-load.ts';

/** This also runs on the engines (`vitest.integration.config.ts`), where everything takes longer. */
const ON_ENGINES = process.env.TEST_STORAGE === 'engines';
const KILLS = Number(process.env.KILLS ?? (ON_ENGINES ? 3 : 20));
const WALLETS = 8;
/** Must never leave the service except toward the receiver. */
const TOKEN = `token-${randomBytes(8).toString('hex')}`;

describe(`${KILLS} kills at random under paid load, with a receiver that fails at random`, () => {
  let world: CallbackStage;
  let service: RunningProcess;
  let said = '';

  beforeAll(async () => {
    world = await setCallbackStage(WALLETS);
    await importDemoCase(world.stage);
    service = await startService(world.stage);
  }, 120_000);

  afterAll(async () => {
    await service?.kill();
    await world?.close();
  });

  it(
    'every owed callback arrives or is tried seven times, and the log shows what happened',
    async () => {
      const { stage, receiver, clock } = world;
      const path = await demoCasePath(`http://127.0.0.1:${receiver.port}/hook?secret=${TOKEN}`);
      const attempts: Attempt[] = [];
      const kills: number[] = [];
      let stopped = false;
      let answered = 0;
      const told = (status: number) => {
        if (status === 200) answered++;
      };
      const callers = stage.wallets.map((wallet) => pay(stage, wallet, path, attempts, () => stopped, { told }));
      for (let kill = 0; kill < KILLS; kill++) {
        await new Promise((done) => setTimeout(done, 100 + randomInt(1_500)));
        // Most attempts are due only minutes after the previous one.
        clock.move(randomInt(6 * 60_000));
        await new Promise((done) => setTimeout(done, randomInt(400)));
        said += service.output();
        await service.kill();
        kills.push(clock.now());
        service = await startService(stage);
      }
      // A slow machine may have answered no caller between two kills.
      await until('callers are answered', async () => answered > KILLS, { process: service, within: 240_000 });
      stopped = true;
      await Promise.all(callers);
      receiver.heal();

      await decidedPayments(stage, service);
      const ended = await endedDeliveries(stage, service, clock);
      const { deliveries } = ended;
      const interrupted = expectDeliveryAgreement(ended, receiver.hits, kills);
      await expectVerified(stage);

      const made = [...deliveries.values()].reduce((sum, { started }) => sum + started.length, 0);
      const acknowledged = [...deliveries.values()].filter(
        ({ finished }) => finished.at(-1)?.outcome === 'acknowledged',
      );
      console.log(
        `${KILLS} kills: ${deliveries.size} deliveries owed, ${acknowledged.length} acknowledged, ` +
          `${deliveries.size - acknowledged.length} failed; ${made} attempts, ${interrupted} of them interrupted, ` +
          `${receiver.hits.length} requests received`,
      );
      expect(deliveries.size).toBeGreaterThan(KILLS);
      expect(made).toBeGreaterThan(deliveries.size);

      const events = await docket(['audit', 'replay', 'deliveries', '--json'], stage.environment);
      said += service.output();
      for (const place of [events, said]) {
        expect(place).not.toContain(TOKEN);
        for (const { headers } of receiver.hits)
          expect(place).not.toContain(`${headers['x-service-signature']}`.slice(7));
      }
    },
    30 * 60_000,
  );
});
