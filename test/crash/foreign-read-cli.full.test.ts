/**
 * An auditor's session: three `docket query` around a foreign read and a `kill -9` of the service, with and without a
 * `docket import` between them. Every program is a separate process.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { PRICE, tokenAccountOf } from '../solana/payment-transactions.ts';
import { FOREIGN_PROGRAMS } from '../support/foreign-programs.ts';
import type { RunningProcess } from '../support/processes.ts';
import { docket, expectAgreement, loggedPayments } from './agreement.ts';
import { DEMO_CASE, importDemoCase } from './demo-case.ts';
import { type Attempt, FUNDS, type Stage, setStage, startService } from './paid-load.ts';

let directory: string;
let stage: Stage;
let service: RunningProcess;
let keypair: string;
let attempts: Attempt[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'docket-foreign-cli-'));
  stage = await setStage(directory, 1);
  keypair = join(directory, 'wallet.json');
  await writeFile(keypair, JSON.stringify([...wallet().secretKey]), { mode: 0o600 });
  attempts = [];
  await importDemoCase(stage);
  service = await startService(stage);
}, 120_000);

afterEach(async () => {
  await service?.kill();
  await stage?.chain.kill();
  await rm(directory, { recursive: true, force: true });
});

const wallet = () => stage.wallets[0]!;

async function query(): Promise<void> {
  const { court, number } = await DEMO_CASE;
  const args = ['query', '--court-code', court, '--case-id', number, '--keypair', keypair, '--json'];
  const { answer } = JSON.parse(await docket(args, stage.environment)) as { answer: { meta: { request_id: string } } };
  attempts.push({
    wallet: wallet().publicKey.toBase58(),
    requestPath: 'docket query',
    status: 200,
    requestId: answer.meta.request_id,
  });
}

it.each(FOREIGN_PROGRAMS.flatMap((program) => [false, true].map((imports) => ({ ...program, imports }))))(
  'the log holds three payments with $name reading it, with an import between them: $imports',
  async ({ sql, imports }) => {
    const log = join(stage.dataDirectory, 'log.sqlite');
    await query();
    expect(await sql(log, 'SELECT 1')).toBe('1');
    // Some versions of SQLite answer that without reading the file.
    const before = Number(await sql(log, 'SELECT count(*) FROM events'));
    if (imports) await importDemoCase(stage);
    await query();
    await query();
    expect(Number(await sql(log, 'SELECT count(*) FROM events'))).toBeGreaterThan(before);
    await service.kill();

    // The auditor's order: the log is read before the service has started again.
    const payments = [...(await loggedPayments(stage)).values()];
    expect(payments.map(({ settled, failed }) => ({ settled, failed }))).toEqual(
      Array.from({ length: 3 }, () => ({ settled: 1, failed: 0 })),
    );
    for (const file of ['log.sqlite', 'read.sqlite']) {
      expect(await sql(join(stage.dataDirectory, file), 'PRAGMA integrity_check')).toBe('ok');
    }
    const left = await stage.rpc.tokens(tokenAccountOf(wallet().publicKey).toBase58());
    expect(FUNDS - left).toBe(3n * PRICE);

    service = await startService(stage);
    expect(await expectAgreement(stage, (await loggedPayments(stage)).values(), attempts)).toHaveLength(3);
  },
);
