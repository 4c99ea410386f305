import { ListToolsResultSchema } from '@modelcontextprotocol/core';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rawRequest } from '../raw-request.ts';
import { MODERN, post, postModern } from './client.ts';
import { openWorld, type World } from './world.ts';

let world: World;
let url: string;
beforeAll(async () => {
  world = await openWorld();
  url = world.mcp;
});
afterAll(() => world.close());

const request = (method: string, params?: unknown) => ({
  jsonrpc: '2.0',
  id: 1,
  method,
  ...(params ? { params } : {}),
});
const initialize = (protocolVersion: string) =>
  request('initialize', { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } });

describe('the endpoint over HTTP', () => {
  it.each(['GET', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'TRACE'])(
    'answers %s with 405 and what it allows',
    async (method) => {
      for (const path of ['/v2/mcp', '/v2/mcp/', '/v2/mcp?test=1']) {
        const answer = await rawRequest(world.port, path, { method });
        expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
        if (method !== 'HEAD') expect(answer.json.error.code).toBe('method_not_allowed');
      }
    },
  );

  it('also accepts its address with a trailing slash, or in absolute form', async () => {
    expect((await post(`${url}/`, request('ping'))).json).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
    const body = JSON.stringify(request('ping'));
    const headers = { 'content-type': 'application/json', 'content-length': String(body.length) };
    const whole = await rawRequest(world.port, 'http://service.example/v2/mcp', { method: 'POST', headers, body });
    expect([whole.status, whole.text]).toEqual([200, '{"jsonrpc":"2.0","id":1,"result":{}}']);
  });

  it('grants a preflight', async () => {
    const headers = { origin: 'http://localhost:6274', 'access-control-request-method': 'POST' };
    const answer = await rawRequest(world.port, '/v2/mcp', { method: 'OPTIONS', headers });
    expect([answer.status, answer.headers.get('access-control-allow-methods')]).toEqual([204, 'POST, OPTIONS']);
  });

  it.each(['https://evil.example', 'null', 'http://localhost.evil.example', 'http://127.0.0.1.evil.example:80'])(
    'rejects pages of %s',
    async (origin) => {
      const answer = await post(url, request('ping'), { origin });
      expect(answer.status).toBe(403);
      expect(answer.json).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32600 } });
    },
  );

  it.each(['http://localhost:6274', 'http://127.0.0.1:3000', 'http://[::1]', 'https://localhost'])(
    'accepts pages of this machine, and lets them read the answer: %s',
    async (origin) => {
      const answer = await post(url, request('ping'), { origin });
      expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
    },
  );

  it('ignores Accept, and an unknown session', async () => {
    const answer = await post(url, request('ping'), { accept: 'text/html', 'mcp-session-id': 'mine' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.headers.get('mcp-session-id')).toBeNull();
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', ''])(
    'rejects %o with 415',
    async (type) => {
      const answer = await post(url, request('ping'), { 'content-type': type });
      expect(answer.status).toBe(415);
      expect(answer.json.error).toMatchObject({ code: -32600, data: { error: { code: 'unsupported_media_type' } } });
    },
  );

  it('rejects more than 256 KiB with 413, announced or not', async () => {
    const body = JSON.stringify(request('ping', { filler: 'x'.repeat(256 * 1024) }));
    const announced = await post(url, body);
    expect([announced.status, announced.json.error.data.error.code]).toEqual([413, 'payload_too_large']);
    const chunked = [
      'POST /v2/mcp HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n',
      `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    ].join('');
    const { sendRaw, parseAnswer } = await import('../raw-request.ts');
    expect(parseAnswer(await sendRaw(world.port, chunked)).status).toBe(413);
  });

  it('has no authorization to discover', async () => {
    for (const path of ['/.well-known/oauth-authorization-server', '/.well-known/oauth-protected-resource/v2/mcp']) {
      expect((await fetch(world.url + path)).status).toBe(404);
    }
  });

  it('answers different clients that share one connection', async () => {
    const body = JSON.stringify(request('ping'));
    const oneWith = (header: string) =>
      `POST /v2/mcp HTTP/1.1\r\nhost: x\r\n${header}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    const { sendRaw } = await import('../raw-request.ts');
    const received = await sendRaw(world.port, oneWith('').repeat(2) + oneWith('connection: close\r\n'));
    expect(received.match(/"result":\{\}/g)).toHaveLength(3);
  });
});

describe('messages', () => {
  it.each([
    ['{"jsonrpc"', -32700, null],
    ['', -32700, null],
    [Buffer.from([0x22, 0xff, 0x22]), -32700, null],
    ['[]', -32600, null],
    [Array(21).fill(request('ping')), -32600, null],
    ['null', -32600, null],
    ['"ping"', -32600, null],
    [{ id: 5, method: 'ping' }, -32600, 5],
    [{ jsonrpc: '1.0', id: 'a', method: 'ping' }, -32600, 'a'],
    [{ jsonrpc: '2.0', id: null, method: 'ping' }, -32600, null],
    [{ jsonrpc: '2.0', id: 1.5, method: 'ping' }, -32600, null],
    [{ jsonrpc: '2.0', id: 1, method: 7 }, -32600, 1],
    [{ jsonrpc: '2.0', id: 1, method: 'ping', params: [] }, -32600, 1],
    [
      `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`,
      -32600,
      null,
    ],
  ])('with an error are rejected: %j', async (body, code, id) => {
    const answer = await post(url, body);
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ jsonrpc: '2.0', id, error: { code } });
  });

  it.each([
    [{ id: 1, method: 'ping' }, 'jsonrpc'],
    [{ jsonrpc: '2.0', id: 1.5, method: 'ping' }, 'id'],
    [{ jsonrpc: '2.0', id: 1, method: 7 }, 'method'],
    [{ jsonrpc: '2.0', id: 1 }, 'method'],
    [{ jsonrpc: '2.0', id: 1, method: 'ping', params: 'x' }, 'params'],
    [{ jsonrpc: '2.0', id: 1, method: 'ping', params: { _meta: 7 } }, 'params._meta'],
    [{ jsonrpc: '2.0', id: 1, method: 'ping', params: { _meta: { progressToken: {} } } }, 'params._meta.progressToken'],
    [{ jsonrpc: '2.0', id: 1, method: 'ping', extra: 1 }, 'extra'],
    [{ jsonrpc: '2.0', method: 'notifications/initialized', params: 7 }, 'params'],
  ])('are rejected by naming the invalid member of %j: %s', async (body, member) => {
    const { error } = (await post(url, body)).json;
    expect(error.data).toEqual({ member });
    expect(error.message).toMatch(new RegExp(`^${member.replaceAll('.', '\\.')}: `));
  });

  it.each([
    ['initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 7 } }, 'params.clientInfo'],
    ['initialize', { capabilities: {}, clientInfo: { name: 'x', version: '1' } }, 'params.protocolVersion'],
    ['tools/call', { arguments: {} }, 'params.name'],
    ['tools/call', { name: 'service_status', arguments: [] }, 'params.arguments'],
    ['tools/call', { name: 'nope' }, 'params.name'],
  ])('are rejected by naming the invalid member in the params of %s: %j', async (method, params, member) => {
    const { status, json } = await post(url, request(method, params));
    expect([status, json.error.code]).toEqual([200, -32602]);
    expect(json.error.data.member).toContain(member);
  });

  it('may have null for what is omitted: params, _meta, arguments', async () => {
    for (const [method, params] of [
      ['ping', null],
      ['ping', { _meta: null }],
      ['tools/list', { _meta: null, cursor: null }],
      ['tools/call', { name: 'service_status', arguments: null, _meta: null }],
    ]) {
      const { status, json } = await post(url, { jsonrpc: '2.0', id: 1, method, params });
      expect([status, json.error]).toEqual([200, undefined]);
    }
    const answer = await post(url, { jsonrpc: '2.0', method: 'notifications/initialized', params: null });
    expect(answer.status).toBe(204);
  });

  it('keep an id as it was sent', async () => {
    for (const id of [0, -7, 2 ** 53 - 1, '', 'a "b" \u2028']) {
      expect((await post(url, { ...request('ping'), id })).json.id).toBe(id);
    }
  });

  it('that are notifications or answers get no answer', async () => {
    const initialized = await post(url, { jsonrpc: '2.0', method: 'notifications/initialized' });
    expect([initialized.status, initialized.text, initialized.headers.get('content-type')]).toEqual([204, '', null]);
    for (const body of [
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
      { jsonrpc: '2.0', method: 'notifications/nothing' },
      { jsonrpc: '2.0', id: 1, result: {} },
      { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'no' } },
    ]) {
      const answer = await post(url, body);
      expect([answer.status, answer.text, answer.headers.get('content-type')]).toEqual([202, '', null]);
    }
  });

  it.each([
    ['nope/nope', {}, -32601],
    ['server/discover', {}, -32601],
    ['resources/list', {}, -32601],
    ['initialize', {}, -32602],
    ['tools/list', { cursor: 'more' }, -32602],
    ['tools/call', {}, -32602],
    ['tools/call', { name: 'service_case_qery' }, -32602],
    ['tools/call', { name: '__proto__' }, -32602],
    ['tools/call', { name: 7 }, -32602],
    ['tools/call', { name: 'service_status', arguments: [] }, -32602],
    ['tools/call', { name: 'service_status', arguments: 'none' }, -32602],
  ])('for %s with %j get a JSON-RPC error over 200', async (method, params, code) => {
    const answer = await post(url, request(method, params));
    expect([answer.status, answer.json.error.code]).toEqual([200, code]);
  });

  it('with an unknown tool get a suggestion', async () => {
    const { json } = await post(url, request('tools/call', { name: 'service_case_qery' }));
    expect(json.error.message).toContain('Did you mean service_case_query?');
  });
});

