/** Version 1 over real sockets, bought with a real client, on a clock that the test owns. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { V1_ENDS } from '../../../src/http/v1/sunset.ts';
import { MICROS_PER_SECOND, systemClock, toMicros } from '../../../src/runtime/instant.ts';
import { parseAnswer, rawRequest, sendRaw } from '../raw-request.ts';
import { openWorld, type World } from '../world.ts';

const PRICE = 990_000n;
const CASE = 'court_code=cand&case_id=4:25-cv-00811';
const START = toMicros('2027-01-15T12:00:00.000000Z');

const entry = (number: number, date: string, description: string) => ({
  document_number: number,
  date_filed: date,
  description,
  pacer_doc_id: `0351${number}0811`,
});
const docket = (entries: object[]) => ({
  court_id: 'cand',
  docket_number: '4:25-cv-00811',
  case_name: 'Larkspur Mills v. Northgate Freight',
  date_filed: '2025-02-03',
  nature_of_suit: '190 Contract: Other',
  mdl_status: 'MDL-2741',
  parties: [{ name: 'Larkspur Mills', type: 'Plaintiff' }],
  docket_entries: entries,
});
const EARLY = [
  entry(1, '2025-02-03', 'COMPLAINT against Northgate Freight. Filed by Larkspur Mills.'),
  entry(2, '2025-02-04', 'ORDER setting the initial case management conference.'),
];
const LATE = [entry(3, '2025-03-10', 'MOTION to Dismiss filed by Northgate Freight.')];

describe('version 1', () => {
  let world: World;
  let frozen: number | null = null;
  const startedAt = systemClock.now();
  const clock = { now: () => frozen ?? START + (systemClock.now() - startedAt) };
  beforeAll(async () => {
    world = await openWorld({ clock });
    await world.importDocket(docket(EARLY));
  });
  beforeEach(() => {
    frozen = null;
  });
  afterAll(() => world.close());

  const isOfV1 = (headers: Headers, successor: string) => {
    expect(headers.get('deprecation')).toBe('@1777334400');
    expect(headers.get('sunset')).toBe('Wed, 28 Apr 2027 00:00:00 GMT');
    expect(headers.get('link')).toBe(`<https://dockets.example${successor}>; rel="successor-version"`);
    for (const name of ['Deprecation', 'Sunset', 'Link']) {
      expect(headers.get('access-control-expose-headers')).toContain(name);
    }
  };
  const buy = async (target: string) => {
    const pay = await world.agent();
    const before = await world.received();
    const answer = await pay(world.url + target);
    const json = (await answer.json()) as Record<string, unknown> & { new_filings: Record<string, unknown>[] };
    return { status: answer.status, headers: answer.headers, json, spent: (await world.received()) - before };
  };

  describe('GET /v1/case', () => {
    it('costs 0.99 and is flat, under its old names, with every filing new at first', async () => {
      const { status, headers, json, spent } = await buy(`/v1/case?${CASE}`);
      expect([status, spent]).toEqual([200, PRICE]);
      isOfV1(headers, '/v2/case');
      expect(Object.keys(json)).toEqual([
        'case_id',
        'court_code',
        'queried_at',
        'query_cost',
        'coverage_status',
        'changed',
        'case',
        'new_filings',
      ]);
      expect(json).toMatchObject({
        case_id: '4:25-cv-00811',
        court_code: 'cand',
        query_cost: 0.99,
        coverage_status: 'full',
        changed: true,
        case: {
          case_number: '4:25-cv-00811',
          nature_of_suit: '190 Contract: Other',
          related_cases: [{ case_id: 'MDL No. 2741', court_code: 'jpml', relationship: 'member_case_of_mdl' }],
        },
      });
      for (const name of ['jurisdiction_country', 'language', 'case_name_secondary', 'nature_of_proceeding']) {
        expect(json.case).not.toHaveProperty(name);
      }
      expect(json.new_filings).toHaveLength(2);
      const [filing] = json.new_filings;
      expect(filing).toEqual({
        filing_id: expect.any(String),
        filing_type: 'complaint',
        filed_at: '2025-02-03T00:00:00-08:00',
        filed_by: 'Larkspur Mills',
        description: EARLY[0]?.description,
        // The fourth digit of such a number says whether it names the entry or its document.
        pacer_doc_id: '035010811',
        pacer_link: 'https://ecf.cand.uscourts.gov/doc1/035010811',
        document_url: null,
        document_access: 'court',
      });
    });

    it('continues from its queried_at, in either version', async () => {
      const first = await buy(`/v1/case?${CASE}`);
      await world.importDocket(docket([...EARLY, ...LATE]));
      const since = encodeURIComponent(String(first.json.queried_at));
      const news = await buy(`/v1/case?${CASE}&last_checked=${since}`);
      expect(news.json.new_filings.map(({ filing_type }) => filing_type)).toEqual(['motion']);
      const inV2 = await buy(`/v2/case?${CASE}&last_checked=${since}`);
      expect(inV2.json.delta).toMatchObject({ changed: true, change_count: 1 });
      const quiet = await buy(`/v1/case?${CASE}&last_checked=${encodeURIComponent(String(news.json.queried_at))}`);
      expect(quiet.json).toMatchObject({ changed: false, new_filings: [] });
    });

    it('filters by a list of types', async () => {
      const { json } = await buy(`/v1/case?${CASE}&filing_types=${encodeURIComponent('["order"]')}`);
      expect(json.new_filings.map(({ filing_type }) => filing_type)).toEqual(['order']);
    });

    it('stores its answer like any paid answer', async () => {
      const { headers, json } = await buy(`/v1/case?${CASE}`);
      const again = await fetch(world.url + headers.get('content-location'));
      expect([again.status, await again.json()]).toEqual([200, json]);
    });
  });

  describe('GET /v1/monitor', () => {
    it('says without last_checked whether there is any filing', async () => {
      const { status, headers, json, spent } = await buy(`/v1/monitor?${CASE}`);
      expect([status, spent]).toEqual([200, PRICE]);
      isOfV1(headers, '/v2/monitor');
      expect(json).toEqual({
        case_id: '4:25-cv-00811',
        court_code: 'cand',
        queried_at: expect.any(String),
        query_cost: 0.99,
        coverage_status: 'full',
        changed: true,
      });
    });

    it('says with last_checked whether anything is new', async () => {
      const first = await buy(`/v1/monitor?${CASE}`);
      const { json } = await buy(
        `/v1/monitor?${CASE}&last_checked=${encodeURIComponent(String(first.json.queried_at))}`,
      );
      expect(json.changed).toBe(false);
    });
  });

  it('GET /v1/status is free, flat, and cacheable', async () => {
    const answer = await fetch(`${world.url}/v1/status`);
    isOfV1(answer.headers, '/v2/status');
    const body = (await answer.json()) as { courts: Record<string, unknown>[] };
    expect(body).toMatchObject({ query_cost: 0, api_version: '1', operational_status: 'nominal' });
    expect(body).not.toHaveProperty('meta');
    expect(body.courts.find(({ court_code }) => court_code === 'cand')).toMatchObject({ status: 'live' });
    expect(body.courts[0]).not.toHaveProperty('jurisdiction_country');
    const again = await fetch(`${world.url}/v1/status`, {
      headers: { 'if-none-match': String(answer.headers.get('etag')) },
    });
    expect(again.status).toBe(304);
    expect(again.headers.get('sunset')).toBeTruthy();
    const head = await fetch(`${world.url}/v1/status?x`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  const refused = (json: object, code: string) => {
    expect(json).not.toHaveProperty('meta');
    expect(json).toMatchObject({
      error: { code, message: expect.any(String), details: { charged: false, hint: expect.any(String) } },
    });
  };

  it.each([
    ['GET', `/v1/case?${CASE}`, 402, 'payment_required', '/v2/case'],
    ['GET', '/v1/case', 402, 'payment_required', '/v2/case'],
    ['GET', '/v1/case?court_code=cand', 400, 'missing_required_parameter', '/v2/case'],
    ['GET', `/v1/case?${CASE}&test=1`, 400, 'invalid_parameter', '/v2/case'],
    ['GET', '/v1/case?court_code=qc_cs&case_id=500-17-123456-241', 422, 'court_not_covered', '/v2/case'],
    ['POST', '/v1/monitor', 405, 'method_not_allowed', '/v2/monitor'],
    ['GET', '/v1/cases', 404, 'endpoint_not_found', '/docs'],
    ['GET', '/v1', 404, 'endpoint_not_found', '/docs'],
    ['GET', '/v1/%zz', 404, 'endpoint_not_found', '/docs'],
    ['GET', '/v%31/case', 402, 'payment_required', '/v2/case'],
  ])('returns errors without meta, and says when it ends: %s %s', async (method, target, status, code, successor) => {
    const answer = await rawRequest(world.port, target, { method });
    expect(answer.status).toBe(status);
    refused(answer.json, code);
    isOfV1(answer.headers, successor);
  });

  it('does the same for malformed requests', async () => {
    const large = await rawRequest(world.port, '/v1/case', { headers: { 'x-filler': 'x'.repeat(40_000) } });
    const broken = parseAnswer(await sendRaw(world.port, 'GET /v1/case HTTP/1.1\r\nhost: x\r\n: y\r\n\r\n'));
    for (const [answer, status, code] of [
      [large, 431, 'header_too_large'],
      [broken, 400, 'invalid_parameter'],
    ] as const) {
      expect(answer.status).toBe(status);
      refused(answer.json, code);
      isOfV1(answer.headers, '/v2/case');
    }
  });

  it('does not announce an end of version 2', async () => {
    for (const target of ['/v2/status', '/v2/case', '/nope', '/docs']) {
      const { headers } = await fetch(world.url + target);
      expect([headers.get('deprecation'), headers.get('sunset')]).toEqual([null, null]);
      expect(headers.get('link') ?? '').not.toContain('successor-version');
    }
  });

  describe('after its end', () => {
    it.each([
      ['GET', `/v1/case?${CASE}`, '/v2/case'],
      ['GET', '/v1/monitor', '/v2/monitor'],
      ['GET', '/v1/status', '/v2/status'],
      ['GET', '/v1/status?x', '/v2/status'],
      ['POST', '/v1/case', '/v2/case'],
      ['OPTIONS', '/v1/case', '/v2/case'],
      ['GET', '/v1/anything/else', '/docs'],
      ['GET', '/v1', '/docs'],
      ['GET', '/v1/%zz', '/docs'],
      ['GET', 'http://any.example/v%31/case', '/v2/case'],
    ])('%s %s is gone', async (method, target, successor) => {
      frozen = V1_ENDS;
      const answer = await rawRequest(world.port, target, { method });
      expect([answer.status, answer.json.error.details.successor]).toEqual([410, successor]);
      refused(answer.json, 'version_retired');
      isOfV1(answer.headers, successor);
    });

    it('a script may still send a preflight, so that it can read the error; HEAD has no body', async () => {
      frozen = V1_ENDS;
      const headers = { origin: 'https://browser.example', 'access-control-request-method': 'GET' };
      expect((await rawRequest(world.port, '/v1/case', { method: 'OPTIONS', headers })).status).toBe(204);
      const head = await rawRequest(world.port, '/v1/status', { method: 'HEAD' });
      expect([head.status, head.text]).toEqual([410, '']);
    });

    it('works to the last microsecond, and then accepts no payment: one made for it buys nothing in version 2', async () => {
      frozen = V1_ENDS - 1;
      expect(await buy(`/v1/case?${CASE}`)).toMatchObject({ status: 200, spent: PRICE });
      expect((await fetch(`${world.url}/v1/status`)).status).toBe(200);

      // A payment for the last answer, in flight when the end is reached.
      let sent: Headers | null = null;
      const pay = await world.agent(async (input, init) => {
        const request = new Request(input, init);
        if (request.headers.has('payment-signature')) {
          frozen = V1_ENDS;
          sent = request.headers;
        }
        return fetch(request);
      });
      const before = await world.received();
      const late = await pay(`${world.url}/v1/case?${CASE}`);
      expect([late.status, await world.received()]).toEqual([410, before]);
      refused((await late.json()) as object, 'version_retired');

      frozen = V1_ENDS + 60 * MICROS_PER_SECOND;
      const instead = await fetch(`${world.url}/v2/case?${CASE}`, { headers: sent ?? {} });
      expect([instead.status, await world.received()]).toEqual([402, before]);
      expect(await instead.json()).toMatchObject({
        error: { code: 'payment_rejected', details: { reason: 'payment_for_another_purpose', charged: false } },
      });
      expect(await buy(`/v2/case?${CASE}`)).toMatchObject({ status: 200, spent: PRICE });
    });
  });
});
