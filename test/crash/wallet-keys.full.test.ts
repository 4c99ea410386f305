import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readMasterKeys } from '../../src/callbacks/master-keys.ts';
import { masterKeyFile } from '../../src/service/open-master-keys.ts';
import { type RunningProcess, until } from '../support/processes.ts';
import { resultPathIn } from '../support/result-path.ts';
import { decidedPayments, docket, expectVerified } from './agreement.ts';
import { type Attempt, pay, proveWallets, type Stage, setStage, startService, untilUnderWay } from './paid-load.ts';

const KILLS = Number(process.env.KILLS ?? 20);
const WALLETS = 12;
/** Answers between two kills: so few that the wallets do not use up their 60 requests of a minute. */
const MOST_ANSWERS = 30;
const PATH = '/v2/wallet/keys';

interface RotationBody {
  readonly meta: { readonly request_id: string };
  readonly wallet: string;
  readonly new_key_id: string;
  readonly new_key_secret: string;
}

/** One settled call on keys, as its payment's stream shows it. */
interface KeyPayment {
  requestId: string;
  wallet: string;
  does: 'show' | 'rotate';
  keyId: string;
  isSettled: boolean;
  handedOut: number;
}

interface EventLine {
  readonly stream: string;
  readonly type: string;
  readonly data: {
    readonly requestId?: string;
    readonly wallet?: string;
    readonly keyId?: string;
    readonly keyCall?: { readonly does: 'show' | 'rotate'; readonly keyId: string } | null;
  };
}

describe(`${KILLS} kills at random while wallets read their keys and rotate them`, () => {
  let directory: string;
  let stage: Stage;
  let service: RunningProcess;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'docket-keys-'));
    stage = await setStage(directory, WALLETS);
    service = await startService(stage);
  }, 120_000);

  afterAll(async () => {
    await service?.kill();
    await stage?.chain.kill();
    await rm(directory, { recursive: true, force: true });
  });

  /** Every paid call on keys, and the ids of each wallet's keys, oldest first. */
  async function logged() {
    const lines = await docket(['audit', 'replay', 'all', '--json'], stage.environment);
    const payments = new Map<string, KeyPayment>();
    const keys = new Map<string, string[]>();
    for (const line of lines.split('\n').filter(Boolean)) {
      const { stream, type, data } = JSON.parse(line) as EventLine;
      const payment = payments.get(stream);
      if (type === 'PaymentAuthorized') {
        const { requestId = '', wallet = '' } = data;
        payments.set(stream, { requestId, wallet, does: 'show', keyId: '', isSettled: false, handedOut: 0 });
      } else if (payment && type === 'QueryAnswered') Object.assign(payment, data.keyCall);
      else if (payment && /^PaymentSettled/.test(type)) payment.isSettled = true;
      else if (payment && type === 'ResultHandedOut') payment.handedOut++;
      else if (/^SigningKey/.test(type)) keys.set(stream, [...(keys.get(stream) ?? []), data.keyId ?? '']);
    }
    return { settled: [...payments.values()].filter(({ isSettled }) => isSettled), keys, lines };
  }

  it('every paid rotation is made once, and its secret is given once, or waits to be', async () => {
    const attempts: Attempt[] = [];
    const given: RotationBody[] = [];
    let stopped = false;
    const told = (status: number, body: unknown) => {
      if (status === 200) given.push(body as RotationBody);
    };
    await proveWallets(stage, PATH, attempts);
    const callers = stage.wallets.flatMap((wallet) => [
      pay(stage, wallet, PATH, attempts, () => stopped),
      pay(stage, wallet, PATH, attempts, () => stopped, { method: 'POST', told }),
    ]);
    for (let kill = 0; kill < KILLS; kill++) {
      await untilUnderWay(service, attempts, MOST_ANSWERS);
      await service.kill();
      service = await startService(stage);
    }
    // A slow machine may have rotated few keys between the kills.
    await until('keys are rotated', async () => given.length > KILLS, { process: service, within: 120_000 });
    stopped = true;
    await Promise.all(callers);
    await decidedPayments(stage, service);
    // The service completes what a killed process left, without a caller asking.
    let log = await logged();
    await until(
      'every settled call on keys has had its effect',
      async () => {
        log = await logged();
        return log.settled.every(({ does, keyId, wallet }) => {
          const keys = log.keys.get(`wallet-${wallet}`) ?? [];
          return does === 'rotate' ? keys.includes(keyId) : keys.length > 0;
        });
      },
      { process: service, within: 60_000, every: 500 },
    );
    // Each key was reserved by a settled payment, and none occurs twice.
    const reserved = new Set(log.settled.map(({ keyId }) => keyId));
    const made = [...log.keys.values()].flat();
    expect(made.filter((keyId) => !reserved.has(keyId))).toEqual([]);
    expect(new Set(made).size).toBe(made.length);
    await expectVerified(stage);

    const master = readMasterKeys((await readFile(masterKeyFile(stage.dataDirectory), 'utf8')).trim());
    const rotations = log.settled.filter(({ does }) => does === 'rotate');
    let waited = 0;
    let lost = 0;
    for (const { requestId, wallet, keyId, handedOut } of rotations) {
      const path = await resultPathIn(stage.dataDirectory, requestId);
      const first = await fetch(`${stage.url}${path}`);
      const body = (await first.json()) as RotationBody;
      expect([handedOut, first.status]).toEqual(handedOut === 0 ? [0, 200] : [1, 410]);
      if (first.status === 200) {
        waited++;
        given.push(body);
      }
      expect((await fetch(`${stage.url}${path}`)).status).toBe(410);
      const answers = given.filter(({ meta }) => meta.request_id === requestId);
      expect(answers.length).toBeLessThanOrEqual(1);
      if (answers.length === 0) lost++;
      const secret = master.secretOf({ wallet, keyId, masterVersion: master.newest });
      for (const answer of answers) expect([answer.new_key_id, answer.new_key_secret]).toEqual([keyId, secret]);
    }
    for (const { new_key_secret: secret } of given) expect(log.lines).not.toContain(secret);
    expect(await docket(['keys', 'list', '--json'], stage.environment)).toContain(made.at(-1));
    const interrupted = attempts.filter(({ status }) => status === 'connection lost').length;
    console.log(
      `${KILLS} kills: ${attempts.length} payments sent, ${interrupted} connections lost, ${log.settled.length} settled, ${rotations.length} of them ` +
        `rotations; ${waited} secrets waited at their result URL, ${lost} left in an answer that a kill cut off`,
    );
    expect(rotations.length).toBeGreaterThan(KILLS);
    expect(interrupted).toBeGreaterThan(0);
  });
});
