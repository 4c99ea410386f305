/**
 * Changes of the leader of the event store under paid load with callbacks. The service is never restarted: one process
 * survives all of them. The cluster is the stand-in's, and only this test uses it.
 */
import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningProcess } from '../support/processes.ts';
import { openStandin, type Standin } from '../support/standin.ts';
import { ENGINES, ownDatabase } from '../support/storage.ts';
import { type CallbackStage, setCallbackStage } from './callback-stage.ts';
import { demoCasePath, importDemoCase } from './demo-case.ts';
import { expectOneStory } from './one-story.ts';
import { type Attempt, pay, startService } from './paid-load.ts';

/** Three hundred with KILLS=600. */
const CHANGES = Math.ceil(Number(process.env.KILLS ?? 20) / 2);
/** FerretDB has no indexes: its answers slow down as its data grows, and a long run would measure that. */
const WALLETS = CHANGES >= 100 ? 1 : 4;
/**
 * Two live nodes have needed three minutes to elect a leader while the old one was frozen; short runs do not wait that
 * long.
 */
const FROZEN_MS = CHANGES >= 100 ? 180_000 : 15_000;
/** A few for each part that waits, and the alarms of the parts. */
const LINES_OF_AN_OUTAGE = 60;
/** A limit for waiting; the time that recovery took is reported. */
const AGAIN_WITHIN_MS = 300_000;

interface Answers {
  count: number;
  lastAt: number;
}

describe.skipIf(!ENGINES.mongo)(`${CHANGES} changes of the event store's leader under paid load`, () => {
  let world: CallbackStage;
  let cluster: Standin;
  let database: ReturnType<typeof ownDatabase>;
  let service: RunningProcess;
  let path: string;
  const attempts: Attempt[] = [];

  beforeAll(async () => {
    cluster = await openStandin('--cluster', '3');
    database = ownDatabase();
    const setting = await setCallbackStage(WALLETS);
    const environment = { ...setting.stage.environment, EVENTSTORE_URL: cluster.url, MONGODB_URL: database.url };
    world = { ...setting, stage: { ...setting.stage, environment } };
    await importDemoCase(world.stage);
    service = await startService(world.stage);
    path = await demoCasePath(`http://127.0.0.1:${world.receiver.port}/hook`);
  }, 300_000);

  afterAll(async () => {
    await service?.kill();
    await world?.close();
    await cluster?.close();
    await database?.drop();
  }, 60_000);

  /** Runs something while callers pay; they stop when it ends. */
  async function underLoad(work: (answers: Answers) => Promise<void>): Promise<void> {
    const answers = { count: 0, lastAt: 0 };
    let stopped = false;
    const told = (status: number) => {
      if (status !== 200) return;
      answers.count++;
      answers.lastAt = Date.now();
    };
    const callers = world.stage.wallets.map((wallet) =>
      pay(world.stage, wallet, path, attempts, () => stopped, { told }),
    );
    try {
      await work(answers);
    } finally {
      stopped = true;
      await Promise.all(callers);
    }
  }

  /** Returns milliseconds from the new leader to the next paid answer. */
  async function change(answers: Answers, query: string): Promise<number> {
    await cluster.control('POST', `/cluster/change?${query}`);
    const electedAt = Date.now();
    const before = answers.count;
    while (answers.count === before) {
      expect(Date.now() - electedAt, service.output().slice(-3_000)).toBeLessThan(AGAIN_WITHIN_MS);
      expect(service.child.exitCode ?? service.child.signalCode, service.output().slice(-3_000)).toBe(null);
      await new Promise((done) => setTimeout(done, 10));
    }
    return Date.now() - electedAt;
  }

  it(
    'lose and double nothing, in one process',
    async () => {
      const took: number[] = [];
      await underLoad(async (answers) => {
        for (let index = 0; index < CHANGES; index++) {
          await new Promise((done) => setTimeout(done, randomInt(400)));
          const how = ['kill', 'resign', 'freeze'][randomInt(3)];
          took.push(await change(answers, `how=${how}&election=${100 + randomInt(900)}&thaw=${randomInt(800)}`));
        }
      });
      took.sort((a, b) => a - b);
      console.log(
        `${CHANGES} changes of the leader: back after ${took[took.length >> 1]} ms in the median, ` +
          `${took[Math.floor(took.length * 0.95)]} ms at the 95th percentile, ${took.at(-1)} ms at most; ` +
          `${attempts.length} payments, ${attempts.filter(({ status }) => status === 200).length} answered`,
      );
    },
    60 * 60_000,
  );

  it(
    `log little while a frozen leader has no successor for ${FROZEN_MS / 1000} s`,
    async () => {
      const before = service.written();
      await underLoad(async (answers) => {
        await change(answers, 'how=resign&election=100');
        const took = await change(answers, `how=freeze&election=${FROZEN_MS}&thaw=1000`);
        console.log(`back ${took} ms after the successor of a frozen leader`);
      });
      // Each failed request is one line; each part that waits logs one line, however long the outage lasts.
      const said = service.outputSince(before).split('\n').filter(Boolean);
      expect(said.filter((line) => !line.includes('"requestId"')).length, said.join('\n')).toBeLessThan(
        LINES_OF_AN_OUTAGE,
      );
      expect(service.output()).not.toContain('MaxListenersExceededWarning');
    },
    15 * 60_000,
  );

  it(
    'recover after the majority was lost',
    async () => {
      await underLoad(async (answers) => {
        await cluster.control('POST', '/cluster/lose-majority');
        await new Promise((done) => setTimeout(done, 4_000));
        await cluster.control('POST', '/cluster/recover');
        const before = answers.count;
        while (answers.count === before) await new Promise((done) => setTimeout(done, 10));
      });
    },
    10 * 60_000,
  );

  it(
    'the chain, the log, the callers and the receiver agree',
    async () => {
      await expectOneStory(world, service, attempts);
      expect(service.child.exitCode ?? service.child.signalCode).toBe(null);
    },
    30 * 60_000,
  );
});
