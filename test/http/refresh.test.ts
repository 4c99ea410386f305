/**
 * Refresh on query. Given the imitation of the Supreme Court as a live source, when agents pay for cases that are unknown,
 * stale or fresh, over every endpoint, then they get what the source shows, pay for that and nothing else, and no request
 * reaches the source that nobody needed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CaseWanted } from '../../src/events/source.ts';
import { MICROS_PER_MS } from '../../src/runtime/instant.ts';
import { impatientSupremeCourt } from '../sources/refreshing.ts';
import { petition, proceeding } from '../sources/supreme-court/files.ts';
import { openSupremeCourt, type SupremeCourt } from '../sources/supreme-court/supreme-court.ts';
import { clockWithV1 } from '../support/clock-with-v1.ts';
import { callTool, paymentFor } from './mcp/client.ts';
import { openWorld, type World } from './world.ts';

const PRICE = 990_000n;
const DAY_MS = 86_400_000;
const SINCE = { last_checked: '2026-01-01T00:00:00Z' };

let site: SupremeCourt;
let world: World;
/** How far the service's clock is ahead, milliseconds. */
let ahead = 0;
let CASE = { court_code: 'scotus', case_id: '' };
let number = 400;

const worldWith = (lookMs?: number): Promise<World> =>
  openWorld({
    clock: { now: () => clockWithV1.now() + ahead * MICROS_PER_MS },
    sources: (parts) => [impatientSupremeCourt(site, parts)],
    ...(lookMs !== undefined && { lookMs }),
  });

beforeAll(async () => {
  site = await openSupremeCourt();
  world = await worldWith();
});
afterAll(async () => {
  await world.close();
  await site.close();
});
/** Each test has a case of its own. */
beforeEach(() => {
  CASE = newCase();
  site.fault = null;
  site.misses = '404';
  site.forget();
});

function newCase() {
  number++;
  site.put(petition(`25-${number}`));
  return { court_code: 'scotus', case_id: `25-${number}` };
}

type Pay = typeof fetch;
const urlOf = (path: string, query: object, of = world) => `${of.url}${path}?${new URLSearchParams({ ...query })}`;
// biome-ignore lint/suspicious/noExplicitAny: tests read arbitrary JSON
const json = async (answer: Response | Promise<Response>): Promise<any> => (await answer).json();
const bodyOf = (queries: readonly object[]) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ queries }),
});
const batch = (pay: Pay, queries: readonly object[]) => pay(`${world.url}/v2/cases/batch`, bodyOf(queries));
const asked = () => site.requests.map(({ number }) => number);

async function wanted(of = CASE.case_id): Promise<string[]> {
  const numbers: string[] = [];
  for await (const { events } of world.storage.log.readAll(null, { by: 'types', types: [CaseWanted.type] })) {
    for (const { data } of events) {
      const { caseNumber } = data as { caseNumber: string };
      if (caseNumber.startsWith(of)) numbers.push(caseNumber);
    }
  }
  return numbers;
}

