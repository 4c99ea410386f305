/** What a caller learns before it pays: whether the case is known, and what a batch costs if queries fail. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { courts } from '../../src/courts/registry.ts';
import { BATCH_CHARGING } from '../../src/http/paid/batch-charging.ts';
import { standingOf } from '../../src/queries/case-standing.ts';
import { notYetShown } from '../../src/queries/known.ts';
import { memo, selfPaid, transfer } from '../solana/payment-transactions.ts';
import { callTool } from './mcp/client.ts';
import { SECRET, SECRET_CASE_ID, SECRET_DOCKET } from './refused.ts';
import { openWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
  await world.importDocket(SECRET_DOCKET);
});
afterAll(() => world.close());

const KNOWN = { court_code: 'cand', case_id: SECRET_CASE_ID };
const UNKNOWN = { court_code: 'cand', case_id: '4:25-cv-00999' };
const SINCE = { last_checked: '2026-01-01T00:00:00Z' };
const TOLD = { known: true, cache_age_seconds: expect.any(Number), source: 'imported' };
const NOT = { known: false, cache_age_seconds: null, source: null };

const get = (path: string, query: Record<string, string>) => fetch(`${world.url}${path}?${new URLSearchParams(query)}`);
const batch = (queries: object[], headers: Record<string, string> = {}) =>
  fetch(`${world.url}/v2/cases/batch`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ queries }),
  });
// biome-ignore lint/suspicious/noExplicitAny: tests read arbitrary JSON
const json = async (answer: Response | Promise<Response>): Promise<any> => (await answer).json();

describe('whether a case is known', () => {
  it.each([
    ['/v2/case', {}],
    ['/v2/monitor', SINCE],
    ['/v1/case', {}],
    ['/v1/monitor', {}],
  ])('is in the 402 of %s', async (path, more) => {
    for (const [query, told] of [
      [KNOWN, TOLD],
      [UNKNOWN, NOT],
    ] as const) {
      const answer = await get(path, { ...query, ...more });
      const text = await answer.text();
      expect([answer.status, JSON.parse(text).error.details]).toMatchObject([402, told]);
      expect(text).not.toContain(SECRET);
    }
  });
  it('is in that of a batch for each query, in order', async () => {
    const impossible = { court_code: 'xyzzy', case_id: '1' };
    const { error } = await json(batch([UNKNOWN, KNOWN, impossible]));
    expect(error.details.cases).toEqual([
      { ...UNKNOWN, ...NOT },
      { ...KNOWN, ...TOLD },
      { ...impossible, ...NOT },
    ]);
  });
  it('is in the payment instructions of the tools, in both forms', async () => {
    const mcp = `${world.url}/v2/mcp`;
    for (const url of [mcp, `${mcp}?payment=x402`]) {
      expect((await callTool(url, 'service_case_query', KNOWN)).data).toMatchObject(TOLD);
      expect((await callTool(url, 'service_case_monitor', { ...UNKNOWN, ...SINCE })).data).toMatchObject(NOT);
      const { data } = await callTool(url, 'service_case_batch', { queries: [KNOWN, UNKNOWN] });
      expect(data.cases).toMatchObject([TOLD, NOT]);
    }
  });
  it('is missing in a request for the bare endpoint', async () => {
    const { error } = await json(fetch(`${world.url}/v2/case`));
    expect(error.details).not.toHaveProperty('known');
  });
  it('is null while the read model is behind, fails, or does not answer', async () => {
    const court = courts.find(({ code }) => code === 'cand')!;
    const { readStore } = world.storage;
    const clock = { now: () => Date.now() * 1000 };
    const behind = { wasBuilt: false, showsEverything: async () => false };
    const nothing = { known: null, cache_age_seconds: null, source: null };
    expect(await standingOf({ readStore, freshness: behind, clock }, court, UNKNOWN.case_id)).toEqual(nothing);
    expect(await standingOf({ readStore, freshness: behind, clock }, court, KNOWN.case_id)).toMatchObject({
      known: true,
    });
    for (const load of [() => Promise.reject(notYetShown()), () => new Promise<never>(() => {})])
      expect(await standingOf({ readStore: { ...readStore, load }, freshness: behind, clock }, court, 'x')).toEqual(
        nothing,
      );
  });
  it('is counted for its court', async () => {
    await expect
      .poll(async () => {
        const { courts: listed } = await json(fetch(`${world.url}/v2/status`));
        return listed.find((each: { court_code: string }) => each.court_code === 'cand');
      })
      .toMatchObject({ status: 'live', source: 'imported', cases_known: 1, last_success_at: expect.any(String) });
  });
});

describe('that a batch is charged in full', () => {
  it.each([
    '/llms.txt',
    '/docs/index.md',
    '/docs/payments.md',
    '/docs/errors.md',
    '/docs/errors',
    '/openapi.json',
    '/.well-known/x402',
  ])('is stated at %s', async (path) => {
    const text = await (await fetch(world.url + path)).text();
    expect(text).toMatch(/if some of its queries fail it is charged whole/);
    expect(text).toMatch(/if all fail,? nothing is charged/);
  });
  it('is stated by the tools, before and with the price', async () => {
    const mcp = `${world.url}/v2/mcp`;
    expect((await callTool(mcp, 'service_pricing', {})).data.charged_only_for).toContain(BATCH_CHARGING);
    const asked = await callTool(mcp, 'service_case_batch', { queries: [KNOWN, UNKNOWN] });
    expect(asked.data.charging).toBe(BATCH_CHARGING);
    expect((await json(batch([KNOWN]))).error.details.charging).toBe(BATCH_CHARGING);
  });
  it('is stated in each failed entry, with its cost', async () => {
    const wallet = await world.wallet();
    const blockhash = await world.newestBlockhash();
    const instructions = [transfer(world.parties, wallet.publicKey, { amount: 1_980_000n }), memo()];
    const wire = selfPaid(world.parties, wallet, { blockhash, instructions });
    const answer = await batch([KNOWN, UNKNOWN], { 'x402-payment': wire.toString('base64') });
    const { meta, results } = await json(answer);
    expect([answer.status, meta.query_cost_usd, meta.failed]).toEqual([200, 1.98, 1]);
    expect(results[1].error.details).toMatchObject({ charged: true, query_cost_usd: 0.99 });
    const all = await json(batch([{ court_code: 'xyzzy', case_id: '1' }]));
    expect(all.results[0].error.details).toMatchObject({ charged: false, query_cost_usd: 0 });
  });
});
