import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ERROR_CATALOGUE, type ErrorCode } from '../../src/errors.ts';
import { type AnswerBody, rawRequest } from './raw-request.ts';
import { openWorld, type World } from './world.ts';

const PRICE = 990_000n;
const CASE = 'court_code=cand&case_id=4:25-cv-00777';
const META_KEYS =
  'request_id queried_at query_cost_usd sandbox coverage_status cache_age_seconds context_delivered language_delivered truncated tag';

const entry = (number: number, date: string, description: string) => ({
  document_number: number,
  date_filed: date,
  description,
  pacer_doc_id: `0351${number}0007`,
});
const docket = (entries: object[]) => ({
  court_id: 'cand',
  docket_number: '4:25-cv-00777',
  case_name: 'Juniper Ridge Growers v. Tidewater Packing Company',
  date_filed: '2025-02-03',
  nature_of_suit: '190 Contract: Other',
  cause: '28:1332 Diversity-Breach of Contract',
  assigned_to_str: 'Morgan Ellery',
  parties: [
    {
      name: 'Juniper Ridge Growers',
      type: 'Plaintiff',
      attorneys: [
        { name: 'Avery Quill', contact: 'Quill & Reed LLP\n1 Hidden Lane\n415-555-0123', roles: ['LEAD ATTORNEY'] },
      ],
    },
    { name: 'Tidewater Packing Company', type: 'Defendant' },
  ],
  docket_entries: entries,
});
const EARLY = [
  entry(1, '2025-02-03', 'COMPLAINT against Tidewater Packing Company. Filed by Juniper Ridge Growers.'),
  entry(2, '2025-02-04', 'ORDER setting the initial case management conference.'),
];
const LATE = [entry(3, '2025-03-10', 'MOTION to Dismiss filed by Tidewater Packing Company.')];

