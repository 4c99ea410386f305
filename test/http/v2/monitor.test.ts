import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openWorld, type World } from '../world.ts';

const PRICE = 990_000n;
const CASE = 'court_code=cand&case_id=4:25-cv-00812';
const SINCE = 'last_checked=2025-03-01T00:00:00Z';

const docket = {
  court_id: 'cand',
  docket_number: '4:25-cv-00812',
  case_name: 'Heron Marsh Society v. Copperfield Dredging Company',
  date_filed: '2025-02-03',
  docket_entries: [
    ['2025-02-03', 'COMPLAINT against Copperfield Dredging Company. Filed by Heron Marsh Society.'],
    ['2025-03-10', 'MOTION to Dismiss filed by Copperfield Dredging Company.'],
    ['2025-03-31', 'ORDER granting 2 Motion to Dismiss.'],
  ].map(([date_filed, description], index) => ({ document_number: index + 1, date_filed, description })),
};

let world: World;
beforeAll(async () => {
  world = await openWorld();
  await world.importDocket(docket);
});
afterAll(() => world.close());

describe('GET /v2/monitor', () => {
  it('sells, for 0.99 USD, whether anything is new, how many filings, and when the newest arrived', async () => {
    const pay = await world.agent();
    const before = await world.received();
    const answer = await pay(`${world.url}/v2/monitor?${CASE}&${SINCE}`, { headers: { 'x-service-tag': 'watch' } });
    const text = await answer.text();
    expect(answer.status).toBe(200);
    expect((await world.received()) - before).toBe(PRICE);
    const { meta, ...body } = JSON.parse(text);
    expect(body).toEqual({
      case_id: '4:25-cv-00812',
      court_code: 'cand',
      changed: true,
      change_count: 2,
      // The end of the court's 31 March.
      latest_activity_at: '2025-04-01T06:59:59.999999Z',
    });
    expect(meta).toMatchObject({
      query_cost_usd: 0.99,
      sandbox: false,
      coverage_status: 'full',
      context_delivered: null,
      language_delivered: null,
      truncated: false,
      tag: 'watch',
    });
    expect(Object.keys(meta)).toHaveLength(11);
    const again = await fetch(world.url + String(answer.headers.get('content-location')));
    expect(await again.text()).toBe(text);
  });

  it('reports nothing new from its own queried_at on', async () => {
    const pay = await world.agent();
    const ask = async (since: string) =>
      (await (await pay(`${world.url}/v2/monitor?${CASE}&last_checked=${since}`)).json()) as {
        meta: { queried_at: string };
      };
    const first = await ask('2025-03-15T00:00:00Z');
    expect(first).toMatchObject({ changed: true, change_count: 1 });
    expect(await ask(first.meta.queried_at)).toMatchObject({
      changed: false,
      change_count: 0,
      latest_activity_at: null,
    });
  });

  it('charges nothing for an unknown case', async () => {
    const pay = await world.agent();
    const before = await world.received();
    const answer = await pay(`${world.url}/v2/monitor?court_code=cand&case_id=4:25-cv-00813&${SINCE}`);
    expect(answer.status).toBe(404);
    expect(await world.received()).toBe(before);
  });

  it('asks for payment only if it could answer', async () => {
    const statusOf = async (query: string) => (await fetch(`${world.url}/v2/monitor${query}`)).status;
    expect(await statusOf('')).toBe(402);
    expect(await statusOf(`?${CASE}&${SINCE}`)).toBe(402);
    expect(await statusOf(`?${CASE}`)).toBe(400);
    expect(await statusOf(`?${CASE}&${SINCE}&callback_url=https://example.com/`)).toBe(400);
    expect(await statusOf(`?court_code=tx_supreme&case_id=24-0123&${SINCE}`)).toBe(422);
  });
});