describe('a case that no source has shown', () => {
  it('costs no request before it is paid for, is found by the query, and is fresh for the next', async () => {
    const wallet = await world.wallet();
    const pay = await world.agentOf(wallet);
    const before = await json(fetch(urlOf('/v2/case', CASE)));
    expect(before.error.details).toMatchObject({ known: false, cache_age_seconds: null, source: 'scotus' });
    expect(asked()).toEqual([]);

    const paid = await pay(urlOf('/v2/case', { ...CASE, ...SINCE }));
    expect(paid.status).toBe(200);
    const { meta, case: shown, delta } = await json(paid);
    expect(meta).toMatchObject({ coverage_status: 'full', query_cost_usd: 0.99 });
    expect(meta.cache_age_seconds).toBeLessThan(60);
    expect([shown.filing_count, shown.case_name]).toEqual([8, 'Orla Fennimore v. Cobble & Sons, Inc.']);
    expect(delta.change_count).toBe(8);
    expect(await world.balance(wallet)).toBe(20_000_000n - PRICE);

    const known = await json(fetch(urlOf('/v2/case', CASE)));
    expect(known.error.details).toMatchObject({ known: true, source: 'scotus' });
    expect((await pay(urlOf('/v2/monitor', { ...CASE, ...SINCE }))).status).toBe(200);
    expect(asked()).toEqual([CASE.case_id]);
  });

  it.each([
    ['/v2/monitor', SINCE],
    ['/v1/case', {}],
    ['/v1/monitor', {}],
  ])('is found by %s, too', async (path, more) => {
    const pay = await world.agent();
    const paid = await pay(urlOf(path, { ...CASE, ...more }));
    expect([paid.status, (await json(paid)).changed ?? true]).toEqual([200, true]);
    expect(asked()).toEqual([CASE.case_id]);
  });

  it('is found by the tools', async () => {
    const wallet = await world.wallet();
    const call = (args: object) => callTool(`${world.url}/v2/mcp`, 'service_case_query', args);
    const { data: instructions } = await call(CASE);
    expect(instructions).toMatchObject({ payment_required: true, known: false, source: 'scotus' });
    const { data, isError } = await call({ ...CASE, payment_tx: paymentFor(instructions, wallet) });
    expect([isError, data.case.filing_count]).toEqual([false, 8]);
    const batched = (args: object) => callTool(`${world.url}/v2/mcp`, 'service_case_batch', args);
    const queries = [newCase()];
    const answer = await batched({ queries, payment_tx: paymentFor((await batched({ queries })).data, wallet) });
    expect(answer.data.meta.successful).toBe(1);
  });

  it('is 503 while its source does not answer, and nothing is charged', async () => {
    site.fault = { status: 503, headers: { 'retry-after': '77' }, body: '<html>' };
    const wallet = await world.wallet();
    const paid = await (await world.agentOf(wallet))(urlOf('/v2/case', CASE));
    expect(paid.status).toBe(503);
    expect((await json(paid)).error).toMatchObject({ code: 'court_unavailable', details: { charged: false } });
    expect(Number(paid.headers.get('retry-after'))).toBeGreaterThan(1);
    expect(await world.balance(wallet)).toBe(20_000_000n);
    expect(await wanted()).toEqual([]);
  });

  it.each(['404', 'empty', 'html'] as const)(
    'row 38: is 404 with enqueued if the source knows none (%s), and is noted once',
    async (misses) => {
      site.misses = misses;
      site.remove(CASE.case_id);
      const wallet = await world.wallet();
      const pay = await world.agentOf(wallet);
      for (const _ of [1, 2]) {
        const paid = await pay(urlOf('/v2/case', CASE));
        expect(paid.status).toBe(404);
        const { code, details } = (await json(paid)).error;
        expect([code, details]).toMatchObject(['case_not_found', { enqueued: true, charged: false }]);
        expect(details.retry_after).toBeGreaterThan(0);
      }
      expect(await wanted()).toEqual([CASE.case_id]);
      expect(await world.balance(wallet)).toBe(20_000_000n);
    },
  );

  it('of a court that no source covers is 404, not enqueued, and not noted', async () => {
    const unknown = { court_code: 'cand', case_id: '4:25-cv-00999' };
    expect((await json(fetch(urlOf('/v2/case', unknown)))).error.details.source).toBeNull();
    const { error } = await json((await world.agent())(urlOf('/v2/case', unknown)));
    expect([error.code, error.details.enqueued]).toEqual(['case_not_found', false]);
    expect([asked(), await wanted()]).toEqual([[], []]);
  });

  it('is asked for once by many queries at the same time', async () => {
    const agents = await Promise.all([1, 2, 3].map(() => world.agent()));
    site.fault = 'hang';
    const answers = agents.map((pay) => pay(urlOf('/v2/case', CASE)));
    await site.asked(1);
    site.release();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(asked()).toEqual([CASE.case_id]);
  });
});

describe('a case whose data is too old', () => {
  const stale = async (of = world): Promise<Pay> => {
    const pay = await of.agent();
    // The first look may take longer than the query waits; the next query has it.
    while ((await pay(urlOf('/v2/case', CASE, of))).status !== 200) await sleep(50);
    ahead += 2 * DAY_MS;
    return pay;
  };
  const lastChecked = () => ({
    last_checked: new Date(clockWithV1.now() / MICROS_PER_MS + ahead - DAY_MS).toISOString(),
  });

  it('is asked for while the query waits, and shows what is new', async () => {
    const pay = await stale();
    site.edit(CASE.case_id, (all) => [...all, proceeding('Jun 18 2026', 'Petition DENIED.')]);
    const { meta, delta } = await json(pay(urlOf('/v2/case', { ...CASE, ...lastChecked() })));
    expect(delta.new_filings.map((one: { description: string }) => one.description)).toEqual(['Petition DENIED.']);
    expect(meta.cache_age_seconds).toBeLessThan(60);
  });
  it('is young again if nothing has changed', async () => {
    const pay = await stale();
    const { meta, delta } = await json(pay(urlOf('/v2/case', { ...CASE, ...lastChecked() })));
    expect([delta.changed, site.requests.at(-1)?.status]).toEqual([false, 304]);
    expect(meta.cache_age_seconds).toBeLessThan(60);
  });
  it.each([
    ['fails', { status: 500 }],
    ['refuses', { status: 403 }],
  ])('is answered with its true age if the source %s', async (_, fault) => {
    const pay = await stale();
    site.fault = fault;
    const paid = await pay(urlOf('/v2/case', CASE));
    expect(paid.status).toBe(200);
    expect((await json(paid)).meta.cache_age_seconds).toBeGreaterThanOrEqual((2 * DAY_MS) / 1000);
  });
  it('is answered as it is if the source no longer knows it', async () => {
    const pay = await stale();
    site.remove(CASE.case_id);
    expect((await json(pay(urlOf('/v2/case', CASE)))).case.filing_count).toBe(8);
    expect(await wanted()).toEqual([]);
  });
  it('is answered in time if the source is slow; its look continues, and the next query has it', async () => {
    const hasty = await worldWith(200);
    try {
      const pay = await stale(hasty);
      site.edit(CASE.case_id, (all) => [...all, proceeding('Jun 18 2026', 'Petition DENIED.')]);
      site.fault = 'hang';
      const paid = await pay(urlOf('/v2/case', { ...CASE, ...lastChecked() }, hasty));
      expect([paid.status, (await json(paid)).case.filing_count]).toEqual([200, 8]);
      site.release();
      const age = async () => (await json(fetch(urlOf('/v2/case', CASE, hasty)))).error.details.cache_age_seconds;
      while ((await age()) > 3_600) await sleep(20);
      const { case: shown } = await json(pay(urlOf('/v2/case', CASE, hasty)));
      expect([shown.filing_count, asked().length]).toEqual([9, 2]);
    } finally {
      await hasty.close();
    }
  });
});

