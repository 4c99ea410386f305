import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Outbound, PostOutcome, PostRequest } from '../../../src/callbacks/outbound/outbound.ts';
import { SANDBOX_KEY_ID, SANDBOX_SECRET } from '../../../src/callbacks/sandbox-key.ts';
import { verifySignature } from '../../../src/callbacks/signature.ts';
import { buildApp } from '../../../src/http/app.ts';
import { createSandboxCallbacks, SANDBOX_CALLBACKS_PER_MINUTE } from '../../../src/http/sandbox/sandbox-callbacks.ts';
import { type Clock, MICROS_PER_SECOND, toMicros } from '../../../src/runtime/instant.ts';
import { NETWORKS } from '../../../src/solana/addresses.ts';
import { SolanaKey } from '../../../src/solana/keys.ts';
import type { ReadStore } from '../../../src/storage/read-store.ts';
import { noKeyCalls, testResultIds } from '../../support/key-calls.ts';
import { openTestStorage } from '../../support/storage.ts';
import { listen, PUBLIC_URL, silent } from '../serving.ts';

const HOOK = 'https://receiver.example/hook?token=t';
const CASE = '/v2/case?test=1&court_code=cand&case_id=3:24-cv-01234';

let now = toMicros('2026-06-01T12:00:00.000000Z');
const clock: Clock = { now: () => now };
/** The guard has its own tests: this file counts what is passed to it. */
let posts: PostRequest[] = [];
let answer: () => Promise<PostOutcome>;
const acknowledged: PostOutcome = {
  responseCode: 200,
  failureClass: null,
  retryAfterSeconds: null,
  durationMs: 1,
  responseExcerpt: '',
  truncated: false,
};
const outbound: Pick<Outbound, 'post'> = {
  post(request) {
    posts.push(request);
    return answer();
  },
};

let app: FastifyInstance;
let base: string;

let directory: string;
let storage: Awaited<ReturnType<typeof openTestStorage>>;
const counters: Pick<ReadStore, 'increment'> = { increment: (...sent) => storage.readStore.increment(...sent) };
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sandbox-callbacks-'));
  storage = await openTestStorage(directory);
});
afterAll(async () => {
  await storage.close();
  await rm(directory, { recursive: true });
});

beforeEach(async () => {
  posts = [];
  await storage.readStore.increment('sandbox-callbacks in all', -1_000, 1_000, clock.now(), 60 * MICROS_PER_SECOND);
  answer = async () => acknowledged;
  const keys = [SolanaKey.generate().address, SolanaKey.generate().address] as const;
  const never = () => Promise.reject(new Error('the sandbox needs none of it'));
  app = buildApp({
    service: { publicUrl: PUBLIC_URL, clock },
    logger: silent,
    health: () => ({}),
    merchant: { network: NETWORKS.local, payTo: keys[0], feePayer: keys[1], publicUrl: PUBLIC_URL },
    purchasing: { underway: new Set(), buy: never },
    keyCalls: noKeyCalls,
    resultIds: testResultIds(),
    masterKeys: { versions: [1] },
    newestBlockhash: () => null,
    storage: {} as never,
    runner: { waitFor: never },
    localRpcUrl: null,
    sandboxCallbacks: createSandboxCallbacks({
      outbound,
      counters,
      clock,
      steady: clock,
      logger: silent,
      userAgent: 'DocketMonitor/test',
    }),
  });
  base = `http://127.0.0.1:${await listen(app)}`;
});
afterEach(() => app.close());

const rehearse = async (url: string | null, path = CASE) => {
  const query = url === null ? '' : `&callback_url=${encodeURIComponent(url)}`;
  const response = await fetch(base + path + query);
  return { status: response.status, text: await response.text(), delivery: response.headers.get('x-service-delivery') };
};
const sent = (count: number) => vi.waitFor(() => expect(posts).toHaveLength(count), { timeout: 2_000, interval: 5 });

