/**
 * Given two nodes on EventStoreDB and MongoDB, when callers pay at each of them, then what follows on the other node belongs
 * to the trace of the request, and the shared log holds.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectVerified } from '../crash/agreement.ts';
import { demoCasePath, importDemoCase } from '../crash/demo-case.ts';
import { paymentFor, type Stage, setStage, startService } from '../crash/paid-load.ts';
import { freePort, type RunningProcess, until } from '../support/processes.ts';
import { openStandin, type Standin } from '../support/standin.ts';
import { ENGINES, ownDatabase } from '../support/storage.ts';
import { branchesOf, type CollectedSpan, type Collector, hasTree, openCollector } from './collector.ts';

describe.skipIf(!ENGINES.mongo)('two nodes on one log', () => {
  let directory: string;
  let collector: Collector;
  let receiver: Server;
  let events: Standin;
  let database: ReturnType<typeof ownDatabase>;
  const stages: Stage[] = [];
  const services: RunningProcess[] = [];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'docket-two-nodes-'));
    collector = await openCollector();
    receiver = createServer((_request, response) => response.writeHead(204).end());
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    events = await openStandin();
    database = ownDatabase();
    const set = await setStage(directory, 2);
    // A payment names who gets it and who pays its fee: both nodes are one service.
    const shared = {
      PAY_TO: Keypair.generate().publicKey.toBase58(),
      FEE_PAYER_KEY: JSON.stringify([...Keypair.generate().secretKey]),
      MASTER_KEY: `1:${randomBytes(32).toString('hex')}`,
    };
    for (const node of ['a', 'b']) {
      const [port, adminPort] = [await freePort(), await freePort()];
      const dataDirectory = join(directory, node);
      stages.push({
        ...set,
        dataDirectory,
        url: `http://127.0.0.1:${port}`,
        adminUrl: `http://127.0.0.1:${adminPort}`,
        environment: {
          ...set.environment,
          PORT: String(port),
          ADMIN_PORT: String(adminPort),
          DATA_DIR: dataDirectory,
          ...shared,
          EVENTSTORE_URL: events.url,
          MONGODB_URL: database.url,
          CALLBACK_ALLOW_PRIVATE: `127.0.0.1:${(receiver.address() as AddressInfo).port}`,
          OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        },
      });
    }
    await importDemoCase(stages[0]!);
    for (const stage of stages) services.push(await startService(stage));
  }, 300_000);

  afterAll(async () => {
    for (const service of services) await service.kill();
    await stages[0]?.chain.kill();
    receiver?.close();
    await collector?.close();
    await events?.close();
    await database?.drop();
    await rm(directory, { recursive: true, force: true });
  }, 60_000);

  it('makes one trace of each request, whichever node answers it and whichever pushes the answer', async () => {
    const path = await demoCasePath(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`);
    const traces: (readonly CollectedSpan[])[] = [];
    for (const [index, stage] of stages.entries()) {
      const headers = await paymentFor(stage, stage.wallets[index]!, path);
      const answer = await fetch(stage.url + path, { headers });
      expect(answer.status).toBe(200);
      const { meta } = (await answer.json()) as { meta: { request_id: string } };
      const trace = (): readonly CollectedSpan[] => {
        const root = collector.spans.find(
          ({ kind, attributes }) => kind === 2 && attributes['docket.request_id'] === meta.request_id,
        );
        return collector.spans.filter(({ traceId }) => traceId === root?.traceId);
      };
      // Each node exports its own spans, so the attempt may arrive before the settlement that is its parent.
      await until('every span of the trace is exported', async () => hasTree(trace(), 'POST'), {
        process: services[index]!,
        within: 120_000,
      });
      expect(branchesOf(trace())).toContain(
        'POST < delivery attempt < after-settlement < settle < purchase < GET /v2/case',
      );
      traces.push(trace());
    }
    // One node follows all settlements, so at least one of the two requests crossed from one to the other.
    const nodes = traces.map((trace) => new Set(trace.map(({ resource }) => resource['service.instance.id'])).size);
    expect(Math.max(...nodes)).toBe(2);
    for (const service of services) expect(await service.stop()).toBe(0);
    await expectVerified(stages[0]!);
  }, 300_000);
});
