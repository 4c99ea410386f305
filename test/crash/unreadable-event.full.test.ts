/** A row of the log on SQLite that another program has broken: the service says which, and lives on. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from 'vitest';
import { Database } from '../../src/storage/sqlite/driver.ts';
import type { RunningProcess } from '../support/processes.ts';
import { demoCasePath, importDemoCase } from './demo-case.ts';
import { type Stage, setStage, startService } from './paid-load.ts';
import { expectReported, expectReportedAtStart, sellOnce } from './unreadable-event.ts';

const STREAM = `payment-${'a'.repeat(64)}`;

let directory: string;
let stage: Stage;
let service: RunningProcess;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'docket-unreadable-'));
  stage = await setStage(directory, 1);
  await importDemoCase(stage);
  service = await startService(stage);
});
afterAll(async () => {
  await service?.kill();
  await stage?.chain.kill();
  await rm(directory, { recursive: true, force: true });
});

/** As a person with a database tool would. @returns its place */
function writeBrokenRow(): string {
  const file = new Database(join(stage.dataDirectory, 'log.sqlite'));
  const { lastInsertRowid } = file
    .prepare('INSERT INTO events (type, stream, revision, id, metadata, data) VALUES (?, ?, 0, ?, ?, ?)')
    .run('PaymentSettled', STREAM, 'none', '{}', '{"requestId":');
  file.close();
  return `stream ${STREAM}, revision 0, position ${String(lastInsertRowid).padStart(20, '0')}`;
}

it('is named by readiness and the log, while the service runs and at its start', async () => {
  await sellOnce(stage, await demoCasePath());
  const place = writeBrokenRow();
  await expectReported(stage, service, place);
  await expectReportedAtStart(stage, service, place);
});
