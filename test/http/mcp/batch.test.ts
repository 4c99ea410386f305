import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool, paymentFor } from './client.ts';
import { CASE, openWorld, PRICE, SINCE, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const call = (args: object, search = '') => callTool(`${world.mcp}${search}`, 'service_case_batch', args);
const UNKNOWN = { court_code: 'cand', case_id: '4:25-cv-00999' };
const TWO = [CASE, { ...CASE, last_checked: SINCE }];

describe('service_case_batch', () => {
  it('estimates its cost, then sells all queries for one payment', async () => {
    const wallet = await world.wallet();
    const ask = await call({ queries: TWO });
    expect(ask.isError).toBe(false);
    expect(ask.data).toMatchObject({
      payment_required: true,
      amount_usdc: '1.98',
      amount_base_units: '1980000',
      estimated_cost_usdc: '1.98',
    });
    const before = await world.balance(wallet);
    const { data, isError } = await call({ queries: TWO, payment_tx: paymentFor(ask.data, wallet) });
    expect(isError).toBe(false);
    expect(data.meta).toMatchObject({
      batch_size: 2,
      successful: 2,
      failed: 0,
      total_cost_usd: 1.98,
      query_cost_usd: 1.98,
    });
    expect(data.results[1].response.delta.change_count).toBe(2);
    expect(before - (await world.balance(wallet))).toBe(2n * PRICE);
  });

  it('accepts queries written as text, and nulls in them', async () => {
    for (const queries of [JSON.stringify(TWO), [{ ...CASE, last_checked: null, context: null }, CASE]]) {
      expect((await call({ queries })).data.amount_usdc).toBe('1.98');
    }
  });

  it.each([
    [{}, 'missing_required_parameter', 'queries'],
    [{ queries: [] }, 'invalid_batch_request', 'queries'],
    [{ queries: 'all' }, 'invalid_batch_request', 'queries'],
    [{ queries: CASE }, 'invalid_batch_request', 'queries'],
    [{ queries: [7] }, 'invalid_batch_request', 'queries'],
    [{ queries: [CASE, { ...CASE, context: 'huge' }] }, 'invalid_batch_request', 'queries[1].context'],
    [{ queries: [{ ...CASE, case_id: 3 }] }, 'invalid_batch_request', 'queries[0].case_id'],
    [{ queries: [{ ...CASE, callback_url: 'https://example.com' }] }, 'invalid_parameter', 'queries[0].callback_url'],
    [{ queries: [CASE], payment: 'x' }, 'invalid_parameter', 'payment'],
  ])('explains %j before any payment', async (args, code, parameter) => {
    const { data, isError } = await call(args);
    expect([isError, data.error.code, data.payment_required]).toEqual([true, code, undefined]);
    const names = data.error.details.issues.map((issue: { parameter: string }) => issue.parameter);
    expect(names).toContain(parameter);
    expect(data.next_step).toMatch(/^Nothing was charged\./);
  });

  it('says how to split a batch of more than fifty', async () => {
    const { data, isError } = await call({ queries: Array(51).fill(CASE) });
    expect([isError, data.error.code, data.error.details.limit]).toEqual([true, 'batch_too_large', 50]);
    expect(data.next_step).toMatch(/^Nothing was charged\. Split the queries: at most 50 in one call/);
  });

  it('limits what it says about fifty invalid queries', async () => {
    const { data } = await call({ queries: Array(50).fill({ ...CASE, context: 'x', language: 'y' }) });
    expect(data.next_step.length).toBeLessThan(800);
    expect(data.next_step).toContain('more');
  });

  it('charges nothing if no query can be answered', async () => {
    const nowhere = await call({ queries: [{ court_code: 'nowhere', case_id: '1' }] });
    expect([nowhere.isError, nowhere.data.meta.query_cost_usd, nowhere.data.results[0].status]).toEqual([
      false,
      0,
      'error',
    ]);

    const wallet = await world.wallet();
    const before = await world.balance(wallet);
    const payment_tx = paymentFor({ ...(await call({ queries: [UNKNOWN] })).data, memo: 'unbound' }, wallet);
    const unknown = await call({ queries: [UNKNOWN], payment_tx });
    expect(unknown.data.meta).toMatchObject({ successful: 0, failed: 1, query_cost_usd: 0 });
    expect(unknown.notes[0]).toMatch(/^Nothing was charged/);
    expect(await world.balance(wallet)).toBe(before);
    expect((await call({ queries: [CASE], payment_tx })).data.meta.successful).toBe(1);
  });

  it('charges everything if some fail, and says which', async () => {
    const wallet = await world.wallet();
    const queries = [UNKNOWN, CASE];
    const { data } = await call({ queries, payment_tx: paymentFor((await call({ queries })).data, wallet) });
    expect(data.meta).toMatchObject({ successful: 1, failed: 1, query_cost_usd: 1.98 });
    expect(data.results.map(({ status }: { status: string }) => status)).toEqual(['error', 'success']);
  });

  it('is rejected if one unit is missing from its price', async () => {
    const wallet = await world.wallet();
    const ask = (await call({ queries: TWO })).data;
    const payment_tx = paymentFor({ ...ask, amount_base_units: '1979999' }, wallet);
    const { data } = await call({ queries: TWO, payment_tx });
    expect(data.error.code).toBe('payment_rejected');
    expect(data.payment_instructions.amount_usdc).toBe('1.98');
  });

  it('answers from fixtures in the sandbox', async () => {
    const { data } = await call({ queries: [{ court_code: 'nowhere', case_id: 'x' }] }, '?test=1');
    expect(data.meta).toMatchObject({ sandbox: true, successful: 1, total_cost_usd: 0 });
  });
});