describe('revisions', () => {
  it.each([
    ['2025-11-25', '2025-11-25'],
    ['2025-06-18', '2025-06-18'],
    ['2025-03-26', '2025-03-26'],
    ['2024-11-05', '2025-11-25'],
    ['2026-07-28', '2025-11-25'],
    ['tomorrow', '2025-11-25'],
  ])('initialize for %s answers %s', async (asked, given) => {
    const { status, json } = await post(url, initialize(asked), { 'mcp-protocol-version': asked });
    expect(status).toBe(200);
    expect(json.result).toMatchObject({ protocolVersion: given, capabilities: { tools: {} } });
    expect(json.result.serverInfo).toEqual({ name: 'docket-monitor', title: 'Docket Monitor', version: '2.0.1' });
    expect(json.result.instructions).toMatch(/0\.99 USD.*payment_tx/s);
  });

  it.each(['2025-11-25', '2025-06-18', '2025-03-26'])(
    'accept the header %s, regardless of what was negotiated',
    async (version) => {
      expect((await post(url, request('ping'), { 'mcp-protocol-version': version })).status).toBe(200);
    },
  );

  it('with an unknown header are rejected with the known ones', async () => {
    for (const body of [request('ping'), { jsonrpc: '2.0', method: 'notifications/initialized' }]) {
      const { status, json } = await post(url, body, { 'mcp-protocol-version': '1999-01-01' });
      expect(status).toBe(400);
      expect(json.error).toMatchObject({ code: -32022, data: { requested: '1999-01-01' } });
      expect(json.error.data.supported).toEqual(['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26']);
    }
  });

  it('include the newer one without a handshake', async () => {
    const serverInfo = { name: 'docket-monitor', title: 'Docket Monitor', version: '2.0.1' };
    const envelope = { resultType: 'complete', _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo } };
    const discovered = await postModern(url, 'server/discover');
    expect(discovered.json.result).toMatchObject({
      ...envelope,
      supportedVersions: ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'],
      capabilities: { tools: {} },
      cacheScope: 'public',
    });
    expect(discovered.json.result.ttlMs).toBeGreaterThan(0);
    const listed = await postModern(url, 'tools/list');
    expect(listed.json.result).toMatchObject({ ...envelope, cacheScope: 'public' });
    expect(listed.json.result.tools).toEqual((await post(url, request('tools/list'))).json.result.tools);
    const called = await postModern(url, 'tools/call', { name: 'service_status', arguments: {} });
    expect(called.json.result).toMatchObject({ ...envelope, isError: false });
    expect(ListToolsResultSchema.safeParse(listed.json.result).success).toBe(true);
  });

  it.each(['ping', 'initialize', 'logging/setLevel', 'nope'])('include one without %s: a 404', async (method) => {
    const { status, json } = await postModern(url, method);
    expect([status, json.error.code]).toEqual([404, -32601]);
  });

  it.each([
    ['no version header', { 'mcp-protocol-version': undefined }],
    ['another version header', { 'mcp-protocol-version': '2025-11-25' }],
    ['no Mcp-Method', { 'mcp-method': undefined }],
    ['another Mcp-Method', { 'mcp-method': 'tools/list' }],
    ['Mcp-Method in capitals', { 'mcp-method': 'Tools/Call' }],
    ['no Mcp-Name', { 'mcp-name': undefined }],
    ['another Mcp-Name', { 'mcp-name': 'service_pricing' }],
    ['an Mcp-Name that is not base64', { 'mcp-name': '=?base64?%%?=' }],
  ])('with headers that the body contradicts are rejected: %s', async (_what, change) => {
    const headers: Record<string, string | undefined> = {
      'mcp-protocol-version': MODERN,
      'mcp-method': 'tools/call',
      'mcp-name': 'service_status',
      ...change,
    };
    const sent = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': MODERN,
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const body = request('tools/call', { name: 'service_status', _meta });
    const { status, json } = await post(url, body, sent as Record<string, string>);
    expect([status, json.error.code, json.id]).toEqual([400, -32020, 1]);
  });

  it('may send a name in base64', async () => {
    const encoded = `=?base64?${Buffer.from('service_status').toString('base64')}?=`;
    const { status } = await postModern(url, 'tools/call', { name: 'service_status' }, { 'mcp-name': encoded });
    expect(status).toBe(200);
  });

  it('with an incomplete envelope, and unknown ones, are rejected', async () => {
    const version = 'io.modelcontextprotocol/protocolVersion';
    const headers = { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/list' };
    const bare = await post(url, request('tools/list'), headers);
    expect([bare.status, bare.json.error.code]).toEqual([400, -32602]);
    const incapable = await post(url, request('tools/list', { _meta: { [version]: MODERN } }), headers);
    expect(incapable.json.error).toMatchObject({
      code: -32602,
      data: { missing: ['io.modelcontextprotocol/clientCapabilities'] },
    });
    const later = await post(url, request('tools/list', { _meta: { [version]: '2031-01-01' } }), headers);
    expect(later.status).toBe(400);
    expect(later.json.error).toMatchObject({ code: -32022, data: { requested: '2031-01-01' } });
    const odd = await post(url, request('tools/list', { _meta: { [version]: 3 } }), headers);
    expect([odd.status, odd.json.error.code]).toEqual([400, -32602]);
  });
});

