import { CallToolResultSchema, ListToolsResultSchema } from '@modelcontextprotocol/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock, toInstant } from '../../../src/runtime/instant.ts';
import { callTool, post } from './client.ts';
import { CASE, openWorld, SINCE, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Record<string, Schema>;
  readonly items?: Schema;
  readonly [keyword: string]: unknown;
}
interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Schema;
  readonly outputSchema: Schema;
  readonly annotations: Record<string, unknown>;
}
const listTools = async () =>
  (await post(world.mcp, { jsonrpc: '2.0', id: 1, method: 'tools/list' })).json.result.tools as ListedTool[];
const call = (name: string, args: unknown = {}, more = {}) => callTool(world.mcp, name, args, more);

const FREE = ['service_status', 'service_court_list', 'service_pricing'];

describe('tools/list', () => {
  it('is unchanged', async () => {
    expect(await listTools()).toMatchSnapshot();
  });

  it('is the same each time, in fewer than 12 KB', async () => {
    const first = JSON.stringify(await listTools());
    expect(JSON.stringify(await listTools())).toBe(first);
    expect(Buffer.byteLength(first)).toBeLessThan(12 * 1024);
  });

  it('is valid by the schemas of the SDK', async () => {
    expect(ListToolsResultSchema.safeParse({ tools: await listTools() }).error).toBeUndefined();
  });

  it('has flat input schemas, each parameter described, without anything that a model cannot use', async () => {
    for (const { name, inputSchema, outputSchema } of await listTools()) {
      expect(Object.keys(inputSchema).sort().join()).toMatch(/^additionalProperties,properties,(required,)?type$/);
      for (const [parameter, schema] of Object.entries(inputSchema.properties ?? {})) {
        expect(schema.description, `${name}.${parameter}`).toBeTruthy();
        expect(['string', 'boolean', 'integer', 'array']).toContain(schema.type);
        for (const keyword of ['anyOf', 'oneOf', '$ref', '$schema', 'minimum', 'maximum']) {
          expect(Object.keys(schema)).not.toContain(keyword);
        }
      }
      expect(outputSchema).toMatchObject({ type: 'object', additionalProperties: true });
      expect(outputSchema.required).toBeUndefined();
    }
  });

  it('says for each tool what it may do, and what it costs', async () => {
    for (const { name, annotations, description } of await listTools()) {
      const free = FREE.includes(name);
      expect(annotations).toMatchObject({ readOnlyHint: free, destructiveHint: false, idempotentHint: free });
      expect(description).toMatch(free ? /Free/ : /0\.99 USD/);
    }
  });
});

describe('every result', () => {
  it('has structured content, and the same JSON as its first text', async () => {
    for (const [name, args] of [
      ['service_status', {}],
      ['service_court_list', { search: 'quebec' }],
      ['service_pricing', {}],
      ['service_case_query', CASE],
      ['service_case_query', {}],
      ['service_case_monitor', { ...CASE, last_checked: SINCE, payment_tx: 'AAAA' }],
    ] as const) {
      const { json } = await post(world.mcp, {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name, arguments: args },
      });
      expect(CallToolResultSchema.safeParse(json.result).success).toBe(true);
      expect(JSON.parse(json.result.content[0].text)).toEqual(json.result.structuredContent);
      expect(json.result.structuredContent.meta.request_id).toMatch(/^[0-9a-f-]{36}$/);
    }
  });
});

describe('service_status', () => {
  it('is what GET /v2/status says, without the list of courts', async () => {
    const { meta, courts, ...rest } = (await call('service_status')).data;
    const status = (await (await fetch(`${world.url}/v2/status`)).json()) as Record<string, unknown>;
    const { meta: _, courts: all, ...same } = status;
    expect(rest).toEqual(same);
    expect(courts).toEqual([]);
    expect(meta).toMatchObject({
      truncated: true,
      query_cost_usd: 0,
      truncation_details: { omitted_fields: ['courts'], total_entries: (all as unknown[]).length, entries_included: 0 },
    });
    expect(meta.truncation_details.continuation_hint).toContain('service_court_list');
  });
});

describe('service_pricing', () => {
  it('lists prices, what is free, and how to pay', async () => {
    const { data } = await call('service_pricing');
    expect(data).toMatchObject({
      price_per_query_usd: 0.99,
      price_per_query_base_units: '990000',
      free_tools: FREE,
      payment: { recipient: world.parties.payTo.toBase58() },
    });
    expect(Object.keys(data.paid_tools)).toEqual([
      'service_case_query',
      'service_case_monitor',
      'service_case_batch',
      'service_wallet_info',
    ]);
  });
});

