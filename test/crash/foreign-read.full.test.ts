/**
 * A foreign program has read a database of the running service, then comes a `kill -9`. POSIX drops every lock that a
 * process has on a file when it closes any descriptor of it, and without the locks another program removes the
 * write-ahead log.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FOREIGN_PROGRAMS } from '../support/foreign-programs.ts';
import type { RunningProcess } from '../support/processes.ts';
import { expectAgreement, loggedPayments } from './agreement.ts';
import { demoCasePath, importDemoCase } from './demo-case.ts';
import { type Attempt, paymentFor, type Stage, setStage, startService } from './paid-load.ts';

/** In some versions of SQLite, `select 1` alone opens a connection that never reads the file. */
const READ = 'SELECT count(*) FROM sqlite_schema';

describe('three paid queries, a foreign read between them, and a kill -9', () => {
  let directory: string;
  let stage: Stage;
  let service: RunningProcess;
  let path: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'docket-foreign-'));
    stage = await setStage(directory, FOREIGN_PROGRAMS.length);
    await importDemoCase(stage);
    service = await startService(stage);
    path = await demoCasePath();
  }, 60_000);

  afterAll(async () => {
    await service?.kill();
    await stage?.chain.kill();
    await rm(directory, { recursive: true, force: true });
  });

  it.each(FOREIGN_PROGRAMS.map((program, index) => ({ ...program, wallet: index })))(
    'the log holds all three when $name reads it',
    async ({ sql, wallet }) => {
      const payer = stage.wallets[wallet];
      if (!payer) throw new Error('no wallet');
      const attempts: Attempt[] = [];
      const buy = async () => {
        const answer = await fetch(stage.url + path, { headers: await paymentFor(stage, payer, path) });
        const body = (await answer.json()) as { meta: { request_id: string } };
        attempts.push({
          wallet: payer.publicKey.toBase58(),
          requestPath: path,
          status: answer.status,
          requestId: body.meta.request_id,
        });
        expect(answer.status).toBe(200);
      };
      await buy();
      for (const file of ['log.sqlite', 'read.sqlite']) {
        expect(Number(await sql(join(stage.dataDirectory, file), READ))).toBeGreaterThan(0);
      }
      await buy();
      await buy();
      await service.kill();
      for (const file of ['log.sqlite', 'read.sqlite']) {
        expect(await sql(join(stage.dataDirectory, file), 'PRAGMA integrity_check')).toBe('ok');
      }
      service = await startService(stage);
      const payments = await loggedPayments(stage);
      const own = [...payments.values()].filter(({ wallet: of }) => of === payer.publicKey.toBase58());
      expect(own.map(({ settled }) => settled)).toEqual([1, 1, 1]);
      await expectAgreement(stage, payments.values(), attempts);
    },
  );
});