describe('any JSON', () => {
  const names = [
    'service_status',
    'service_court_list',
    'service_pricing',
    'service_case_query',
    'service_case_monitor',
  ];
  const anyArguments = fc.dictionary(
    fc.oneof(
      fc.constantFrom('case_id', 'court_code', 'last_checked', 'search', 'limit', 'cursor', 'payment_tx', 'region'),
      fc.string(),
    ),
    fc.jsonValue(),
  );
  const anyMeta = fc.dictionary(
    fc.constantFrom('x402/payment', 'progressToken', 'io.modelcontextprotocol/protocolVersion', 'other'),
    fc.oneof(fc.jsonValue(), fc.constant(MODERN)),
  );
  const anyCall = fc.record(
    {
      jsonrpc: fc.constant('2.0'),
      id: fc.oneof(fc.integer(), fc.string(), fc.jsonValue()),
      method: fc.constantFrom('tools/call', 'tools/list', 'initialize', 'server/discover', 'ping', 'nothing'),
      params: fc.oneof(
        fc.record({ name: fc.constantFrom(...names), arguments: anyArguments, _meta: anyMeta }, { requiredKeys: [] }),
        fc.jsonValue(),
      ),
    },
    { requiredKeys: [] },
  );

  it('is answered, as JSON-RPC, and never with a 5xx', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(anyCall, fc.jsonValue()), fc.boolean(), async (body, sandbox) => {
        const answer = await post(sandbox ? `${url}?test=1` : url, JSON.stringify(body));
        expect(answer.status).toBeLessThan(500);
        if (answer.text === '') {
          expect([202, 204]).toContain(answer.status);
          return;
        }
        for (const told of [answer.json].flat()) {
          expect(told.jsonrpc).toBe('2.0');
          expect('result' in told).not.toBe('error' in told);
          if (told.error) {
            expect(Number.isInteger(told.error.code)).toBe(true);
            expect(told.error.code).not.toBe(-32603);
          }
          const error = told.result?.structuredContent?.error;
          if (error) expect(error.code).not.toBe('internal_error');
        }
      }),
      { numRuns: 400 },
    );
  });
});