describe('service_court_list', () => {
  const list = async (args: object = {}) => (await call('service_court_list', args)).data;
  const codes = ({ courts }: { courts: { court_code: string }[] }) => courts.map(({ court_code }) => court_code);

  it('returns a page of courts, and the way to the next', async () => {
    const first = await list();
    expect(first.courts).toHaveLength(50);
    expect(first.courts[0]).toMatchObject({
      court_code: 'scotus',
      jurisdiction_country: 'US',
      status: 'live',
      case_id_format: { pattern: expect.any(String) },
    });
    const seen = new Set(codes(first));
    let cursor = (await list({ limit: 500 })).next_cursor;
    for (const court of codes(await list({ limit: 500 }))) seen.add(court);
    while (cursor !== null) {
      const page = await list({ limit: 500, cursor });
      for (const court of codes(page)) seen.add(court);
      cursor = page.next_cursor;
    }
    expect(seen.size).toBe(first.total);
  });

  it.each([
    [{ search: 'cand' }, 'cand'],
    [{ search: 'California NORTHERN' }, 'cand'],
    [{ search: 'Québec' }, 'qc_cs'],
    [{ search: 'quebec superior', limit: '50', country: 'ca' }, 'qc_cs'],
    [{ search: 'tulsa', region: 'ok' }, 'ok_tulsa'],
    [{ search: null, country: null, region: 'DC', include_planned: 'true' }, 'cadc'],
  ])('%j finds %s', async (args, code) => {
    expect(codes(await list(args))).toContain(code);
  });

  it('omits planned courts on request', async () => {
    const all = await list({ search: 'quebec' });
    const live = await list({ search: 'quebec', include_planned: false });
    expect(codes(all)).toContain('qc_cs');
    expect(codes(live)).not.toContain('qc_cs');
    expect(live.total).toBe(all.total - 2);
  });

  it('says what to try if nothing matches', async () => {
    const nothing = await list({ search: 'okc tulsaa' });
    expect(nothing).toMatchObject({ courts: [], total: 0, next_cursor: null });
    expect(nothing.next_step).toContain('fewer words');
    expect((await list({ search: 'candd' })).suggestions).toContain('cand');
  });

  it('explains every invalid argument at once', async () => {
    const { data, isError } = await call('service_court_list', {
      country: 'FR',
      region: 'ZZ',
      limit: 0,
      cursor: 'junk',
      serch: 'tulsa',
      include_planned: 'maybe',
    });
    expect(isError).toBe(true);
    const issues = data.error.details.issues as { parameter: string; rule: string }[];
    expect(issues.map(({ parameter }) => parameter).sort()).toEqual([
      'country',
      'cursor',
      'include_planned',
      'limit',
      'region',
      'serch',
    ]);
    expect(issues.find(({ parameter }) => parameter === 'serch')?.rule).toContain('Did you mean search?');
  });

  it('accepts a cursor only for its own list', async () => {
    const { next_cursor: cursor } = await list({ region: 'VA', limit: 5 });
    expect((await list({ region: 'VA', limit: 5, cursor })).courts).toHaveLength(5);
    expect((await call('service_court_list', { region: 'OK', cursor })).isError).toBe(true);
  });
});

describe('filing types', () => {
  it('may come as a list of texts, alone and in a batch', async () => {
    for (const filing_types of [['motion', 'order'], 'motion,order']) {
      const one = await call('service_case_query', { ...CASE, last_checked: SINCE, filing_types });
      expect([one.isError, one.data.payment_required]).toEqual([false, true]);
      const queries = [{ ...CASE, last_checked: SINCE, filing_types }];
      expect((await call('service_case_batch', { queries })).data.payment_required).toBe(true);
    }
    for (const filing_types of [[], ['motion', 'nope']])
      expect((await call('service_case_query', { ...CASE, last_checked: SINCE, filing_types })).isError).toBe(true);
  });
});

describe('the meta of a free tool', () => {
  it.each([
    ['service_status', {}],
    ['service_pricing', {}],
    ['service_court_list', { search: 'california' }],
  ])('is that of each call of %s', async (name, args) => {
    for (let time = 0; time < 3; time++) {
      const before = toInstant(systemClock.now());
      const answer = await post(world.mcp, {
        jsonrpc: '2.0',
        id: time,
        method: 'tools/call',
        params: { name, arguments: args },
      });
      const { structuredContent, content } = answer.json.result;
      expect(JSON.parse(content[0].text)).toEqual(structuredContent);
      expect(structuredContent.meta.request_id).toBe(answer.headers.get('x-request-id'));
      const { queried_at: at } = structuredContent.meta;
      expect([at >= before, at <= toInstant(systemClock.now())]).toEqual([true, true]);
    }
  });
});

