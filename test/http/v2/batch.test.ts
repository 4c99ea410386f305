import { randomUUID } from 'node:crypto';
import type { Keypair } from '@solana/web3.js';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ERROR_CATALOGUE, type ErrorCode } from '../../../src/errors.ts';
import { paymentStream } from '../../../src/events/payment.ts';
import { PAYMENT_IDENTIFIER } from '../../../src/http/x402/payment-identifier.ts';
import { PAYMENTS } from '../../../src/projections/payments.ts';
import { MAX_RESULT_BYTES } from '../../../src/queries/case-answer.ts';
import { rawDocket, rawEntry } from '../../dockets/raw-docket.ts';
import { until } from '../../payments/steering.ts';
import { openWorld, type World } from '../world.ts';

const MAIN = { case_id: '3:24-cv-01234', court_code: 'cand' };
const OTHER = { case_id: '3:24-cv-01299', court_code: 'cand' };
const UNKNOWN = { case_id: '3:24-cv-99998', court_code: 'cand' };
const PLANNED = { case_id: '500-17-123456-241', court_code: 'qc_cs' };
const NOWHERE = { case_id: '1', court_code: 'nowhere' };
const SINCE = '2020-01-01T00:00:00Z';
const PATH = '/v2/cases/batch';

const entries = [rawEntry(1, '2024-02-01', 'COMPLAINT'), rawEntry(2, '2024-02-05', 'MOTION to Dismiss')];

let world: World;
beforeAll(async () => {
  world = await openWorld();
  await world.importDocket(rawDocket(entries));
  await world.importDocket(rawDocket(entries, { docket_number: '3:24-cv-01299', case_name: 'Other v. Another' }));
});
afterAll(() => world.close());

// biome-ignore lint/suspicious/noExplicitAny: tests read arbitrary JSON
type Json = any;

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly json: Json;
  readonly text: string;
}

