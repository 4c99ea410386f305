/**
 * On an event store that other programs share: what they write is skipped, and an unreadable event of ours is named.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { binaryEvent, EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { type RunningProcess, until } from '../support/processes.ts';
import { openStandin, type Standin } from '../support/standin.ts';
import { ENGINES, ownDatabase } from '../support/storage.ts';
import { demoCasePath, importDemoCase } from './demo-case.ts';
import { expectNoRuntimeWarning } from './faulty-peers.ts';
import { type Stage, setStage, startService } from './paid-load.ts';
import { expectReported, expectReportedAtStart, sellOnce } from './unreadable-event.ts';

const STREAM = `payment-${'a'.repeat(64)}`;
const BYTES = Uint8Array.of(0, 159, 146, 150);

describe.skipIf(!ENGINES.mongo)('the service on an event store that others write to', () => {
  let directory: string;
  let standin: Standin;
  let database: ReturnType<typeof ownDatabase>;
  let others: EventStoreDBClient;
  let stage: Stage;
  let service: RunningProcess;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'docket-unreadable-'));
    standin = await openStandin();
    others = new EventStoreDBClient({ endpoint: `127.0.0.1:${standin.ports[0]}` }, { insecure: true });
    await writeForeignEvents();
    database = ownDatabase();
    const setting = await setStage(directory, 1);
    const environment = { ...setting.environment, EVENTSTORE_URL: standin.url, MONGODB_URL: database.url };
    stage = { ...setting, environment };
    await importDemoCase(stage);
    service = await startService(stage);
  }, 300_000);
  afterAll(async () => {
    await service?.kill();
    await stage?.chain.kill();
    await others?.dispose();
    await standin?.close();
    await database?.drop();
    await rm(directory, { recursive: true, force: true });
  }, 60_000);

  async function writeForeignEvents(): Promise<void> {
    await others.appendToStream('orders-1', [
      binaryEvent({ type: 'OrderScanned', data: BYTES }),
      jsonEvent({ type: 'OrderPlaced', data: { amount: 7 } }),
      jsonEvent({ type: 'OrderPlaced', data: { amount: 7 }, metadata: {} }),
      jsonEvent({ type: 'OrderPlaced', data: { amount: 7 }, metadata: BYTES }),
      binaryEvent({ type: '$>', data: Buffer.from('7@gone') }),
    ]);
    await others.appendToStream('payment-17', jsonEvent({ type: 'PaymentSettled', data: { amount: 7 } }));
  }

  it(
    'keeps selling while they write, regardless of what they write',
    async () => {
      const path = await demoCasePath();
      await sellOnce(stage, path);
      await writeForeignEvents();
      await standin.control('POST', '/faults/incomplete?part=id&stream=orders-');
      await writeForeignEvents();
      await sellOnce(stage, path);
      await standin.control('DELETE', '/faults');
      const isReady = async () => (await fetch(`${stage.adminUrl}/readyz`)).status === 200;
      await until('the service is ready', isReady, { process: service, within: 120_000 });
      expectNoRuntimeWarning(service.output());
    },
    5 * 60_000,
  );

  it(
    'names an unreadable event of ours, while it runs and at its start',
    async () => {
      await others.appendToStream(STREAM, binaryEvent({ type: 'PaymentSettled', data: BYTES }));
      let position = '';
      for await (const { event } of others.readStream(STREAM)) {
        const digits = String(event?.position?.commit).padStart(20, '0');
        position = `${digits}/${digits}`;
      }
      const place = `stream ${STREAM}, revision 0, position ${position}`;
      await expectReported(stage, service, place);
      await expectReportedAtStart(stage, service, place);
    },
    5 * 60_000,
  );
});