describe('a batch', () => {
  it('asks once for each case that needs it, and answers in order', async () => {
    const pay = await world.agentOf(await world.wallet(), fetch, '$10');
    const { case_id } = newCase();
    const other = { ...CASE, case_id: `No. ${case_id}` };
    const unknown = { ...CASE, case_id: '25-999' };
    const { meta, results } = await json(batch(pay, [other, CASE, unknown, CASE, { ...CASE, case_id }]));
    expect(meta).toMatchObject({ successful: 4, failed: 1 });
    expect(results.map(({ status }: { status: string }) => status)).toEqual([
      'success',
      'success',
      'error',
      'success',
      'success',
    ]);
    expect(results[2].error.details.enqueued).toBe(true);
    expect(asked().toSorted()).toEqual([CASE.case_id, case_id, '25-999']);
  });

  it('does not wait for another batch of its wallet', async () => {
    const wallet = await world.wallet();
    const pay = await world.agentOf(wallet, fetch, '$10');
    expect((await batch(pay, [CASE])).status).toBe(200);
    site.fault = 'hang';
    const slow = batch(pay, [CASE, newCase()]);
    await site.asked(2);
    let isOver = false;
    void slow.then(() => {
      isOver = true;
    });
    expect((await json(batch(pay, [CASE]))).meta.successful).toBe(1);
    expect(isOver).toBe(false);
    site.release();
    expect((await json(slow)).meta.successful).toBe(2);
  });

  it('has terms of at most 4 KiB, which name the source of each case', async () => {
    const queries = Array.from({ length: 50 }, (_, index) => ({ ...CASE, case_id: `25-${1000 + index}` }));
    const unpaid = await batch(fetch, queries);
    expect(unpaid.status).toBe(402);
    expect(unpaid.headers.get('payment-required')?.length).toBeLessThanOrEqual(4_096);
    const { cases } = (await json(unpaid)).error.details;
    expect(cases).toHaveLength(50);
    expect(cases[49]).toEqual({ ...queries[49], known: false, cache_age_seconds: null, source: 'scotus' });
    expect(asked()).toEqual([]);
  });
});

describe('unpaid work', () => {
  const unknowns = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => ({ ...CASE, case_id: `25-${from + index}` }));

  it('is limited for a wallet: then unknown cases are only noted', async () => {
    const wallet = await world.wallet(100_000_000n);
    const pay = await world.agentOf(wallet, fetch, '$60');
    const first = await json(batch(pay, unknowns(1000, 30)));
    expect(first.meta).toMatchObject({ failed: 30 });
    expect(asked()).toHaveLength(20);
    for (const { error } of first.results) expect(error.details.enqueued).toBe(true);
    expect((await wanted('25-10')).length).toBe(30);
    const second = await json(pay(urlOf('/v2/case', unknowns(1900, 1)[0] ?? {})));
    expect(second.error).toMatchObject({ code: 'case_not_found', details: { enqueued: true } });
    expect(asked()).toHaveLength(20);
    // Known cases and those that are found cost nothing of it.
    expect((await json(batch(await world.agent(), [CASE]))).meta.successful).toBe(1);
    expect((await pay(urlOf('/v2/case', CASE))).status).toBe(200);
    expect(await world.balance(wallet)).toBe(100_000_000n - PRICE);
    // The limits of notes: 100 a day.
    await batch(pay, unknowns(3000, 50));
    const last = await json(batch(pay, unknowns(4000, 50)));
    expect((await wanted('25-')).filter((one) => one.length === '25-1000'.length)).toHaveLength(100);
    expect(last.results.at(-1).error.details.enqueued).toBe(false);
    expect(asked()).toHaveLength(21);
    ahead += DAY_MS + 1_000;
    await pay(urlOf('/v2/case', { ...CASE, case_id: '25-5005' }));
    expect(asked()).toHaveLength(22);
  });

  it('is not counted if the case is found', async () => {
    for (let found = 2000; found < 2025; found++) site.put(petition(`25-${found}`));
    const pay = await world.agentOf(await world.wallet(100_000_000n), fetch, '$60');
    expect((await json(batch(pay, unknowns(2000, 25)))).meta.successful).toBe(25);
    expect((await json(batch(pay, unknowns(3000, 20)))).meta.failed).toBe(20);
    expect(asked()).toHaveLength(45);
  });
});
