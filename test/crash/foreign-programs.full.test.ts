/**
 * Third-party programs open every database file of a service under paid load with callbacks and imports, with a `kill
 * -9` after each round: nothing acknowledged is missing, the files are intact, chain and log agree.
 */
import { type ChildProcess, execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FOREIGN_PROGRAMS, type ForeignProgram, killNow } from '../support/foreign-programs.ts';
import { type RunningProcess, until } from '../support/processes.ts';
import { decidedPayments, expectAgreement } from './agreement.ts';
import { type CallbackStage, setCallbackStage } from './callback-stage.ts';
import { endedDeliveries, expectDeliveryAgreement } from './delivery-agreement.ts';
import { demoCasePath, importDemoCase } from './demo-case.ts';
import { type Attempt, pay, startService } from './paid-load.ts';

/** Fifty with KILLS=200: a round takes some fifteen seconds. */
const ROUNDS = Math.ceil(Number(process.env.KILLS ?? 20) / 4);
const WALLETS = 8;
const LOCKED_MS = 10_000;

const run = promisify(execFile);
const pauseFor = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** What a person or a script does to the file of a database in use. */
type Act = (program: ForeignProgram, path: string, scratch: string) => Promise<unknown>;

const ACTS: Readonly<Record<string, Act>> = {
  reads: ({ sql }, path) => sql(path, 'SELECT count(*) FROM sqlite_schema'),
  'writes to a table of its own': ({ sql }, path) =>
    sql(path, 'CREATE TABLE IF NOT EXISTS foreign_notes (at TEXT); INSERT INTO foreign_notes VALUES (1)'),
  'checks the integrity': async ({ sql }, path) => expect(await sql(path, 'PRAGMA integrity_check')).toBe('ok'),
  'copies the write-ahead log back': ({ sql }, path) => sql(path, 'PRAGMA wal_checkpoint(TRUNCATE)'),
  'vacuums into a copy': async ({ sql }, path, scratch) => {
    const copy = join(scratch, `copy-${randomInt(1e9)}.sqlite`);
    await sql(path, `VACUUM INTO '${copy}'`);
    expect(await sql(copy, 'PRAGMA integrity_check')).toBe('ok');
    await rm(copy);
  },
  'dies while it reads': (program, path) => dies(program, path, 'BEGIN; SELECT count(*) FROM sqlite_schema'),
  'dies while it writes': (program, path) =>
    dies(program, path, 'BEGIN IMMEDIATE; CREATE TABLE never (at TEXT); INSERT INTO never VALUES (1)'),
};

async function dies({ hold }: ForeignProgram, path: string, sql: string): Promise<void> {
  const child: ChildProcess = await hold(path, sql);
  await pauseFor(randomInt(300));
  await killNow(child);
}

async function locks({ hold }: ForeignProgram, path: string): Promise<void> {
  const child = await hold(path, 'BEGIN IMMEDIATE');
  await pauseFor(LOCKED_MS);
  await killNow(child);
}

/** Copies a folder in use as people do: this is not a backup, and it must not harm the original either. */
async function copies(folder: string, scratch: string): Promise<void> {
  await run('cp', ['-r', folder, join(scratch, 'copied')]).catch(() => undefined);
  // tar exits with 1 if a file changed while it was read.
  await run('tar', ['-cf', join(scratch, 'copied.tar'), '-C', folder, '.']).catch(() => undefined);
  for (const name of ['copied', 'copied.tar']) await rm(join(scratch, name), { recursive: true, force: true });
}

