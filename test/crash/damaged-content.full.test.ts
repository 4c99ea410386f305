/**
 * A disk damages the stored bytes of a paid answer and of its callback, and the service is killed in between. Callers
 * get a clear error and pay nothing for asking, the callback fails by its schedule, each process alerts the operator
 * once, and everything recovers once the bytes are restored.
 */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PRICE, tokenAccountOf } from '../solana/payment-transactions.ts';
import { damageInSqlite } from '../support/damage.ts';
import { type MovedClock, movedClock } from '../support/moved-clock.ts';
import { type RunningProcess, until } from '../support/processes.ts';
import { resultPathIn } from '../support/result-path.ts';
import { docket } from './agreement.ts';
import { loggedDeliveries } from './delivery-agreement.ts';
import { demoCasePath, importDemoCase } from './demo-case.ts';
import { type Attempt, FUNDS, pay, type Stage, setStage, startService } from './paid-load.ts';

const MINUTE_MS = 60_000;

interface Logged {
  readonly type: string;
  readonly data: {
    readonly answer?: string;
    readonly envelope?: string;
    readonly failureClass?: string | null;
    readonly attempt?: number;
    readonly outcome?: string;
  };
}

describe('a service whose disk damages an answer and its callback', () => {
  let directory: string;
  let stage: Stage;
  let receiver: Server;
  let service: RunningProcess;
  let clock: MovedClock;
  let status = 503;
  const received: string[] = [];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'docket-damage-'));
    receiver = createServer(async (request, response) => {
      let body = '';
      for await (const part of request) body += part;
      received.push(body);
      response.writeHead(status).end();
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    clock = movedClock(directory);
    const setting = await setStage(directory, 1);
    const allowed = `127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    stage = {
      ...setting,
      environment: { ...setting.environment, ...clock.environment, CALLBACK_ALLOW_PRIVATE: allowed },
    };
    await importDemoCase(stage);
    service = await startService(stage);
  }, 120_000);

  afterAll(async () => {
    await service?.kill();
    await stage?.chain.kill();
    receiver?.close();
    await rm(directory, { recursive: true, force: true });
  });

  const events = async (family: string): Promise<readonly Logged[]> =>
    (await docket(['audit', 'replay', family, '--json'], stage.environment))
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Logged);
  const failures = async () =>
    (await events('deliveries'))
      .filter(({ type, data }) => type === 'DeliveryAttemptFinished' && data.outcome !== 'interrupted')
      .map(({ data }) => data.failureClass);
  const attempted = (classes: readonly (string | null)[]) =>
    until('the attempt has its outcome', async () => (await failures()).length === classes.length, {
      process: service,
      every: 500,
    }).then(async () => expect(await failures()).toEqual(classes));
  /** Log lines arrive a moment later. */
  const alarmed = (count: number) =>
    until(`${count} alarms`, async () => service.output().split('"alarm":"payload_damaged"').length - 1 === count, {
      process: service,
    });
  const damagedBlobs = async () =>
    /^docket_damaged_payloads_total (\d+)$/m.exec(await (await fetch(`${stage.adminUrl}/metrics`)).text())?.[1];

  it('reports it to callers, receivers’ owners and operators, and loses nothing', async () => {
    const { port } = receiver.address() as AddressInfo;
    const path = await demoCasePath(`http://127.0.0.1:${port}/hook`);
    const attempts: Attempt[] = [];
    const [wallet] = stage.wallets;
    await pay(stage, wallet!, path, attempts, () => attempts.some(({ status: told }) => told === 200));
    const result = async () =>
      fetch(`${stage.url}${await resultPathIn(stage.dataDirectory, attempts.at(-1)?.requestId ?? '')}`);
    const bought = await (await result()).text();
    await attempted(['http_5xx']);

    const answer = (await events('payments')).find(({ data }) => data.answer)?.data.answer;
    const envelope = (await events('deliveries')).find(({ data }) => data.envelope)?.data.envelope;
    const spoil = () => Promise.all([answer, envelope].map((name) => damageInSqlite(stage.dataDirectory, `${name}`)));
    await spoil();

    const asked = await result();
    const { error } = (await asked.json()) as { error: { code: string; details: { charged: boolean } } };
    expect([asked.status, error.code, error.details.charged]).toEqual([500, 'result_damaged', false]);
    clock.move(4 * MINUTE_MS);
    await attempted(['http_5xx', 'content_damaged']);
    await result();
    expect(await damagedBlobs()).toBe('2');
    await alarmed(2);

    await service.kill();
    service = await startService(stage);
    clock.move(10 * MINUTE_MS);
    await attempted(['http_5xx', 'content_damaged', 'content_damaged']);
    // The service is left alone between its attempts.
    await new Promise((done) => setTimeout(done, 2_000));
    expect(await failures()).toHaveLength(3);
    expect((await result()).status).toBe(500);
    await alarmed(2);
    // Met again and again, but reported once.
    expect((await result()).status).toBe(500);
    await new Promise((done) => setTimeout(done, 500));
    await alarmed(2);
    expect(received).toHaveLength(1);

    await service.kill();
    await spoil();
    status = 204;
    service = await startService(stage);
    expect(await (await result()).text()).toBe(bought);
    clock.move(30 * MINUTE_MS);
    await attempted(['http_5xx', 'content_damaged', 'content_damaged', null]);
    expect(received).toHaveLength(2);
    expect(received[1]).toBe(received[0]);
    const [delivery] = [...(await loggedDeliveries(stage)).values()];
    expect(delivery?.wait).toBeNull();
    const settled = (await events('payments')).filter(({ type }) => type === 'PaymentSettled').length;
    const left = FUNDS - (await stage.rpc.tokens(tokenAccountOf(wallet!.publicKey).toBase58()));
    expect([settled, left]).toEqual([1, PRICE]);
  }, 180_000);
});