async function send(body: unknown, { pay = fetch, query = '', headers = {} as Record<string, string> } = {}) {
  const response = await pay(`${world.url}${PATH}${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, json: JSON.parse(text), text } satisfies Answer;
}

/** Buys a batch, and returns what the wallet paid for it, base units. */
async function buy(queries: object[], { usdc = 60_000_000n, most = '$60', headers = {} } = {}) {
  const wallet = await world.wallet(usdc);
  const pay = await world.agentOf(wallet, fetch, most);
  const answer = await send({ queries }, { pay, headers });
  return { ...answer, wallet, spent: usdc - (await world.balance(wallet)) };
}

const typesOf = async (payment: string) =>
  (await world.storage.log.read(paymentStream(payment))).map(({ type }) => type);

const counted = async (window: string, wallet: Keypair): Promise<number> => {
  const id = `${wallet.publicKey.toBase58()}-${window}`;
  const { count } = await world.storage.readStore.increment(id, 0, 1, Date.now() * 1000, 1);
  return count;
};

describe('a batch is sold', () => {
  it('by @x402/fetch: fifty cases, in order, for one payment of 49.50', async () => {
    const queries = Array.from({ length: 50 }, (_, i) =>
      i % 7 === 3 ? { ...UNKNOWN, case_id: `3:24-cv-9${String(i).padStart(4, '0')}` } : i % 2 ? MAIN : OTHER,
    );
    const { status, json, headers, spent, wallet, text } = await buy(queries, { headers: { 'x-service-tag': 'mine' } });
    expect([status, spent]).toEqual([200, 49_500_000n]);
    const failed = queries.filter(({ case_id }) => case_id.includes('-9')).length;
    expect(json.meta).toEqual({
      request_id: headers.get('x-request-id') ?? json.meta.request_id,
      queried_at: expect.any(String),
      query_cost_usd: 49.5,
      sandbox: false,
      coverage_status: null,
      cache_age_seconds: null,
      context_delivered: null,
      language_delivered: null,
      truncated: false,
      tag: 'mine',
      batch_size: 50,
      successful: 50 - failed,
      failed,
      total_cost_usd: 49.5,
    });
    expect(json.results.map((result: Json) => [result.case_id, result.court_code])).toEqual(
      queries.map(({ case_id, court_code }) => [case_id, court_code]),
    );
    for (const result of json.results) {
      if (result.status === 'error') {
        expect(Object.keys(result)).toEqual(['case_id', 'court_code', 'status', 'error']);
        expect(result.error).toMatchObject({
          code: 'case_not_found',
          documentation_url: 'https://dockets.example/docs/errors#case_not_found',
          // The payment is for the whole batch: this query is paid for too.
          details: { charged: true },
        });
      } else {
        expect(Object.keys(result)).toEqual(['case_id', 'court_code', 'status', 'response']);
        expect(result.response.meta).toMatchObject({
          request_id: json.meta.request_id,
          query_cost_usd: 0.99,
          tag: 'mine',
        });
        expect(result.response.case.case_name).toMatch(result.case_id === MAIN.case_id ? /^Sample/ : /^Other/);
      }
    }
    expect(await counted('requests-minute', wallet)).toBe(1);
    expect(await counted('cases-day', wallet)).toBe(50 - failed);
    const again = await fetch(world.url + headers.get('content-location'));
    expect(await again.text()).toBe(text);
  });

  it('with each result equal to the answer of the query alone', async () => {
    const query = { ...MAIN, last_checked: SINCE, context: 'full', filing_types: 'motion' };
    const pay = await world.agent();
    const alone = (await (await pay(`${world.url}/v2/case?${new URLSearchParams(query)}`)).json()) as Json;
    const { json } = await buy([query]);
    const [{ response }] = json.results;
    expect(response.delta.change_count).toBe(1);
    expect(Object.keys(response.meta)).toEqual(Object.keys(alone.meta));
    expect({ ...response, meta: null }).toEqual({ ...alone, meta: null });
  });

  it('in full if some of its queries fail, for any reason', async () => {
    const { json, spent } = await buy([NOWHERE, MAIN, PLANNED, UNKNOWN, { ...MAIN, case_id: 'nothing!' }]);
    expect(spent).toBe(4_950_000n);
    expect(json.meta).toMatchObject({ query_cost_usd: 4.95, total_cost_usd: 4.95, successful: 1, failed: 4 });
    expect(json.results.map((result: Json) => result.error?.code ?? result.status)).toEqual([
      'court_not_covered',
      'success',
      'court_not_covered',
      'case_not_found',
      'invalid_case_id',
    ]);
  });

  it('for nothing if all fail, and the same payment buys nothing else', async () => {
    const sent: { signature: string | null; body: string }[] = [];
    const watch: typeof fetch = async (input, init) => {
      const request = new Request(input, init);
      sent.push({ signature: request.headers.get('payment-signature'), body: await request.clone().text() });
      return fetch(request);
    };
    const wallet = await world.wallet(2_000_000n);
    const answer = await send({ queries: [UNKNOWN, NOWHERE] }, { pay: await world.agentOf(wallet, watch, '$60') });
    expect(answer.status).toBe(200);
    expect(answer.json.meta).toMatchObject({ query_cost_usd: 0, total_cost_usd: 1.98, successful: 0, failed: 2 });
    expect(answer.json.results.map((result: Json) => result.error.details.charged)).toEqual([false, false]);
    expect(answer.headers.get('payment-response')).toBeNull();
    expect(answer.headers.get('content-location')).toBeNull();
    expect(await world.balance(wallet)).toBe(2_000_000n);
    expect(await counted('requests-minute', wallet)).toBe(1);
    expect(await counted('cases-day', wallet)).toBe(0);

    const [payment] = await until(
      () =>
        world.storage.readStore.find({
          collection: PAYMENTS,
          equals: { wallet: wallet.publicKey.toBase58() },
          limit: 1,
        }),
      ({ length }) => length > 0,
    );
    expect(await typesOf(payment!.id)).toEqual(['PaymentAuthorized', 'QueryFailed', 'PaymentReleased']);
    const [authorized] = await world.storage.log.read(`payment-${payment!.id}`);
    expect(authorized?.data).toMatchObject({ amount: '1980000', queries: 2 });

    const signature = sent.at(-1)?.signature ?? '';
    expect(signature).not.toBe('');
    const second = await send({ queries: [MAIN, OTHER] }, { headers: { 'payment-signature': signature } });
    expect([second.status, second.json.error.details.reason]).toEqual([402, 'payment_for_another_purpose']);
    expect(await world.balance(wallet)).toBe(2_000_000n);
    expect(await typesOf(payment!.id)).toHaveLength(3);
  });

  it.each([-1n, 1n])('but not for a payment that is off by %s base unit', async (off) => {
    const altered: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      const header = response.headers.get('payment-required');
      if (response.status !== 402 || header === null) return response;
      const terms = JSON.parse(Buffer.from(header, 'base64').toString());
      terms.accepts[0].amount = String(BigInt(terms.accepts[0].amount) + off);
      const headers = new Headers(response.headers);
      headers.set('payment-required', Buffer.from(JSON.stringify(terms)).toString('base64'));
      return new Response(await response.arrayBuffer(), { status: 402, headers });
    };
    const wallet = await world.wallet();
    const pay = await world.agentOf(wallet, altered, '$60');
    const { status, json } = await send({ queries: [MAIN, OTHER, MAIN] }, { pay });
    expect([status, json.error.code]).toEqual([402, 'payment_rejected']);
    expect(await world.balance(wallet)).toBe(20_000_000n);
  });

  it('at an exact price for every number of queries', async () => {
    for (let size = 1; size <= 50; size++) {
      const { status, json } = await send({ queries: Array(size).fill(MAIN) });
      expect([status, json.accepts[0].maxAmountRequired]).toEqual([402, String(990_000n * BigInt(size))]);
      expect(json.error.details.amount_usdc).toBe((size * 0.99).toFixed(2));
      const free = await send({ queries: Array(size).fill(NOWHERE) });
      expect([free.status, free.json.meta.total_cost_usd]).toEqual([200, Number((size * 0.99).toFixed(2))]);
    }
  });
});

describe('a payment identifier of a batch', () => {
  /** A client of x402 v2 that names its request. */
  const named = (id: string) => {
    const naming: typeof fetch = async (input, init) => {
      const request = new Request(input, init);
      const header = request.headers.get('payment-signature');
      if (header === null) return fetch(request);
      const payment = JSON.parse(Buffer.from(header, 'base64').toString());
      payment.extensions = { ...payment.extensions, [PAYMENT_IDENTIFIER]: { info: { required: false, id } } };
      const headers = new Headers(request.headers);
      headers.set('payment-signature', Buffer.from(JSON.stringify(payment)).toString('base64'));
      return fetch(new Request(request, { headers }));
    };
    return naming;
  };

  it('covers all of its queries, in any white space and order of members', async () => {
    const wallet = await world.wallet();
    const pay = await world.agentOf(wallet, named(`batch-${randomUUID()}`), '$60');
    const callback_url = 'https://agent.example/hook';
    const first = await send({ queries: [{ ...MAIN, callback_url }, UNKNOWN] }, { pay });
    expect([first.status, first.json.meta.query_cost_usd]).toEqual([200, 1.98]);
    const reordered = { callback_url, language: null, court_code: MAIN.court_code, case_id: MAIN.case_id };
    const again = await send(JSON.stringify({ queries: [reordered, UNKNOWN] }, null, 2), { pay });
    expect(again.text).toBe(first.text);
    expect(again.headers.get('x-service-delivery')).toBe(first.headers.get('x-service-delivery'));
    expect(first.headers.get('x-service-delivery')).toMatch(/^id-0=/);
    for (const queries of [
      [UNKNOWN, { ...MAIN, callback_url }],
      [{ ...MAIN, callback_url: `${callback_url}2` }, UNKNOWN],
      [MAIN, UNKNOWN],
    ]) {
      const other = await send({ queries }, { pay });
      expect([other.status, other.json.error.code]).toEqual([409, 'idempotency_conflict']);
    }
    expect(await world.balance(wallet)).toBe(18_020_000n);
  });
});

describe('a batch is free', () => {
  it('if none of its queries can be answered', async () => {
    const { status, json, headers } = await send({ queries: [NOWHERE, PLANNED, { ...MAIN, case_id: 'nothing!' }] });
    expect(status).toBe(200);
    expect(json.meta).toMatchObject({
      query_cost_usd: 0,
      total_cost_usd: 2.97,
      batch_size: 3,
      successful: 0,
      failed: 3,
    });
    expect(json.results.map(({ error }: Json) => [error.code, error.details.charged])).toEqual([
      ['court_not_covered', false],
      ['court_not_covered', false],
      ['invalid_case_id', false],
    ]);
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('in the sandbox, with any ids', async () => {
    const before = await world.received();
    const large = { case_id: '1:24-md-01234', court_code: 'nysd', context: 'full' };
    const queries = [
      { ...MAIN, last_checked: SINCE, context: 'full' },
      NOWHERE,
      PLANNED,
      { ...MAIN, case_id: 'nothing!' },
      ...Array.from({ length: 20 }, () => large),
    ];
    const { status, json, text } = await send(
      { queries },
      { query: '?test=1', headers: { 'x-service-tag': 'agent "7"' } },
    );
    expect(status).toBe(200);
    expect(json.meta).toMatchObject({ sandbox: true, query_cost_usd: 0, total_cost_usd: 0, successful: 24, failed: 0 });
    expect(json.meta).toMatchObject({ truncated: true, tag: 'agent "7"' });
    for (const [index, result] of json.results.entries()) {
      const query = queries[index]!;
      expect(result).toMatchObject({ ...{ case_id: query.case_id, court_code: query.court_code }, status: 'success' });
      expect(result.response).toMatchObject({ case_id: query.case_id, court_code: query.court_code });
      expect(result.response.meta).toMatchObject({
        sandbox: true,
        query_cost_usd: 0,
        request_id: json.meta.request_id,
      });
    }
    expect(json.results[0].response.delta).toMatchObject({ changed: false, since: SINCE });
    expect(json.results[0].response.case.parties.length).toBeGreaterThan(0);
    expect(text.length).toBeLessThan(MAX_RESULT_BYTES + 1_000_000);
    expect(await world.received()).toBe(before);
  });
});

describe('callbacks of a batch', () => {
  it('are announced for the successful results, in the answer and when it is read again', async () => {
    const callback_url = 'https://agent.example/hook?secret=1';
    const { json, headers } = await buy([
      { ...UNKNOWN, callback_url },
      { ...MAIN, callback_url },
      OTHER,
      { ...OTHER, callback_url: 'no url at all' },
    ]);
    expect(json.meta).toMatchObject({ successful: 3 });
    const header = headers.get('x-service-delivery') ?? '';
    expect(header).toMatch(
      /^id-1="[0-9a-f-]{36}", id-3="[0-9a-f-]{36}", first_attempt_by="[^"]+Z", gives_up_at="[^"]+Z"$/,
    );
    const again = await fetch(world.url + headers.get('content-location'));
    expect(again.headers.get('x-service-delivery')).toBe(header);
    expect(headers.get('access-control-expose-headers')).toMatch(/X-Service-Delivery/);
  });

  it('of one case too; without a request none is announced', async () => {
    const pay = await world.agent();
    const ask = (more: object) => pay(`${world.url}/v2/case?${new URLSearchParams({ ...MAIN, ...more })}`);
    const asked = await ask({ callback_url: 'https://agent.example/hook' });
    const header = asked.headers.get('x-service-delivery') ?? '';
    expect(header).toMatch(/^id="[0-9a-f-]{36}", first_attempt_by="[^"]+Z", gives_up_at="[^"]+Z"$/);
    const [, first, last] = /first_attempt_by="([^"]+)", gives_up_at="([^"]+)"/.exec(header)!;
    const hours = (Date.parse(last!) - Date.parse(first!)) / 3_600_000;
    expect([Date.parse(first!) > Date.now(), hours > 18.2, hours < 20]).toEqual([true, true, true]);
    const again = await fetch(world.url + asked.headers.get('content-location'));
    expect(again.headers.get('x-service-delivery')).toBe(header);
    expect((await ask({})).headers.get('x-service-delivery')).toBeNull();
  });
});

describe('a batch is rejected before payment is requested', () => {
  const post = (body: string | Buffer | null, headers: Record<string, string> = {}) =>
    fetch(world.url + PATH, { method: 'POST', headers, body });
  const json = { 'content-type': 'application/json' };
  const sound = JSON.stringify({ queries: [MAIN] });

  it.each<[string, string | Buffer | null, Record<string, string>, number, ErrorCode]>([
    ['nothing at all: the terms for one', null, {}, 402, 'payment_required'],
    ['an empty body of JSON', null, json, 402, 'payment_required'],
    ['of JSON with a charset', sound, { 'content-type': 'application/json; charset=utf-8' }, 402, 'payment_required'],
    ['of a suffix of JSON', sound, { 'content-type': 'application/vnd.api+json' }, 402, 'payment_required'],
    ['no queries', '{"queries":[]}', json, 400, 'invalid_batch_request'],
    ['broken JSON', '{"queries":[', json, 400, 'invalid_batch_request'],
    ['51 queries', JSON.stringify({ queries: Array(51).fill(MAIN) }), json, 413, 'batch_too_large'],
    [
      'more than 256 KiB',
      JSON.stringify({ queries: [MAIN], x: 'x'.repeat(256 * 1024) }),
      json,
      413,
      'payload_too_large',
    ],
    ['text', sound, { 'content-type': 'text/plain' }, 415, 'unsupported_media_type'],
    ['a form', 'queries=1', { 'content-type': 'application/x-www-form-urlencoded' }, 415, 'unsupported_media_type'],
    ['no media type', Buffer.from(sound), {}, 415, 'unsupported_media_type'],
    ['a media type like JSON', sound, { 'content-type': 'application/jsonx' }, 415, 'unsupported_media_type'],
  ])('%s', async (_, body, headers, status, code) => {
    const answer = await post(body, headers);
    const { error, meta } = (await answer.json()) as Json;
    expect([answer.status, error.code]).toEqual([status, code]);
    expect(ERROR_CATALOGUE[code].status).toBe(status);
    expect(error.details.charged).toBe(false);
    expect(Object.keys(meta)).toEqual(['request_id', 'queried_at']);
  });

  it('for any JSON, with an error of the catalogue and never an internal one', async () => {
    const name = fc.constantFrom('case_id', 'court_code', 'last_checked', 'context', 'callback_url', '__proto__', 'x');
    const value = fc.oneof(fc.constantFrom('cand', '3:24-cv-01234', 'full', SINCE), fc.jsonValue({ maxDepth: 1 }));
    const sent = fc.oneof(
      fc.record({ queries: fc.array(fc.dictionary(name, value), { maxLength: 4 }) }),
      fc.record({ queries: fc.jsonValue() }),
      fc.jsonValue(),
    );
    await fc.assert(
      fc.asyncProperty(sent, fc.constantFrom('', '?test=1'), async (body, query) => {
        const { status, json: answered } = await send(JSON.stringify(body), { query });
        expect([200, 400, 402, 413]).toContain(status);
        if (status !== 200) expect(Object.keys(ERROR_CATALOGUE)).toContain(answered.error.code);
      }),
      { numRuns: 150 },
    );
  });
});
