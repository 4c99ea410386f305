/**
 * Given a paid service that exports traces, when a request dies, disconnects or comes from somebody hostile, then its trace
 * says so, continues with recovery, and contains nothing that the caller could use or choose.
 */
import type { Keypair } from '@solana/web3.js';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createPurchasing } from '../../src/commands/purchase/purchasing.ts';
import { MICROS_PER_SECOND } from '../../src/runtime/instant.ts';
import { readRecorded } from '../../src/tracing/traceparent.ts';
import { createTracer, type Tracer } from '../../src/tracing/tracer.ts';
import { dyingAt, until } from '../payments/steering.ts';
import { openWorld, USDC, type World } from '../payments/world.ts';
import { branchesOf, type CollectedSpan, type Collector, openCollector } from './collector.ts';

let collector: Collector;
let tracer: Tracer;
let world: World;
let wallet: Keypair;

beforeAll(async () => {
  collector = await openCollector();
  tracer = await createTracer({
    settings: {
      url: `${collector.url}/v1/traces`,
      headers: {},
      serviceName: '',
      resource: {},
      sampler: 'parentbased_always_on',
      ratio: 1,
    },
    version: '1.2.3',
    instance: 'a node',
    logger: { info: () => undefined, warn: () => undefined },
    sendEveryMs: 20,
  });
  world = await openWorld({ paidBefore: true, slotMs: 40, tracer });
});
beforeEach(async () => {
  wallet = await world.wallet(10n * USDC);
});
afterAll(async () => {
  await world?.close();
  await tracer?.stop();
  await collector?.close();
});

const spanWhere = (isMeant: (span: CollectedSpan) => boolean): Promise<CollectedSpan | undefined> =>
  until(
    async () => collector.spans.find(isMeant),
    (found) => found !== undefined,
  );

/** What the events of one type since some position say of their trace. */
const tracesIn = async (type: string, seen: number) =>
  (await world.events())
    .slice(seen)
    .filter((event) => event.type === type)
    .map(({ metadata }) => readRecorded(metadata.traceparent ?? ''));

describe('a request that dies after its claim', () => {
  it('is continued by recovery in its trace, up to finality', async () => {
    const seen = (await world.events()).length;
    const node = await world.serve(createPurchasing({ ...world.ports, ...dyingAt(world, 'after the claim') }));
    void fetch(`${node}/v2/case?q=dies`, { headers: world.pay(wallet) }).catch(() => undefined);
    const [claimed] = await until(
      () => tracesIn('PaymentSubmitted', seen),
      (found) => found.length > 0,
    );
    expect(claimed).toMatchObject({ isSampled: true });
    await until(
      () => world.recoverLater().round(),
      ({ pending }) => pending === 0,
    );
    const finalized = await until(
      async () => {
        await world.recoverLater(60 * MICROS_PER_SECOND).round();
        return tracesIn('PaymentFinalized', seen);
      },
      (found) => found.length > 0,
    );
    const [settled] = await tracesIn('PaymentSettled', seen);
    expect(settled?.traceId).toBe(claimed?.traceId);
    expect(finalized.map((trace) => trace?.traceId)).toEqual([claimed?.traceId]);
    const recovered = await spanWhere(
      ({ name, spanId, traceId }) =>
        name === 'payment-recovery' && traceId === claimed?.traceId && spanId === settled?.spanId,
    );
    // Recovery finds the payment by its claim, whose own span died with the request.
    expect(recovered?.parentSpanId).toBe(claimed?.spanId);
    const broadcast = await spanWhere(({ name, traceId }) => name === 'broadcast' && traceId === claimed?.traceId);
    expect(collector.spans.map(({ spanId }) => spanId)).toContain(broadcast?.parentSpanId);
  });
});

describe('the span of a request', () => {
  it('names its route and never the id of a result, which is a secret', async () => {
    const payment = world.pay(wallet);
    const answer = await world.get('/v2/case?q=secret', payment);
    const path = world.resultPath(answer.json.meta.request_id);
    expect((await world.get(path)).status).toBe(200);
    const span = await spanWhere(({ name }) => name.startsWith('GET /v2/results/'));
    expect(span?.attributes).toMatchObject({
      'http.route': '/v2/results/:resultId',
      'url.path': '/v2/results/:resultId',
    });
    const secrets = [path.split('/').at(-1), 'q=secret', ...Object.values(payment)];
    for (const secret of secrets) expect(collector.bodies.join('\n')).not.toContain(secret);
  });

  it('says that the caller disconnected', async () => {
    const gone = new AbortController();
    const asking = fetch(`${world.url}/v2/case?q=slow`, { headers: world.pay(wallet), signal: gone.signal });
    await until(
      async () => world.asked,
      (asked) => asked.includes('slow'),
    );
    gone.abort();
    await expect(asking).rejects.toThrow();
    const span = await spanWhere(({ attributes }) => attributes['error.type'] === 'disconnected');
    expect(span).toMatchObject({ name: 'GET /v2/case', isFailed: true });
    expect(span?.attributes).not.toHaveProperty('http.response.status_code');
  });

  it('of an unpaid request leaves nothing in the log, and one of no route is not made', async () => {
    const seen = (await world.events()).length;
    const traceparent = `00-${'4b'.repeat(16)}-${'00f0'.repeat(4)}-01`;
    expect((await world.get('/v2/case?q=unpaid', { traceparent })).status).toBe(402);
    expect((await world.get('/no/such/S3CR3T', { traceparent })).status).toBe(404);
    const span = await spanWhere(({ links }) => links.length > 0);
    expect(span?.attributes).toMatchObject({
      'http.response.status_code': 402,
      'docket.error.code': 'payment_required',
    });
    expect(span?.isFailed).toBe(false);
    expect(span?.traceId).not.toBe('4b'.repeat(16));
    expect((await world.events()).length).toBe(seen);
    expect(collector.bodies.join('\n')).not.toContain('S3CR3T');
  });

  it('never mixes with those of requests that run at the same time', async () => {
    const wallets = await Promise.all(Array.from({ length: 8 }, () => world.wallet(10n * USDC)));
    const answers = await Promise.all(
      wallets.map((each, index) => world.get(`/v2/case?q=together-${index}`, world.pay(each))),
    );
    for (const { status, json } of answers) {
      expect(status).toBe(200);
      const id = json.meta.request_id;
      const root = await spanWhere(({ kind, attributes }) => kind === 2 && attributes['docket.request_id'] === id);
      const trace = collector.spans.filter(({ traceId }) => traceId === root?.traceId);
      const named = trace.flatMap(({ attributes }) => attributes['docket.request_id'] ?? []);
      expect(new Set(named)).toEqual(new Set([id]));
      const branches = branchesOf(trace);
      expect(branches.filter((branch) => branch === 'purchase < GET /v2/case')).toHaveLength(1);
      expect(branches.filter((branch) => branch === 'append < settle < purchase < GET /v2/case')).toHaveLength(1);
    }
  });
});