describe(`${ROUNDS} rounds of foreign programs and kills, under paid load with callbacks`, () => {
  let world: CallbackStage;
  let service: RunningProcess;

  beforeAll(async () => {
    world = await setCallbackStage(WALLETS);
    await importDemoCase(world.stage);
    service = await startService(world.stage);
  }, 120_000);

  afterAll(async () => {
    await service?.kill();
    await world?.close();
  });

  it('lose nothing that was acknowledged, and leave the files intact', async () => {
    const { stage, receiver, clock } = world;
    const scratch = join(stage.dataDirectory, '..');
    const databases = ['log.sqlite', 'read.sqlite'].map((file) => join(stage.dataDirectory, file));
    const chain = join(scratch, 'chain-alone', 'chain', 'local-chain.sqlite');
    const path = await demoCasePath(`http://127.0.0.1:${receiver.port}/hook`);
    const attempts: Attempt[] = [];
    const kills: number[] = [];
    let stopped = false;
    const callers = stage.wallets.map((wallet) => pay(stage, wallet, path, attempts, () => stopped));
    const pick = <Item>(items: readonly Item[]): Item => items[randomInt(items.length)] as Item;

    for (let round = 0; round < ROUNDS; round++) {
      const acts = Object.keys(ACTS);
      const acting = Array.from({ length: 3 }, async (_, worker) => {
        for (let act = 0; act < 3; act++) {
          const what = acts[(round + worker + act * 2) % acts.length] as keyof typeof ACTS;
          await ACTS[what]?.(pick(FOREIGN_PROGRAMS), pick(databases), scratch);
        }
      });
      acting.push(copies(stage.dataDirectory, scratch));
      acting.push(importDemoCase(stage));
      // The chain holds its file exclusively: other programs are refused, for any operation.
      acting.push(
        pick(FOREIGN_PROGRAMS)
          .sql(chain, 'PRAGMA busy_timeout = 50; SELECT count(*) FROM landed')
          .then(
            () => undefined,
            () => undefined,
          ),
      );
      await Promise.all(acting);
      clock.move(randomInt(6 * 60_000));
      // A file that is locked for as long as people keep it open by mistake.
      const locked = round % 10 === 9 ? locks(pick(FOREIGN_PROGRAMS), pick(databases)) : Promise.resolve();
      await locked;
      await pauseFor(randomInt(800));
      await service.kill();
      kills.push(clock.now());
      for (const file of databases) expect(await pick(FOREIGN_PROGRAMS).sql(file, 'PRAGMA integrity_check')).toBe('ok');
      service = await startService(stage);
    }
    const toldAnswers = () => attempts.filter(({ status }) => status === 200).length;
    // A slow machine may have answered few callers between the kills.
    await until('callers are answered', async () => toldAnswers() > ROUNDS, { process: service, within: 240_000 });
    stopped = true;
    await Promise.all(callers);
    receiver.heal();

    const payments = await decidedPayments(stage, service);
    const settled = await expectAgreement(stage, payments.values(), attempts);
    const ended = await endedDeliveries(stage, service, clock);
    expectDeliveryAgreement(ended, receiver.hits, kills);
    const answered = toldAnswers();
    const statuses = new Map<unknown, number>();
    for (const { status } of attempts) statuses.set(status, (statuses.get(status) ?? 0) + 1);
    console.log(
      `${ROUNDS} rounds: ${attempts.length} payments sent, ${answered} answered, ${settled.length} settled, ` +
        `${ended.deliveries.size} deliveries; ${[...statuses].map(([status, of]) => `${status}: ${of}`).join(', ')}`,
    );
  });

  it.each(FOREIGN_PROGRAMS)('a write lock of 10 s held by $name delays payments and loses none', async (program) => {
    const { stage } = world;
    const path = await demoCasePath();
    for (const file of ['log.sqlite', 'read.sqlite']) {
      const attempts: Attempt[] = [];
      let stopped = false;
      const callers = stage.wallets.slice(0, 3).map((wallet) => pay(stage, wallet, path, attempts, () => stopped));
      await until('a payment is answered', async () => attempts.some(({ status }) => status === 200));
      await locks(program, join(stage.dataDirectory, file));
      const before = attempts.length;
      await until('payments are answered again', async () =>
        attempts.slice(before).some(({ status }) => status === 200),
      );
      stopped = true;
      await Promise.all(callers);
      // A waiting caller got an answer, or an error without a charge: 402 if the payment's blockhash has expired
      // meanwhile. `expectAgreement` compares all of them with the chain.
      for (const { status } of attempts) expect([200, 202, 402, 429, 503]).toContain(status);
      const payments = await decidedPayments(stage, service);
      await expectAgreement(stage, payments.values(), attempts);
      console.log(`${program.name}, ${file}: ${attempts.map(({ status }) => status).join(' ')}`);
    }
  });
});