describe('an invalid argument of a paid tool', () => {
  it('is explained with all others, before any payment: field, value, rule, example, next step', async () => {
    const { data, isError, text } = await call('service_case_query', {
      court_code: 'cnd',
      case_id: 7,
      context: 'huge',
      language: 'de',
      last_checked: 'yesterday',
      filing_types: ['motion', 7],
      callback: 'https://example.com',
    });
    expect(isError).toBe(true);
    const issues = data.error.details.issues as Record<string, unknown>[];
    expect(issues.map(({ parameter }) => parameter).sort()).toEqual(
      ['callback', 'case_id', 'context', 'court_code', 'filing_types', 'language', 'last_checked'].sort(),
    );
    for (const issue of issues)
      expect(Object.keys(issue)).toEqual(expect.arrayContaining(['received', 'rule', 'example']));
    const of = (name: string) => issues.find(({ parameter }) => parameter === name);
    expect(of('context')).toMatchObject({ received: 'huge', rule: 'One of basic, full.', example: 'basic' });
    expect(of('filing_types')).toMatchObject({ received: '["motion",7]', example: 'motion,order' });
    expect(of('court_code')).toMatchObject({
      code: 'court_not_covered',
      suggestions: expect.arrayContaining(['cand']),
    });
    expect(of('court_code')?.rule).toContain('service_court_list');
    expect(data.next_step).toMatch(/^Nothing was charged\. Correct .*case_id.*service_case_query again/);
    expect(data.error.details.charged).toBe(false);
    expect(text).not.toContain('GET /v2');
  });

  it.each([
    [{}, 'missing_required_parameter'],
    [{ ...CASE, case_id: null }, 'missing_required_parameter'],
    [{ ...CASE, court_code: '' }, 'missing_required_parameter'],
    [{ ...CASE, court_code: 'qc_cs' }, 'court_not_covered'],
    [{ ...CASE, case_id: 'no number' }, 'invalid_case_id'],
    [{ ...CASE, last_checked: '2999-01-01T00:00:00Z' }, 'last_checked_in_future'],
    [{ ...CASE, case_id: '\ud800' }, 'invalid_parameter'],
    [{ ...CASE, case_id: `4:25-cv-00812\u0000` }, 'invalid_parameter'],
    [{ ...CASE, callback_url: 'https://example.com/' }, 'invalid_parameter'],
    [{ ...CASE, test: '1' }, 'invalid_parameter'],
  ])('%j is %s, as over REST', async (args, code) => {
    const { data, isError } = await call('service_case_query', args);
    expect([isError, data.error.code, data.payment_required]).toEqual([true, code, undefined]);
  });

  it('is accepted if its meaning is certain', async () => {
    for (const args of [
      { ...CASE, last_checked: null, context: null, language: null, filing_types: null, payment_tx: null },
      { ...CASE, payment_tx: '' },
      { court_code: 'CAND', case_id: ' 4:25-cv-00812 ' },
    ]) {
      expect((await call('service_case_query', args)).data.payment_required).toBe(true);
    }
    for (const args of [null, undefined]) {
      expect((await call('service_status', args)).data.api_version).toBe('2.0.1');
    }
  });
});

describe('the sandbox', () => {
  it.each([
    ['by the address', '?test=1', {}],
    ['by the header', '', { 'x-service-test': '1' }],
  ])('answers from fictional dockets, free: %s', async (_how, query, headers) => {
    const { data, isError } = await callTool(
      `${world.mcp}${query}`,
      'service_case_query',
      { ...CASE, last_checked: SINCE, context: 'full', payment_tx: 'not even read' },
      { headers: { ...headers, 'x-service-tag': 'rehearsal' } },
    );
    expect(isError).toBe(false);
    expect(data).toMatchObject({ case_id: CASE.case_id, delta: { changed: false } });
    expect(data.meta).toMatchObject({ sandbox: true, query_cost_usd: 0, tag: 'rehearsal' });
    const wrong = await callTool(`${world.mcp}${query}`, 'service_case_query', { ...CASE, context: 'x' }, { headers });
    expect(wrong.data.error.code).toBe('invalid_parameter');
  });

  it('is used only on request', async () => {
    expect((await callTool(`${world.mcp}?test=true`, 'service_case_query', CASE)).data.payment_required).toBe(true);
  });
});
