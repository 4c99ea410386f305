/**
 * Given a service that exports traces, when a caller buys a case that is pushed too, then everything that follows is one
 * trace: in one process, and after a kill between settlement and delivery. Given no endpoint, nothing is loaded.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RecordedEvent } from '../../src/storage/event-log.ts';
import { openSqliteLog } from '../../src/storage/sqlite/open.ts';
import { expectVerified } from '../crash/agreement.ts';
import { demoCasePath, importDemoCase } from '../crash/demo-case.ts';
import { paymentFor, type Stage, setStage, startService } from '../crash/paid-load.ts';
import { type MovedClock, movedClock } from '../support/moved-clock.ts';
import { type RunningProcess, until } from '../support/processes.ts';
import { branchesOf, type CollectedSpan, type Collector, openCollector } from './collector.ts';

const TOKEN = `token-${randomBytes(8).toString('hex')}`;
const API_KEY = `key-${randomBytes(8).toString('hex')}`;

let directory: string;
let collector: Collector;
let receiver: Server;
let stage: Stage;
let clock: MovedClock;
let service: RunningProcess;
/** Requests that the receiver has got and, if it is silent, not answered. */
const hits: IncomingHttpHeaders[] = [];
let isSilent = false;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'docket-traces-'));
  collector = await openCollector();
  receiver = createServer((request, response: ServerResponse) => {
    hits.push(request.headers);
    if (!isSilent) response.writeHead(204).end();
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  clock = movedClock(directory);
  const set = await setStage(directory, 2);
  stage = {
    ...set,
    environment: {
      ...set.environment,
      ...clock.environment,
      CALLBACK_ALLOW_PRIVATE: `127.0.0.1:${portOf(receiver)}`,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: `api-key=${API_KEY}`,
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    },
  };
  await importDemoCase(stage);
  service = await startService(stage);
}, 120_000);

afterAll(async () => {
  await service?.kill();
  await stage?.chain.kill();
  receiver?.closeAllConnections();
  receiver?.close();
  await collector?.close();
  await rm(directory, { recursive: true, force: true });
});

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** What each call paid with, which no span may contain. */
const secrets: string[] = [TOKEN, API_KEY, '/hook'];

/** Buys the case with a callback and returns the id of the request. */
async function bought(headers: Record<string, string> = {}): Promise<string> {
  const path = await demoCasePath(`http://127.0.0.1:${portOf(receiver)}/hook?secret=${TOKEN}`);
  const paying = await paymentFor(stage, stage.wallets[0]!, path);
  secrets.push(...Object.values(paying));
  const answer = await fetch(stage.url + path, { headers: { ...paying, ...headers } });
  const body = (await answer.json()) as { meta: { request_id: string } };
  expect([answer.status, body]).toEqual([200, expect.anything()]);
  secrets.push(...[...JSON.stringify(body).matchAll(/results\/([\w-]+)/g)].map(([, id = '']) => id));
  return body.meta.request_id;
}

const rootOf = (requestId: string): CollectedSpan | undefined =>
  collector.spans.find(({ kind, attributes }) => kind === SERVER && attributes['docket.request_id'] === requestId);
const SERVER = 2;
const traceOf = (requestId: string): readonly CollectedSpan[] =>
  collector.spans.filter(({ traceId }) => traceId === rootOf(requestId)?.traceId);
const named = (name: string, spans: readonly CollectedSpan[]) => spans.filter((span) => span.name === name);

const exported = (requestId: string, name: string, count = 1) =>
  until(
    `${count} of ${name} are exported`,
    async () => named(name, traceOf(requestId)).length >= count && rootOf(requestId) !== undefined,
    { process: service, within: 60_000 },
  );

async function eventsIn(dataDirectory: string): Promise<readonly RecordedEvent[]> {
  const { log, payloads, cells } = openSqliteLog(join(dataDirectory, 'log.sqlite'));
  const events: RecordedEvent[] = [];
  for await (const batch of log.readAll(null, { by: 'all' })) events.push(...batch.events);
  await Promise.all([log.close(), payloads.close(), cells.close()]);
  return events;
}

