/**
 * A backup under load. Given a service that sells and sends callbacks; when it is backed up, continued and restored
 * elsewhere; then every answer that a caller had before the backup began is there, and the restored service sells on.
 */
import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decidedPayments, docket, expectVerified, loggedPayments } from '../crash/agreement.ts';
import { type CallbackStage, setCallbackStage } from '../crash/callback-stage.ts';
import { demoCasePath, importDemoCase } from '../crash/demo-case.ts';
import { type Attempt, pay, type Stage, startService } from '../crash/paid-load.ts';
import { buy, docket as run } from '../identity/handed-log.ts';
import { type RunningProcess, until } from '../support/processes.ts';
import { resultPathIn } from '../support/result-path.ts';

describe('a backup of a service under paid load, with callbacks', { timeout: 300_000 }, () => {
  let world: CallbackStage;
  let service: RunningProcess;
  let folder: string;
  beforeAll(async () => {
    world = await setCallbackStage(4);
    folder = dirname(world.stage.dataDirectory);
    await importDemoCase(world.stage);
    service = await startService(world.stage);
  }, 120_000);
  afterAll(async () => {
    await service?.kill();
    await world?.close();
  });

  const json = async (stage: Stage, ...args: string[]) =>
    JSON.parse(await docket([...args, '--json'], stage.environment));

  it('restored elsewhere, holds everything that was acknowledged before it began', async () => {
    const { stage, receiver } = world;
    const path = await demoCasePath(`http://127.0.0.1:${receiver.port}/hook`);
    const attempts: Attempt[] = [];
    const answered = () => attempts.flatMap(({ status, requestId }) => (status === 200 ? (requestId ?? []) : []));
    const sold = (more: number) => {
      const goal = answered().length + more;
      return until('callers are answered', async () => answered().length >= goal, {
        process: service,
        within: 120_000,
      });
    };
    let stopped = false;
    const callers = stage.wallets.map((wallet) => pay(stage, wallet, path, attempts, () => stopped));
    const backup = join(folder, 'backup');

    await sold(8);
    const beforeFull = answered();
    const full = await json(stage, 'backup', backup);
    await sold(4);
    const beforeSecond = answered();
    const second = await json(stage, 'backup', backup, '--incremental');
    await sold(2);
    stopped = true;
    await Promise.all(callers);
    expect(await service.stop()).toBe(0);
    expect(second).toMatchObject({ part: 2, log_id: full.log_id });
    expect(second.events).toBe(full.events + second.new_events);
    expect(await json(stage, 'backup', 'verify', backup)).toMatchObject({
      sound: true,
      parts: 2,
      events: second.events,
    });

    const elsewhere: Stage = {
      ...stage,
      dataDirectory: join(folder, 'elsewhere'),
      environment: { ...stage.environment, DATA_DIR: join(folder, 'elsewhere') },
    };
    const restored = await json(elsewhere, 'restore', backup);
    expect(restored).toMatchObject({ events: second.events, root: second.root });
    const verified = await run(elsewhere, 'audit', 'verify');
    expect(verified.code, verified.output).toBe(0);

    // What was sold after the backup is on the chain, and not in the log.
    const reconciled = await run(elsewhere, 'audit', 'reconcile');
    expect([reconciled.code, reconciled.output]).toEqual([1, expect.stringContaining('transfer_without_payment')]);
    const payments = await loggedPayments(elsewhere);
    const requests = new Set([...payments.values()].map(({ requestId }) => requestId));
    expect(beforeSecond.filter((requestId) => !requests.has(requestId))).toEqual([]);
    service = await startService(elsewhere);
    await decidedPayments(elsewhere, service, 120_000);
    for (const requestId of beforeFull) {
      const result = await fetch(`${elsewhere.url}${await resultPathIn(elsewhere.dataDirectory, requestId)}`);
      expect([result.status, ((await result.json()) as { meta: { request_id: string } }).meta.request_id]).toEqual([
        200,
        requestId,
      ]);
    }
    expect((await buy(elsewhere, await demoCasePath())).status).toBe(200);
    await expectVerified(elsewhere);
    expect(await service.stop()).toBe(0);

    const at = (name: string): Stage => ({
      ...elsewhere,
      environment: { ...elsewhere.environment, DATA_DIR: join(folder, name) },
    });
    const answers = await docket(
      ['audit', 'replay', 'payments', '--type', 'QueryAnswered', '--json'],
      elsewhere.environment,
    );
    const withdrawn: string = JSON.parse(answers.split('\n')[0] ?? '').data.answer;
    const list = join(folder, 'withdrawn.ndjson');
    await writeFile(list, JSON.stringify({ name: withdrawn, reason: 'court order 7', by: 'Ann Lee' }));
    expect(await json(at('withdrawn'), 'restore', backup, '--redactions', list)).toMatchObject({
      redacted: [withdrawn],
    });
    const reverified = await run(at('withdrawn'), 'audit', 'verify');
    expect(reverified.code, reverified.output).toBe(0);

    await rm(join(backup, 'part-0002', 'events-000001.ndjson.gz'));
    const refused = await run(at('half'), 'restore', backup);
    expect([refused.code, refused.output]).toEqual([
      1,
      expect.stringContaining('part-0002/events-000001.ndjson.gz is missing'),
    ]);
  });
});