describe('a callback of the sandbox', () => {
  it('is sent once, signed with the published key, with the body of the answer', async () => {
    const { status, text, delivery } = await rehearse(HOOK);
    expect(status).toBe(200);
    await sent(1);
    const [{ url, headers, body }] = posts as [PostRequest];
    expect(url).toBe(HOOK);
    expect(body.toString().startsWith(`{"payload":${text},"webhook":{`)).toBe(true);
    const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    const key = { keyId: SANDBOX_KEY_ID, secret: SANDBOX_SECRET };
    for (const family of ['service', 'standard-webhooks'] as const) {
      expect(verifySignature({ headers: lower, body }, family, [key])).toEqual(key);
    }
    const { webhook } = JSON.parse(body.toString());
    expect(lower['idempotency-key']).toBe(webhook.delivery_id);
    expect(delivery).toBe(
      `id="${webhook.delivery_id}", first_attempt_by="2026-06-01T12:00:10.000000Z", gives_up_at="2026-06-01T12:00:20.000000Z"`,
    );
    // Also if the same fixture is cached, and if the parameter's name is written differently.
    await rehearse(null);
    await rehearse(null, `${CASE}&callback%5Furl=${encodeURIComponent(HOOK)}`);
    await rehearse(HOOK);
    await sent(3);
  });

  it('of a batch carries only the result that requested it', async () => {
    const response = await fetch(`${base}/v2/cases/batch?test=1`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        queries: [
          { case_id: 'one', court_code: 'x' },
          { case_id: 'two', court_code: 'y', callback_url: HOOK },
        ],
      }),
    });
    const { results } = (await response.json()) as { results: { response: unknown }[] };
    await sent(1);
    expect(JSON.parse(posts[0]!.body.toString()).payload).toEqual(results[1]!.response);
    expect(response.headers.get('x-service-delivery')).toMatch(/^id-1="/);
  });

  it('is not retried, and delays no answer', async () => {
    let end: (outcome: PostOutcome) => void = () => undefined;
    answer = () =>
      new Promise((resolve) => {
        end = resolve;
      });
    expect((await rehearse(HOOK)).status).toBe(200);
    await sent(1);
    end({ ...acknowledged, responseCode: 500, failureClass: 'http_5xx' });
    now += 300 * MICROS_PER_SECOND;
    expect((await rehearse(null)).status).toBe(200);
    expect(posts).toHaveLength(1);
  });

  it('is sent ten times a minute for one client, and further answers still arrive', async () => {
    now += 3_600 * MICROS_PER_SECOND;
    for (let i = 0; i < SANDBOX_CALLBACKS_PER_MINUTE; i++) {
      expect((await rehearse(`https://r${i}.example/x`)).delivery).not.toBeNull();
    }
    const eleventh = await rehearse('https://another.example/x');
    expect([eleventh.status, eleventh.delivery]).toEqual([200, null]);
    await sent(SANDBOX_CALLBACKS_PER_MINUTE);
    now += 61 * MICROS_PER_SECOND;
    expect((await rehearse('https://another.example/x')).delivery).not.toBeNull();
    await sent(SANDBOX_CALLBACKS_PER_MINUTE + 1);
  });

  it('is sent to one host ten times a minute, for all clients together', async () => {
    const pushing = createSandboxCallbacks({ outbound, counters, clock, logger: silent, userAgent: 'x' });
    const payload = async () => '{}';
    const call = { requestId: randomUUID(), tag: null };
    const push = (i: number) =>
      pushing.push(
        [{ url: `https://one.example${i % 2 ? '.' : ''}/${i}`, result: null, payload }],
        call,
        `198.51.100.${i}`,
      );
    const headers = Array.from({ length: SANDBOX_CALLBACKS_PER_MINUTE + 2 }, (_, i) => Object.keys(push(i)).length);
    expect(headers.filter(Boolean)).toHaveLength(SANDBOX_CALLBACKS_PER_MINUTE);
    expect(pushing.push([{ url: 'no url', result: null, payload }], call, '198.51.100.200')).toEqual({});
    await sent(SANDBOX_CALLBACKS_PER_MINUTE);
  });

  it('is sent again after a minute, although the wall clock was set back', async () => {
    let wall = clock.now();
    let steady = 0;
    const pushing = createSandboxCallbacks({
      outbound,
      counters,
      clock: { now: () => wall },
      steady: { now: () => steady },
      logger: silent,
      userAgent: 'x',
    });
    const payload = async () => '{}';
    const push = () =>
      pushing.push([{ url: HOOK, result: null, payload }], { requestId: randomUUID(), tag: null }, '198.51.100.7');
    for (let i = 0; i < SANDBOX_CALLBACKS_PER_MINUTE; i++) expect(push()).not.toEqual({});
    expect(push()).toEqual({});
    await sent(SANDBOX_CALLBACKS_PER_MINUTE);
    wall -= 3_600 * MICROS_PER_SECOND;
    steady += 61 * MICROS_PER_SECOND;
    expect(push()).not.toEqual({});
    await sent(SANDBOX_CALLBACKS_PER_MINUTE + 1);
  });

  it('is not sent if a call is rejected', async () => {
    expect((await rehearse(HOOK, '/v2/case?test=1&court_code=nowhere&case_id=1')).status).toBe(422);
    expect(
      (
        await rehearse(
          HOOK,
          '/v2/monitor?test=1&court_code=cand&case_id=3:24-cv-01234&last_checked=2026-05-01T00:00:00Z',
        )
      ).status,
    ).toBe(400);
    await new Promise((done) => setTimeout(done, 50));
    expect(posts).toEqual([]);
  });
});