describe('a paid query with a callback', () => {
  it('is one trace from its request to the attempt at its delivery, without any secret', async () => {
    const foreign = '4bf92f3577b34da6a3ce929d0e0e4736';
    const requestId = await bought({ traceparent: `00-${foreign}-00f067aa0ba902b7-01` });
    await exported(requestId, 'delivery attempt');

    const trace = traceOf(requestId);
    const branches = branchesOf(trace);
    const root = 'GET /v2/case';
    for (const branch of [
      root,
      `getSignatureStatuses < look up signature < settle < purchase < ${root}`,
      `simulateTransaction < verify < purchase < ${root}`,
      `query < purchase < ${root}`,
      `append < claim < purchase < ${root}`,
      `sendTransaction < broadcast < settle < purchase < ${root}`,
      `append < settle < purchase < ${root}`,
      `append < after-settlement < settle < purchase < ${root}`,
      `POST < delivery attempt < after-settlement < settle < purchase < ${root}`,
      `append < delivery attempt < after-settlement < settle < purchase < ${root}`,
    ]) {
      expect(branches).toContain(branch);
    }
    // What a caller sends is linked, and neither continued nor obeyed.
    expect(rootOf(requestId)?.links).toMatchObject([{ traceId: foreign, spanId: '00f067aa0ba902b7' }]);
    expect(collector.spans.filter(({ traceId }) => traceId === foreign)).toEqual([]);
    expect(rootOf(requestId)?.attributes).toMatchObject({
      'http.request.method': 'GET',
      'http.route': '/v2/case',
      'url.path': '/v2/case',
      'http.response.status_code': 200,
    });
    expect(named('POST', trace)[0]?.attributes).toMatchObject({
      'server.address': '127.0.0.1',
      'server.port': portOf(receiver),
      'http.response.status_code': 204,
    });
    expect(named('append', trace).map(({ attributes }) => attributes['docket.stream.family'])).toContain('delivery');
    expect(trace[0]?.resource).toMatchObject({
      'service.name': 'docket-monitor',
      'service.version': expect.any(String),
      'service.instance.id': expect.any(String),
      'deployment.environment.name': 'test',
    });
    expect(collector.headers[0]?.['api-key']).toBe(API_KEY);
    // The interface lists the headers of a callback, and this is none of them.
    expect(hits.map((headers) => headers.traceparent)).toEqual([undefined]);
  }, 120_000);

  it('over MCP has the span of its tool between the request and the purchase', async () => {
    const response = await fetch(`${stage.url}/v2/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'service_case_query', arguments: { court_code: 'cand', case_id: '3:24-cv-00042' } },
      }),
    });
    expect(response.status).toBe(200);
    const spans = () => collector.spans.filter(({ name }) => /mcp|tools/.test(name));
    await until('both spans are exported', async () => spans().length === 2, { process: service });
    expect(branchesOf(spans())).toContain('tools/call service_case_query < POST /v2/mcp');
  }, 60_000);

  it('stays one trace if the service is killed between settlement and delivery', async () => {
    isSilent = true;
    const before = hits.length;
    const requestId = await bought();
    await until('the receiver is called', async () => hits.length > before, { process: service });
    await exported(requestId, 'after-settlement');
    await service.kill();
    isSilent = false;
    clock.move(4 * 60_000);
    service = await startService(stage);
    await exported(requestId, 'interrupted attempt');
    clock.move(4 * 60_000);
    await exported(requestId, 'delivery attempt');

    const trace = traceOf(requestId);
    const [after] = named('after-settlement', trace);
    const [attempt] = named('delivery attempt', trace);
    expect(attempt?.parentSpanId).toBe(after?.spanId);
    // By another process than the one that owed it.
    const instances = [after, attempt].map((span) => span?.resource['service.instance.id']);
    expect(new Set(instances).size).toBe(2);
    // The kill took the span of the first attempt with it, which had not ended; its claim was exported before.
    const orphans = trace.filter(
      ({ parentSpanId }) => !trace.some(({ spanId }) => ['', spanId].includes(parentSpanId)),
    );
    for (const orphan of orphans) expect(orphan.attributes['docket.events']).toEqual(['DeliveryAttemptStarted']);
    expect(branchesOf(trace.filter((span) => !orphans.includes(span)))).toContain(
      'POST < delivery attempt < after-settlement < settle < purchase < GET /v2/case',
    );
  }, 180_000);

  it('leaves its trace in the events of money and deliveries only, and the log holds', async () => {
    // A collector that never answers keeps no service from its stop.
    collector.behave('hang');
    expect(await service.stop()).toBe(0);
    collector.behave('take');
    await expectVerified(stage);
    const events = await eventsIn(stage.dataDirectory);
    const traced = events.filter(({ metadata }) => metadata.traceparent !== undefined);
    const exportedIds = new Set(collector.spans.map(({ traceId }) => traceId));
    for (const { metadata } of traced) expect(exportedIds).toContain(metadata.traceparent?.slice(3, 35));
    expect(new Set(traced.map(({ stream }) => stream.split('-')[0]))).toEqual(
      new Set(['payment', 'delivery', 'wallet']),
    );
    expect(events.filter(({ stream }) => stream === 'log-head').length).toBeGreaterThan(0);
    for (const secret of secrets) expect(collector.bodies.join('\n')).not.toContain(secret);
    expect(service.output()).not.toContain(API_KEY);
  }, 60_000);
});

describe('OpenTelemetry', () => {
  it.each([
    ['is loaded with an endpoint', (): NodeJS.ProcessEnv => ({}), true],
    ['is not loaded without one', () => ({ OTEL_EXPORTER_OTLP_ENDPOINT: '' }), false],
  ])(
    '%s',
    async (_, environment, isLoaded) => {
      const loaded = join(directory, `loaded-${randomBytes(4).toString('hex')}`);
      const watch = fileURLToPath(new URL('watch-modules.mjs', import.meta.url));
      const running = await startService({
        ...stage,
        environment: {
          ...stage.environment,
          ...environment(),
          NODE_OPTIONS: `${clock.environment.NODE_OPTIONS} --import=${JSON.stringify(watch)}`,
          LOADED_MODULES: loaded,
        },
      });
      const path = await demoCasePath();
      const answer = await fetch(stage.url + path, { headers: await paymentFor(stage, stage.wallets[1]!, path) });
      expect(answer.status).toBe(200);
      await running.stop();
      expect(existsSync(loaded) && readFileSync(loaded, 'utf8') !== '').toBe(isLoaded);
    },
    120_000,
  );
});
