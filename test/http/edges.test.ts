/**
 * The edge cases of every paid endpoint, byte for byte over raw sockets: every request is answered in JSON with a code
 * of the catalogue, is never a 500, and never bypasses payment.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAnswer, rawRequest, sendRaw } from './raw-request.ts';
import { isRefused, SECRET, SECRET_CASE_ID, SECRET_DOCKET } from './refused.ts';
import { openWorld, type World } from './world.ts';

const CASE = `court_code=cand&case_id=${SECRET_CASE_ID}`;
const SINCE = '2025-01-01T00:00:00Z';

interface PaidCall {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query: string;
  readonly body?: string;
}

const PAID: readonly PaidCall[] = [
  { method: 'GET', path: '/v2/case', query: `${CASE}&last_checked=${SINCE}&context=full` },
  { method: 'GET', path: '/v2/monitor', query: `${CASE}&last_checked=${SINCE}` },
  { method: 'GET', path: '/v1/case', query: CASE },
  { method: 'GET', path: '/v1/monitor', query: CASE },
  {
    method: 'POST',
    path: '/v2/cases/batch',
    query: '',
    body: JSON.stringify({ queries: [{ case_id: '4:25-cv-00822', court_code: 'cand', context: 'full' }] }),
  },
  { method: 'GET', path: '/v2/wallet/keys', query: '' },
  { method: 'POST', path: '/v2/wallet/keys', query: '' },
  { method: 'GET', path: '/v2/wallet/deliveries', query: 'status=failed&case_id=4:25-cv-00822' },
];

let world: World;
beforeAll(async () => {
  world = await openWorld();
  await world.importDocket(SECRET_DOCKET);
});
afterAll(() => world.close());

const send = ({ method, body }: PaidCall, target: string, headers: Record<string, string> = {}) =>
  rawRequest(world.port, target, {
    method,
    headers: body ? { 'content-type': 'application/json', 'content-length': String(body.length), ...headers } : headers,
    ...(body ? { body } : {}),
  });

describe.each(PAID)('$method $path', (call) => {
  const { method, path, query } = call;
  const v1 = path.startsWith('/v1');
  const search = query === '' ? '' : `?${query}`;
  const target = path + search;
  /** With more parameters. */
  const and = (more: string) => `${target}${search === '' ? '?' : '&'}${more}`;
  const ask = (over: string, headers = {}) => send(call, over, headers);

  it('asks for payment', async () => {
    expect(isRefused(await ask(target), { v1 })).toBe('payment_required');
  });

  it.each([
    ['in absolute form', `http://elsewhere.example${target}`],
    ['in absolute form with a user', `https://a:b@elsewhere.example:1${target}`],
    ['with letters percent-encoded', target.replace('e', '%65').replace('t', '%74')],
    ['with a fragment', `${target}#?test=1`],
  ])('means the same with %s', async (_how, written) => {
    expect(isRefused(await ask(written), { v1 })).toBe('payment_required');
  });

  it.each([
    ['a slash at its end', `${path}/${search}`],
    ['two slashes before', `/${target}`],
    ['two slashes within', target.replace(/^\/(v\d)\//, '/$1//')],
    ['an encoded slash', target.replace(/^\/(v\d)\//, '/$1%2F')],
    ['a doubly encoded letter', target.replace('/v', '/%2576')],
    ['capitals', target.replace(path, path.toUpperCase())],
    ['a path parameter', `${path};test=1${search}`],
    ['a path parameter within', target.replace(/^\/(v\d)/, '/$1;x')],
    ['dots', `/v2/status/..${target}`],
    ['encoded dots', `/v2/status/%2e%2e${target}`],
    ['a backslash', target.replace(/^\/(v\d)\//, '/$1\\')],
    ['an encoded zero', `${path}%00${search}`],
    ['an encoded question mark', `${path}%3F${query}`],
    ['a dot at its end', `${path}.${search}`],
    ['an extension', `${path}.json${search}`],
    ['a space at its end', `${path}%20${search}`],
  ])('is not found with %s', async (_what, written) => {
    const answer = await ask(written);
    expect(isRefused(answer, { v1: /^\/v1\//.test(written) })).toBe('endpoint_not_found');
    expect(answer.json.error.details.suggestion).toBeTruthy();
  });

  it.each(['HEAD', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'QUERY', 'PROPFIND'])(
    'accepts no %s that is not its own, with any method override',
    async (other) => {
      const served = other === 'HEAD' ? 'GET' : other;
      if (PAID.some((known) => known.method === served && known.path === path)) return;
      const headers = { 'x-http-method-override': method, 'x-http-method': method, 'x-method-override': method };
      const answer = await rawRequest(world.port, and(`_method=${method}`), { method: other, headers });
      expect(answer.status).toBe(405);
      expect(answer.headers.get('allow')).toMatch(new RegExp(`\\b${method}\\b.*\\bOPTIONS$`));
      isRefused(answer, { v1, bodiless: other === 'HEAD' });
    },
  );

  it.each([
    ['twice', and('case_id=4:25-cv-00822&case_id=4:25-cv-00822')],
    ['twice, and otherwise', and('case_id=4:25-cv-00822&case_id=4:25-cv-00823')],
    ['as an array', and('case_id[]=4:25-cv-00822')],
    ['as an array with indices', and('case_id[0]=4:25-cv-00822')],
    ['as an operator', and('case_id[$ne]=x')],
    ['of the prototype', and('__proto__=1&constructor[prototype][x]=1')],
    ['in capitals', and('CASE_ID=4:25-cv-00822')],
    ['with a zero byte', and('court_code=cand%00')],
    ['that are not UTF-8', and('court_code=%ff%fe')],
    ['with a line break', and('tag=x%0d%0ax-injected:%201')],
    ['by the hundred', and('x=1&'.repeat(500))],
    ['for a sandbox that is none', and('test=true&test=1')],
  ])('accepts no parameters %s', async (_how, written) => {
    const answer = await ask(written);
    expect(isRefused(answer, { v1 })).toBe('invalid_parameter');
    expect(answer.headers.get('x-injected')).toBeNull();
    expect(answer.text.length).toBeLessThan(20_000);
  });

  it.each([
    ['nothing', ''],
    ['no base64', '@@@@'],
    ['JSON null', 'bnVsbA=='],
    ['an empty object', 'e30='],
    ['zero bytes', 'AAAAAAAA'],
    ['17 KiB', 'A'.repeat(17 * 1024)],
  ])('accepts no payment of %s in any header', async (_what, value) => {
    for (const name of ['payment-signature', 'x-payment', 'x402-payment']) {
      expect(isRefused(await ask(target, { [name]: value }), { v1 })).toBe('invalid_payment');
    }
  });

  it('accepts headers of 31 KiB, but not of 33', async () => {
    expect(isRefused(await ask(target, { 'x-filler': 'x'.repeat(31 * 1024) }), { v1 })).toBe('payment_required');
    expect(isRefused(await ask(target, { 'x-filler': 'x'.repeat(33 * 1024) }), { v1 })).toBe('header_too_large');
    expect(isRefused(await ask(and(`x=${'x'.repeat(33 * 1024)}`)), { v1 })).toBe('header_too_large');
  });

  it('answers HTTP/1.0 too, without a Host', async () => {
    const answer = parseAnswer(
      await sendRaw(world.port, request(call, target, bodyHeaders(call), 'HTTP/1.0') + (call.body ?? '')),
    );
    expect(isRefused(answer, { v1 })).toBe('payment_required');
    expect(answer.headers.get('transfer-encoding')).toBeNull();
  });

  it('is not upgraded to another protocol', async () => {
    for (const protocol of ['websocket', 'h2c', 'TLS/1.2']) {
      const headers = ['host: x', `upgrade: ${protocol}`, 'connection: upgrade, close', ...bodyHeaders(call)];
      const answer = parseAnswer(await sendRaw(world.port, request(call, target, headers) + (call.body ?? '')));
      expect(isRefused(answer, { v1 })).toBe('payment_required');
    }
  });

  it('cannot be reached through a smuggled request: two lengths, a length and chunks, a second request in a body', async () => {
    const inner = `GET /v2/status HTTP/1.1\r\nhost: x\r\n\r\n`;
    for (const framing of [
      ['content-length: 4', 'content-length: 5'],
      ['content-length: 4', 'transfer-encoding: chunked'],
      ['transfer-encoding: chunked', 'transfer-encoding: identity'],
      ['transfer-encoding: xchunked'],
      ['transfer-encoding : chunked'],
      ['content-length: +4'],
      ['content-length: 0x4'],
    ]) {
      const received = await sendRaw(world.port, request(call, target, ['host: x', ...framing]) + inner, {
        patienceMs: 500,
      });
      expect(received).not.toContain(SECRET);
      // The second request is part of the first one's body, or the connection ends with the first.
      expect(received.split('HTTP/1.1 200').length).toBe(1);
    }
  });

  it('is answered in its turn on a shared connection', async () => {
    const ours = request(call, target, ['host: x', ...bodyHeaders(call)]) + (call.body ?? '');
    const free = 'GET /v2/status HTTP/1.1\r\nhost: x\r\naccept-encoding: gzip\r\n\r\n';
    const last = 'GET /nope HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';
    const received = await sendRaw(world.port, ours + free + ours + last);
    expect([...received.matchAll(/HTTP\/1\.1 (\d{3}) [A-Z]/g)].map(([, status]) => status)).toEqual([
      '402',
      '200',
      '402',
      '404',
    ]);
    expect(received).not.toContain(SECRET);
  });

  it('can be called by a script in a browser, which can read what it needs', async () => {
    const origin = { origin: 'https://browser.example' };
    const asked = 'payment-signature, x-payment, x402-payment, x-service-tag, x-service-test, content-type';
    const preflight = await rawRequest(world.port, target, {
      method: 'OPTIONS',
      headers: {
        ...origin,
        'access-control-request-method': method,
        'access-control-request-headers': asked,
      },
    });
    expect([preflight.status, preflight.text]).toEqual([204, '']);
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
    expect(preflight.headers.get('access-control-allow-methods')).toContain(method);
    expect(preflight.headers.get('access-control-allow-headers')).toBe(asked);
    expect(preflight.headers.get('access-control-allow-credentials')).toBeNull();
    const answer = await ask(target, origin);
    const exposed = answer.headers.get('access-control-expose-headers')?.toLowerCase().split(', ');
    for (const name of [
      'payment-required',
      'payment-response',
      'x-payment-response',
      'x-payment-requirements',
      'content-location',
      'x-service-delivery',
      'ratelimit-limit',
      'ratelimit-remaining',
      'ratelimit-reset',
      'retry-after',
      'x-request-id',
    ]) {
      expect(exposed).toContain(name);
    }
  });
});

const bodyHeaders = ({ body }: PaidCall): string[] =>
  body === undefined ? [] : ['content-type: application/json', `content-length: ${body.length}`];

const request = (
  { method }: PaidCall,
  target: string,
  headers: readonly string[] = ['host: x'],
  version = 'HTTP/1.1',
) => [`${method} ${target} ${version}`, ...headers, '', ''].join('\r\n');
