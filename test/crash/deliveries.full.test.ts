import { randomBytes, randomInt } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type MovedClock, movedClock } from '../support/moved-clock.ts';
import { type RunningProcess, until } from '../support/processes.ts';
import { docket, isUndecided, loggedPayments } from './agreement.ts';
import { expectDeliveryAgreement, isFinal, loggedDeliveries, owedDeliveries } from './delivery-agreement.ts';
import { type FailingReceiver, openFailingReceiver } from './failing-receiver.ts';
import { type Attempt, pay, SLOT_MS, type Stage, setStage, startService } from './paid-load.ts';

/** On the engines (`vitest.integration.config.ts`) it runs too, where everything takes longer. */
const ON_ENGINES = process.env.TEST_STORAGE === 'engines';
const KILLS = Number(process.env.KILLS ?? (ON_ENGINES ? 3 : 20));
const WALLETS = 8;
const FIXTURE = new URL('../../fixtures/demo-before.json', import.meta.url).pathname;
const DECIDED_WITHIN_MS = (150 + 32) * SLOT_MS + 30_000;
const HOUR_MS = 3_600_000;
/** Must never leave the service but towards the receiver. */
const TOKEN = `token-${randomBytes(8).toString('hex')}`;

describe(`${KILLS} kills at random under paid load, with a receiver that fails at random`, () => {
  let directory: string;
  let stage: Stage;
  let receiver: FailingReceiver;
  let service: RunningProcess;
  /** The service's, set forward: most attempts are due only minutes after the one before. */
  let clock: MovedClock;
  let said = '';

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'docket-deliveries-'));
    receiver = await openFailingReceiver();
    const setting = await setStage(directory, WALLETS);
    clock = movedClock(directory);
    stage = {
      ...setting,
      environment: {
        ...setting.environment,
        CALLBACK_ALLOW_PRIVATE: `127.0.0.1:${receiver.port}`,
        ...clock.environment,
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

  it(
    'everything owed arrives or is tried seven times, and is in the log as it was',
    async () => {
      const { court_id: court, docket_number: number } = JSON.parse(await readFile(FIXTURE, 'utf8'));
      const target = encodeURIComponent(`http://127.0.0.1:${receiver.port}/hook?secret=${TOKEN}`);
      const path = `/v2/case?court_code=${court}&case_id=${encodeURIComponent(number)}&callback_url=${target}`;
      const attempts: Attempt[] = [];
      const kills: number[] = [];
      let stopped = false;
      const callers = stage.wallets.map((wallet) => pay(stage, wallet, path, attempts, () => stopped));
      for (let kill = 0; kill < KILLS; kill++) {
        await new Promise((done) => setTimeout(done, 100 + randomInt(1_500)));
        clock.move(randomInt(6 * 60_000));
        await new Promise((done) => setTimeout(done, randomInt(400)));
        said += service.output();
        await service.kill();
        kills.push(clock.now());
        service = await startService(stage);
      }
      await new Promise((done) => setTimeout(done, 1_000));
      stopped = true;
      await Promise.all(callers);
      receiver.heal();

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
      const deliveries = await loggedDeliveries(stage);
      const interrupted = expectDeliveryAgreement(deliveries, owed, receiver.hits, kills);

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
