/** A row of the log on SQLite that another program has damaged: the service names it, and keeps running. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, beforeEach, it } from 'vitest';
import { Database } from '../../src/storage/sqlite/driver.ts';
import { type RunningProcess, until } from '../support/processes.ts';
import { type CallbackStage, setCallbackStage } from './callback-stage.ts';
import { demoCasePath, importDemoCase } from './demo-case.ts';
import { expectAlive, expectNoRuntimeWarning } from './faulty-peers.ts';
import { type Stage, startService } from './paid-load.ts';
import { expectReported, expectReportedAtStart, sellOnce } from './unreadable-event.ts';

const METADATA = JSON.stringify({ schemaVersion: 1, recordedAt: '2026-03-01T12:00:00.000000Z', hash: 'a'.repeat(64) });
const STREAM = `payment-${'a'.repeat(64)}`;

interface Readiness {
  readonly parts: Readonly<Record<string, { readonly reason: string | null }>>;
}

let world: CallbackStage;
let stage: Stage;
let service: RunningProcess;
beforeEach(async () => {
  world = await setCallbackStage(1);
  stage = world.stage;
  world.receiver.heal();
  await importDemoCase(stage);
  service = await startService(stage);
});
afterEach(async () => {
  await service?.kill();
  await world?.close();
});

/** As a person with a database tool would. @returns its position */
function writeRow(type: string, stream: string, data: string): string {
  const file = new Database(join(stage.dataDirectory, 'log.sqlite'));
  const { lastInsertRowid } = file
    .prepare('INSERT INTO events (type, stream, revision, id, metadata, data) VALUES (?, ?, 0, ?, ?, ?)')
    .run(type, stream, randomUUID(), METADATA, data);
  file.close();
  return String(lastInsertRowid).padStart(20, '0');
}

it('is named by readiness and the log, while the service runs and at its start', async () => {
  await sellOnce(stage, await demoCasePath());
  const place = `stream ${STREAM}, revision 0, position ${writeRow('PaymentSettled', STREAM, '{"requestId":')}`;
  await expectReported(stage, service, place);
  await expectReportedAtStart(stage, service, place);
});

it('halts the projections if its data is JSON of another shape, and delays no callback', async () => {
  const delivery = { wallet: stage.wallets[0]?.publicKey.toBase58(), origin: 'https://a.example', createdAt: 'soon' };
  const position = writeRow('DeliveryScheduled', `delivery-${randomUUID()}`, JSON.stringify(delivery));
  const isHalted = async () => {
    const { parts } = (await (await fetch(`${stage.adminUrl}/readyz`)).json()) as Readiness;
    return `${parts.projections?.reason}`.includes(`halted at ${position}`);
  };
  await until('the projection halts', isHalted, { process: service, every: 250 });
  await sellOnce(stage, await demoCasePath(`http://127.0.0.1:${world.receiver.port}/hook`));
  const isDelivered = async () => world.receiver.hits.some(({ status }) => status === 204);
  await until('a callback is delivered', isDelivered, { process: service });
  expectNoRuntimeWarning(service.output());
  expectAlive(service);
});
