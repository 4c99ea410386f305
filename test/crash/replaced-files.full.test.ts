/**
 * A file that the running service writes is deleted, replaced or moved away: from then on nothing is sold or charged,
 * and `/readyz` names the file and says what to do. `test/storage/replaced-files.test.ts` tests the same for the
 * storage alone.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, onTestFailed } from 'vitest';
import { tokenAccountOf } from '../solana/payment-transactions.ts';
import { type RunningProcess, until } from '../support/processes.ts';
import { ChainRpc } from '../support/rpc.ts';
import { expectAgreement, loggedPayments } from './agreement.ts';
import { demoCasePath, importDemoCase } from './demo-case.ts';
import { paymentFor, type Stage, setStage, startService } from './paid-load.ts';

type Accident = (path: string) => Promise<unknown>;

const copy = (from: string, to: string) => promisify(execFile)('cp', ['-r', from, to]);
const replace: Accident = async (path) => {
  await copy(path, `${path}.copy`);
  await rename(`${path}.copy`, path);
};
const FILE_ACCIDENTS: readonly (readonly [what: string, happen: Accident])[] = [
  ['deleted', (path) => rm(path)],
  ['replaced', replace],
];
const FILES = ['log.sqlite', 'log.sqlite-wal', 'log.sqlite-shm', 'read.sqlite', 'read.sqlite-wal', 'read.sqlite-shm'];

let directory: string;
let stage: Stage;
let service: RunningProcess;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'docket-replaced-'));
  stage = await setStage(directory, 1);
  await importDemoCase(stage);
  service = await startService(stage);
}, 120_000);

afterEach(async () => {
  await service?.kill();
  await stage?.chain.kill();
  await rm(directory, { recursive: true, force: true });
});

const wallet = () => stage.wallets[0]!;
const balance = () => stage.rpc.tokens(tokenAccountOf(wallet().publicKey).toBase58());

async function readiness() {
  const answer = await fetch(`${stage.adminUrl}/readyz`);
  const { parts } = (await answer.json()) as {
    parts: Record<string, { status: string; code?: string; hint?: string; reason?: string }>;
  };
  return { status: answer.status, parts };
}

/** One sale, the accident, a payment that was signed before it and another: no money moves, and `/readyz` says why. */
async function nothingIsSoldAfter(part: string, file: string, accident: () => Promise<unknown>): Promise<void> {
  onTestFailed(() => console.error(service.output()));
  const path = await demoCasePath();
  expect((await fetch(stage.url + path, { headers: await paymentFor(stage, wallet(), path) })).status).toBe(200);
  const ready = await paymentFor(stage, wallet(), path);
  const before = await balance();
  await accident();
  expect((await fetch(stage.url + path, { headers: ready })).status).toBe(503);
  await until('the service says so', async () => {
    const { status, parts } = await readiness();
    return status === 503 && parts[part]?.code === 'storage_replaced';
  });
  expect((await readiness()).parts[part]).toMatchObject({
    reason: expect.stringContaining(file),
    hint: expect.stringContaining('Copy the -wal files'),
  });
  expect((await fetch(stage.url + path, { headers: ready })).status).toBe(503);
  expect(await balance()).toBe(before);
  expect(service.output().split('"alarm":"storage_replaced"').length).toBe(2);
}

describe.each(FILE_ACCIDENTS)('a file that is %s', (_, happen) => {
  it.each(FILES)('%s', async (file) => {
    const part = file.startsWith('log') ? 'event_log' : 'read_store';
    await nothingIsSoldAfter(part, file, () => happen(join(stage.dataDirectory, file)));
  });
});

describe('the whole data folder', () => {
  const away = () => `${stage.dataDirectory}.old`;

  /** Both databases are gone, with an alarm for the log at once and for the read models at the next check. */
  async function nothingIsSoldFrom(accident: () => Promise<unknown>): Promise<void> {
    const path = await demoCasePath();
    expect((await fetch(stage.url + path, { headers: await paymentFor(stage, wallet(), path) })).status).toBe(200);
    const ready = await paymentFor(stage, wallet(), path);
    const before = await balance();
    await accident();
    expect((await fetch(stage.url + path, { headers: ready })).status).toBe(503);
    for (const part of ['event_log', 'read_store']) {
      await until(`${part} says so`, async () => (await readiness()).parts[part]?.code === 'storage_replaced');
    }
    expect((await readiness()).status).toBe(503);
    expect(await balance()).toBe(before);
  }

  it('moved away', () => nothingIsSoldFrom(() => rename(stage.dataDirectory, away())));

  it('moved away and replaced by another; moved back after a stop, it has everything', async () => {
    await nothingIsSoldFrom(async () => {
      await rename(stage.dataDirectory, away());
      await copy(away(), stage.dataDirectory);
    });
    await service.stop();
    await rm(stage.dataDirectory, { recursive: true });
    await rename(away(), stage.dataDirectory);
    service = await startService(stage);
    const settled = await expectAgreement(stage, (await loggedPayments(stage)).values(), []);
    expect(settled).toHaveLength(1);
  });

  it('moved away together with its local chain', async () => {
    await service.stop();
    const { SOLANA_RPC_URL: _, ...environment } = stage.environment;
    // A separate log: the other one belongs to the other chain.
    const dataDirectory = join(directory, 'local');
    stage = {
      ...stage,
      dataDirectory,
      environment: { ...environment, SOLANA_LOCAL_PORT: '0', DATA_DIR: dataDirectory },
    };
    service = await startService(stage);
    await rename(join(stage.dataDirectory, 'chain'), join(stage.dataDirectory, 'chain.old'));
    await until('the chain says so', async () => {
      const { status, parts } = await readiness();
      return status === 503 && parts.chain?.code === 'storage_replaced';
    });
    expect((await readiness()).parts.chain?.reason).toContain('local-chain.sqlite');
    expect(service.output()).toContain('"alarm":"storage_replaced"');
    stage = { ...stage, rpc: new ChainRpc('http://127.0.0.1:1') };
  });
});