describe('the sandbox', () => {
  const paths = [`/v2/case?${CASE}`, `/v2/monitor?${CASE}&${SINCE}`];

  it.each(paths)('answers %s without payment, by the parameter or the header, in any notation', async (path) => {
    const plain = await fetch(`${world.url}${path}&test=1`);
    const ways: [string, Record<string, string>][] = [
      [`${path}&test=1`, {}],
      [`${path}&%74est=%31`, {}],
      [path, { 'x-service-test': '1' }],
    ];
    const { meta: _, ...expected } = (await plain.json()) as { meta: object };
    for (const [target, headers] of ways) {
      const answer = await fetch(world.url + target, { headers });
      const { meta, ...body } = (await answer.json()) as { meta: Record<string, unknown> };
      expect(answer.status).toBe(200);
      expect(meta).toMatchObject({
        sandbox: true,
        query_cost_usd: 0,
        request_id: answer.headers.get('x-request-id'),
      });
      expect(body).toEqual(expected);
      for (const header of [
        'payment-required',
        'payment-response',
        'x-payment-response',
        'ratelimit-limit',
        'content-location',
      ]) {
        expect(answer.headers.get(header)).toBeNull();
      }
      const unlike = new Set(['date', 'x-request-id', 'connection', 'keep-alive', 'content-length']);
      const headersOf = (one: Response) => [...one.headers].filter(([name]) => !unlike.has(name));
      expect(headersOf(answer)).toEqual(headersOf(plain));
    }
  });

  it.each(paths)('shows nothing of the real case in %s', async (path) => {
    expect(await (await fetch(`${world.url}${path}&test=1`)).text()).not.toContain('Heron');
  });

  it.each(paths)('neither accepts nor reads a payment sent with %s', async (path) => {
    const pay = await world.agent();
    const before = await world.received();
    let signed = '';
    // The reference client pays a real call; the test then sends what it signed to the sandbox.
    const spying: typeof fetch = async (input, init) => {
      const request = new Request(input, init);
      signed = request.headers.get('payment-signature') ?? signed;
      return fetch(request);
    };
    const spied = await world.agent(spying);
    await spied(`${world.url}${path}`);
    expect(signed).not.toBe('');
    const paid = await world.received();
    for (const payment of [signed, 'not base64 at all']) {
      const answer = await fetch(`${world.url}${path}&test=1`, { headers: { 'payment-signature': payment } });
      expect(answer.status).toBe(200);
      expect(((await answer.json()) as { meta: object }).meta).toMatchObject({ sandbox: true });
    }
    expect(await world.received()).toBe(paid);
    // A client that is ready to pay is never asked to.
    await pay(`${world.url}${path}&test=1`);
    expect((await world.received()) - before).toBe(PRICE);
  });

  it('counts against no limit', async () => {
    const pay = await world.agent();
    for (let i = 0; i < 70; i++) await pay(`${world.url}${paths[1]}&test=1`);
    const answer = await pay(world.url + paths[1]);
    expect([answer.status, answer.headers.get('ratelimit-remaining')]).toEqual([200, '59']);
  });

  it('rejects what a real call would reject', async () => {
    const refusal = async (target: string) => {
      const answer = await fetch(world.url + target);
      const { error } = (await answer.json()) as { error: { code: string } };
      return [answer.status, error.code];
    };
    expect(await refusal(`/v2/case?${CASE}&test=1&context=huge`)).toEqual([400, 'invalid_parameter']);
    expect(await refusal('/v2/case?court_code=qc_ca&case_id=500-09-031234-241&test=1')).toEqual([
      422,
      'court_not_covered',
    ]);
    expect(await refusal(`/v2/case?court_code=nowhere&case_id=1&test=1`)).toEqual([422, 'court_not_covered']);
    expect(await refusal(`/v2/monitor?${CASE}&test=1`)).toEqual([400, 'missing_required_parameter']);
    expect(await refusal(`/v2/case?${CASE}&test=1&callback_url=`)).toEqual([400, 'invalid_parameter']);
  });

  it.each(['0', 'true', '2', ''])('is not requested by test=%s', async (value) => {
    expect((await fetch(`${world.url}${paths[0]}&test=${value}`)).status).toBe(402);
  });
});