describe('the public port', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld();
    await world.importDocket(docket(EARLY));
  });
  afterAll(() => world.close());

  const ask = async (target: string, init?: RequestInit) => {
    const answer = await fetch(world.url + target, init);
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, text, json: JSON.parse(text) as AnswerBody };
  };
  const refused = async (target: string, init?: RequestInit) => {
    const { status, json, text, headers } = await ask(target, init);
    const { code, details, documentation_url: url } = json.error;
    expect(status).toBe(ERROR_CATALOGUE[code as ErrorCode].status);
    expect(Object.keys(json.meta)).toEqual(['request_id', 'queried_at']);
    expect(details.charged).toBe(false);
    expect(url).toBe(`https://dockets.example/docs/errors#${code}`);
    const documented = new Set(['charged', 'hint', ...Object.keys(ERROR_CATALOGUE[code as ErrorCode].details)]);
    expect(Object.keys(details).filter((key) => !documented.has(key))).toEqual([]);
    expect(text).not.toMatch(/Juniper|node_modules|SQLITE|FST_ERR/i);
    return { status, code, details, headers };
  };
  const unpaid = { status: 402, code: 'payment_required' };

  describe('sells GET /v2/case', () => {
    it('with every part of a basic answer, for 0.99 USD, and returns the same bytes again for free', async () => {
      const pay = await world.agent();
      const before = await world.received();
      const answer = await pay(`${world.url}/v2/case?${CASE}`, { headers: { 'x-service-tag': 'agent 7' } });
      const bytes = await answer.text();
      expect(answer.status).toBe(200);
      expect((await world.received()) - before).toBe(PRICE);
      const body = JSON.parse(bytes);
      expect(Object.keys(body)).toEqual(['meta', 'case_id', 'court_code', 'case']);
      expect(Object.keys(body.meta)).toEqual([...META_KEYS.split(' '), 'data_as_of']);
      expect(body.meta).toMatchObject({
        request_id: answer.headers.get('x-request-id'),
        query_cost_usd: 0.99,
        sandbox: false,
        coverage_status: 'full',
        context_delivered: 'basic',
        language_delivered: 'en',
        truncated: false,
        tag: 'agent 7',
      });
      expect(body.case).toMatchObject({
        case_number: '4:25-cv-00777',
        case_name: 'Juniper Ridge Growers v. Tidewater Packing Company',
        filing_count: 2,
      });
      expect(body.case).not.toHaveProperty('parties');

      const location = answer.headers.get('content-location');
      expect(location).toMatch(/^\/v2\/results\/r1-[\w-]{43}$/);
      const again = await ask(String(location));
      expect([again.status, again.text]).toEqual([200, bytes]);
      // Checked against the OpenAPI document, as every answer here is.
      const receipt = await ask(`${location}/receipt`);
      expect(JSON.parse(receipt.text).receipt).toMatchObject({
        request_id: body.meta.request_id,
        amount_usdc: '0.99',
        endpoint: 'GET /v2/case',
      });
      expect(receipt.text).not.toContain('Juniper');
      expect((await world.received()) - before).toBe(PRICE);
    });

    it('with parties, attorneys and the whole docket in the full context, without addresses', async () => {
      const pay = await world.agent();
      const text = await (await pay(`${world.url}/v2/case?${CASE}&context=full`)).text();
      const body = JSON.parse(text);
      expect(body.meta.context_delivered).toBe('full');
      expect(body.case.parties[0].attorneys[0].name).toBe('Avery Quill');
      expect(body.case.docket_history.map(({ entry_number }: { entry_number: number }) => entry_number)).toEqual([
        1, 2,
      ]);
      expect(text).not.toMatch(/Hidden Lane|415-555/);
    });

    it('with the filings that are new since the last answer, once', async () => {
      const pay = await world.agent();
      const since = async (lastChecked: string) =>
        (await (await pay(`${world.url}/v2/case?${CASE}&last_checked=${encodeURIComponent(lastChecked)}`)).json()) as {
          meta: { queried_at: string };
          delta: { changed: boolean; since: string; change_count: number; new_filings: { entry_number: number }[] };
        };
      const first = (await (await pay(`${world.url}/v2/case?${CASE}`)).json()) as { meta: { queried_at: string } };
      await world.importDocket(docket([...EARLY, ...LATE]));
      const news = await since(first.meta.queried_at);
      expect(news.delta).toMatchObject({ changed: true, since: first.meta.queried_at, change_count: 1 });
      expect(news.delta.new_filings.map(({ entry_number }) => entry_number)).toEqual([3]);
      const quiet = await since(news.meta.queried_at);
      expect(quiet.delta).toMatchObject({ changed: false, change_count: 0, new_filings: [] });
    });

    it('echoes the request, understands its meaning, and charges nothing for an unknown case', async () => {
      const pay = await world.agent();
      const echoed = await (await pay(`${world.url}/v2/case?court_code=CAND&case_id=4:25-CV-777`)).json();
      expect(echoed).toMatchObject({
        court_code: 'CAND',
        case_id: '4:25-CV-777',
        case: { case_number: '4:25-cv-00777' },
      });
      const before = await world.received();
      const unknown = await pay(`${world.url}/v2/case?court_code=cand&case_id=4:25-cv-00778`);
      expect([unknown.status, ((await unknown.json()) as AnswerBody).error.code]).toEqual([404, 'case_not_found']);
      expect(await world.received()).toBe(before);
    });
  });

  describe('asks for payment', () => {
    it.each([
      `/v2/case?${CASE}`,
      '/v2/case?court_code=cofc&case_id=1:24-cv-00123',
      `/v2/case?${CASE}&last_checked=2024-03-01T02:00:00%2B02:00`,
      `/v2/case?${CASE}&last_checked=2024-03-01T02:00:00+02:00`,
      `/v2/case?${CASE}&filing_types=motion,order`,
      `/v2/case?${CASE}&test=0`,
    ])('for a valid request: %s', async (target) => {
      const { headers, ...refusal } = await refused(target);
      expect(refusal).toMatchObject({ ...unpaid, details: { amount_usdc: '0.99' } });
      expect(headers.get('payment-required')).toBeTruthy();
    });

    it('for a crawler without parameters, but not if it sends a payment', async () => {
      expect(await refused('/v2/case')).toMatchObject(unpaid);
      const paid = await refused('/v2/case', { headers: { 'payment-signature': 'e30=' } });
      expect(paid.code).toBe('missing_required_parameter');
    });

    it.each([
      ['/v2/case?court_code=cand', 'missing_required_parameter'],
      [`/v2/case?${CASE}&context=huge`, 'invalid_parameter'],
      [`/v2/case?${CASE}&last_cheked=2024-03-01T00:00:00Z`, 'invalid_parameter'],
      [`/v2/case?${CASE}&case_id=4:25-cv-00778`, 'invalid_parameter'],
      [`/v2/case?${CASE}&last_checked=2024-03-01`, 'invalid_timestamp'],
      ['/v2/case?court_code=cand&case_id=nothing!', 'invalid_case_id'],
      ['/v2/case?court_code=candd&case_id=4:25-cv-00777', 'court_not_covered'],
      ['/v2/case?court_code=qc_cs&case_id=500-17-123456-241', 'court_not_covered'],
      [`/v2/case?${CASE}&callback_url=`, 'invalid_parameter'],
      [`/v2/case?${CASE}&test=1&context=huge`, 'invalid_parameter'],
      ['/v2/case?test=1', 'missing_required_parameter'],
      ['/v2/case?court_code=%00&case_id=%ff', 'invalid_parameter'],
    ])('but not for an invalid request: %s', async (target, code) => {
      const refusal = await refused(target);
      expect(refusal.code).toBe(code);
      expect(refusal.headers.get('payment-required')).toBeNull();
    });

    it('and not for a sandbox request by header with missing parameters', async () => {
      const refusal = await refused('/v2/case', { headers: { 'x-service-test': '1' } });
      expect(refusal.code).toBe('missing_required_parameter');
    });
  });

  it.each([
    ['HEAD', `/v2/case?${CASE}`, 402],
    ['GET', `http://elsewhere.example/v2/case?${CASE}`, 402],
    ['GET', `/v2%2Fcase?${CASE}`, 404],
    ['GET', `//v2/case?${CASE}`, 404],
    ['GET', `/V2/CASE?${CASE}`, 404],
    ['GET', `/v2/case;test=1?${CASE}`, 404],
    ['GET', `/v2/status/../case?${CASE}`, 404],
    ['GET', `/v2/c%61se?${CASE}`, 402],
    ['GET', `/v2/case/?${CASE}`, 404],
    ['POST', `/v2/case?${CASE}`, 405],
    ['GET', `/v2/case#?${CASE}`, 402],
  ])('returns no data for %s %s', async (method, target, status) => {
    const answer = await rawRequest(world.port, target, { method, headers: { 'x-http-method-override': 'GET' } });
    expect(answer.status).toBe(status);
    expect(answer.text).not.toContain('Juniper');
    if (method !== 'HEAD') expect(answer.json.error.details.charged).toBe(false);
  });

  it('is found through its status and its documentation, and suggests corrections', async () => {
    expect(await refused('/v2/cases')).toMatchObject({
      code: 'endpoint_not_found',
      details: { suggestion: '/v2/case' },
    });
    expect(await refused('/v2/results/7')).toMatchObject({ code: 'result_not_found' });
    for (const target of ['/v2/status', '/docs', '/docs/errors']) {
      expect((await fetch(world.url + target)).status).toBe(200);
    }
  });
});
