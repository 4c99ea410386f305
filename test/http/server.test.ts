import { connect } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeServer } from '../../src/http/server.ts';
import { systemClock } from '../../src/runtime/instant.ts';
import { StorageFailure } from '../../src/storage/storage-failure.ts';
import { answersByOwnRoutes } from '../support/watched-answers.ts';
import { parseAnswer, rawRequest, sendRaw } from './raw-request.ts';

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const publicUrl = 'https://dockets.example';

describe('a server that answers everything in JSON', () => {
  let app: FastifyInstance;
  let port: number;
  const logged: { err?: { message: string }; requestId?: string }[] = [];
  /** A request for /v2/slow has arrived; it is answered once it is let go. */
  let slow: { arrived: boolean; letGo(): void };

  beforeEach(async () => {
    logged.length = 0;
    const gone = new Promise<void>((letGo) => {
      slow = { arrived: false, letGo };
    });
    const logger = pino({ level: 'debug' }, { write: (line: string) => void logged.push(JSON.parse(line)) });
    app = makeServer({ publicUrl, clock: systemClock }, logger);
    app.get('/docs', async () => 'docs');
    app.get('/v2/case', async () => ({ secret: 'data' }));
    app.get('/v2/results/:request_id', async () => ({ secret: 'data' }));
    app.post('/v2/echo', async (request) => ({ body: request.body }));
    app.get('/v2/slow', async () => {
      slow.arrived = true;
      await gone;
      return { slow: true };
    });
    app.get('/v2/broken', async () => {
      throw new Error('SQLITE_CANTOPEN: /var/lib/secret.db');
    });
    app.get('/v2/full', async () => {
      throw new StorageFailure('storage_full', 'database or disk is full: /var/lib/secret.db');
    });
    await app.listen({ port: 0, host: '127.0.0.1' });
    port = (app.server.address() as { port: number }).port;
    answersByOwnRoutes(app.server);
  });
  afterEach(() => {
    slow.letGo();
    return app.close();
  });

  const refusal = async (target: string, options?: Parameters<typeof rawRequest>[2]) => {
    const answer = await rawRequest(port, target, options);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(answer.headers.get('x-request-id')).toMatch(UUID_V4);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(Object.keys(answer.json)).toEqual(['meta', 'error']);
    expect(Object.keys(answer.json.meta)).toEqual(['request_id', 'queried_at']);
    expect(answer.json.meta.request_id).toBe(answer.headers.get('x-request-id'));
    expect(answer.json.error.documentation_url).toBe(`${publicUrl}/docs/errors#${answer.json.error.code}`);
    expect(answer.json.error.details.charged).toBe(false);
    expect(answer.json.error.details.hint).toBeTruthy();
    expect(answer.text).not.toMatch(/secret|node_modules|FST_ERR|HPE_|\bat .*\.[jt]s:\d/);
    return { ...answer, error: answer.json.error, summary: [answer.status, answer.json.error.code] };
  };

  it.each([
    ['/nope', '/docs'],
    ['/v2/cases', '/v2/case'],
    ['/V2/CASE', '/v2/case'],
    ['/v2/case/', '/v2/case'],
    ['//v2/case', '/v2/case'],
    ['/v2%2Fcase', '/v2/case'],
    ['/v2/case;test=1', '/v2/case'],
    ['/v2/x/../case', '/v2/case'],
    ['/v2/%2e%2e/v2/case', '/v2/case'],
    ['/v2/case%00', '/v2/case'],
    ['http://elsewhere.example/v2/cases', '/v2/case'],
    ['/v2/results', '/docs'],
    ['/v2/results/a/b', '/docs'],
  ])('%s is not found, and suggests %s', async (target, suggestion) => {
    const { summary, error } = await refusal(target);
    expect(summary).toEqual([404, 'endpoint_not_found']);
    expect(error.details.suggestion).toBe(suggestion);
  });

  it.each(['/v2/%', '/v2/%zz', '/%ff', '/v2/case/%e0%a4'])('%s cannot be decoded', async (target) => {
    expect((await refusal(target)).summary).toEqual([404, 'endpoint_not_found']);
  });

  it('routes a request target in absolute form by its path', async () => {
    expect((await rawRequest(port, 'http://elsewhere.example/v2/case')).json).toEqual({ secret: 'data' });
  });

  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'PROPFIND', 'TRACE'])(
    '%s on a GET address is a 405 with Allow',
    async (method) => {
      const { summary, headers, error } = await refusal('/v2/case', {
        method,
        headers: { 'x-http-method-override': 'GET' },
      });
      expect(summary).toEqual([405, 'method_not_allowed']);
      expect(headers.get('allow')).toBe('GET, OPTIONS');
      expect(error.details.allow).toEqual(['GET', 'OPTIONS']);
      expect((await refusal('/v2/results/abc', { method })).summary).toEqual([405, 'method_not_allowed']);
    },
  );

  it('serves HEAD only if a route allows it, because it must not pay on a paid path', async () => {
    const answer = await rawRequest(port, '/v2/case', { method: 'HEAD' });
    expect([answer.status, answer.text]).toEqual([405, '']);
  });

  it('does not read the body of a request without a route', async () => {
    const body = 'x'.repeat(400_000);
    const headers = { 'content-type': 'text/odd', 'content-length': String(body.length) };
    expect((await refusal('/nope', { method: 'POST', headers, body })).summary).toEqual([404, 'endpoint_not_found']);
  });

  it('rejects bodies that are too large, of another type, or not JSON', async () => {
    const post = (type: string, body: string) =>
      refusal('/v2/echo', {
        method: 'POST',
        headers: { 'content-type': type, 'content-length': String(body.length) },
        body,
      });
    const large = await post('application/json', JSON.stringify('x'.repeat(300_000)));
    expect(large.summary).toEqual([413, 'payload_too_large']);
    expect(large.error.details.limit).toBe(262_144);
    expect((await post('text/odd', 'x')).summary).toEqual([415, 'unsupported_media_type']);
    for (const body of ['{"queries":[', '', '{"__proto__":{"a":1}}']) {
      expect((await post('application/json', body)).summary).toEqual([400, 'invalid_parameter']);
    }
  });

  it('answers headers above 32 KiB with 431 in JSON', async () => {
    const { summary, error } = await refusal('/v2/case', { headers: { 'x-filler': 'x'.repeat(40_000) } });
    expect(summary).toEqual([431, 'header_too_large']);
    expect(error.details.limit).toBe(32_768);
  });

  it.each([
    ['not HTTP at all', 'hello\r\n\r\n'],
    ['a header without a name', 'GET / HTTP/1.1\r\nhost: x\r\n: y\r\n\r\n'],
    ['two lengths', 'POST /v2/echo HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx'],
    [
      'length and chunks',
      'POST /v2/echo HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['no host', 'GET /v2/case HTTP/1.1\r\nconnection: close\r\n\r\n'],
    ['two hosts', 'GET /v2/case HTTP/1.1\r\nhost: x\r\nhost: y\r\nconnection: close\r\n\r\n'],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a version of HTTP that does not exist', 'GET /v2/case HTTP/1.9\r\nhost: x\r\n\r\n'],
    ['a target that is not ASCII', 'GET /v2/c\u00e4se HTTP/1.1\r\nhost: x\r\n\r\n'],
    ['a TLS handshake', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000'],
    ['a space in the target', 'GET /v2/ca se HTTP/1.1\r\nhost: x\r\n\r\n'],
  ])('answers %s with 400 in JSON', async (_what, bytes) => {
    const answer = parseAnswer(await sendRaw(port, bytes));
    expect([answer.status, answer.json?.error?.code]).toEqual([400, 'invalid_parameter']);
    expect(answer.json.meta.request_id).toMatch(UUID_V4);
    expect(answer.json.error.details.issues).toHaveLength(1);
  });

  it.each([
    ['a method that does not exist', 'FETCH /v2/case HTTP/1.1\r\nhost: x\r\n\r\n'],
    ['a method in small letters', 'get /v2/case HTTP/1.1\r\nhost: x\r\n\r\n'],
    ['a tunnel', 'CONNECT elsewhere.example:443 HTTP/1.1\r\nhost: elsewhere.example:443\r\n\r\n'],
  ])('answers %s with 405 in JSON', async (_what, bytes) => {
    const answer = parseAnswer(await sendRaw(port, bytes));
    expect([answer.status, answer.json.error.code]).toEqual([405, 'method_not_allowed']);
    expect(answer.headers.get('allow')).toBe('GET, HEAD, POST, OPTIONS');
    expect(answer.json.error.details).toMatchObject({ allow: ['GET', 'HEAD', 'POST', 'OPTIONS'], charged: false });
    expect(answer.json.meta.request_id).toMatch(UUID_V4);
  });

  it('opens no tunnel on a connection whose earlier request is still being answered', async () => {
    const tunnel = 'CONNECT x:443 HTTP/1.1\r\nhost: x:443\r\n\r\n';
    const received = await sendRaw(port, `GET /v2/slow HTTP/1.1\r\nhost: x\r\n\r\n${tunnel}`);
    expect(received).not.toContain('405 Method');
  });

  it('never writes an error in place of an answer that is still due', async () => {
    const received = await sendRaw(port, 'GET /v2/slow HTTP/1.1\r\nhost: x\r\n\r\nnonsense\r\n\r\n');
    expect(received).not.toContain('400 Bad Request');
  });

  it('ignores an unknown expectation', async () => {
    const answer = await rawRequest(port, '/v2/case', { headers: { expect: 'the unexpected' } });
    expect(answer.status).toBe(200);
  });

  it('reveals nothing of an unexpected error, and logs it with the id that the caller gets', async () => {
    const { summary, json } = await refusal('/v2/broken');
    expect(summary).toEqual([500, 'internal_error']);
    const line = logged.find(({ err }) => err);
    expect(line?.err?.message).toContain('SQLITE_CANTOPEN');
    expect(line?.requestId).toBe(json.meta.request_id);
  });

  it('says on a storage failure that the caller may retry, and logs the cause', async () => {
    expect((await refusal('/v2/full')).summary).toEqual([503, 'service_unavailable']);
    expect(logged.find(({ err }) => err)?.err?.message).toContain('disk is full');
  });

  it('gives every request its own id, whatever the caller sends', async () => {
    const ids = await Promise.all(
      [1, 2].map(async () => (await refusal('/nope', { headers: { 'x-request-id': 'mine' } })).json.meta.request_id),
    );
    expect(new Set(ids).size).toBe(2);
  });

  it('grants preflights for every path, so that a script can read the error itself', async () => {
    for (const target of ['/v2/case', '/nope']) {
      const headers = {
        origin: 'https://browser.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'payment-signature, x-service-tag',
      };
      const answer = await rawRequest(port, target, { method: 'OPTIONS', headers });
      expect(answer.status).toBe(204);
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      expect(answer.headers.get('access-control-allow-methods')).toContain('GET');
      expect(answer.headers.get('access-control-allow-headers')).toBe('payment-signature, x-service-tag');
    }
  });

  it('exposes the payment headers to scripts', async () => {
    const { headers } = await rawRequest(port, '/v2/case', { headers: { origin: 'https://browser.example' } });
    for (const name of ['PAYMENT-REQUIRED', 'PAYMENT-RESPONSE', 'Content-Location', 'X-Request-Id']) {
      expect(headers.get('access-control-expose-headers')).toContain(name);
    }
  });

  it('answers OPTIONS for a path, for the whole server, and for an unknown path', async () => {
    const here = await rawRequest(port, '/v2/case', { method: 'OPTIONS' });
    expect([here.status, here.headers.get('allow')]).toEqual([204, 'GET, OPTIONS']);
    expect((await rawRequest(port, '*', { method: 'OPTIONS' })).status).toBe(204);
    expect((await refusal('/nope', { method: 'OPTIONS' })).summary).toEqual([404, 'endpoint_not_found']);
  });

  it('sends headers that keep browsers from running or guessing content', async () => {
    const { headers } = await refusal('/nope');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('strict-transport-security')).toMatch(/^max-age=/);
  });

  it('stops after answering running requests, and closes idle connections', async () => {
    let connections = 0;
    app.server.on('connection', () => connections++);
    let isAnswered = false;
    const silent = connect(port, '127.0.0.1');
    silent.on('error', () => {});
    silent.on('data', () => {
      isAnswered = true;
    });
    silent.write('GET /v2/case HTTP/1.1\r\nhost: x\r\n\r\n');
    const busy = connect(port, '127.0.0.1');
    let received = '';
    busy.on('data', (part) => {
      received += part;
    });
    busy.write('GET /v2/slow HTTP/1.1\r\nhost: x\r\n\r\n');
    const mute = connect(port, '127.0.0.1');
    const stuck = connect(port, '127.0.0.1');
    stuck.write('GET /v2/case HTTP/1.1\r\nx-half-a-');
    for (const socket of [mute, stuck]) socket.on('error', () => {}).resume();
    await vi.waitFor(() => expect([connections, isAnswered, slow.arrived]).toEqual([4, true, true]));
    const closed = app.close();
    await vi.waitFor(() => expect(app.server.listening).toBe(false));
    slow.letGo();
    // The connections that say nothing do not keep it: what waits for them would end this test.
    await closed;
    await vi.waitFor(
      () => {
        expect(received).toContain('{"slow":true}');
        for (const socket of [silent, mute, stuck]) expect(socket.destroyed || socket.readableEnded).toBe(true);
      },
      { timeout: 10_000, interval: 10 },
    );
    busy.destroy();
  });

  it('rejects in JSON requests that arrive while it stops', async () => {
    const socket = connect(port, '127.0.0.1');
    let received = '';
    socket.on('data', (part) => {
      received += part;
    });
    socket.write('GET /v2/slow HTTP/1.1\r\nhost: x\r\n\r\n');
    await vi.waitFor(() => expect(slow.arrived).toBe(true));
    let later = 0;
    app.server.on('request', () => later++);
    const closed = app.close();
    await vi.waitFor(() => expect(app.server.listening).toBe(false));
    socket.write('GET /v2/case HTTP/1.1\r\nhost: x\r\n\r\n');
    await vi.waitFor(() => expect(later).toBe(1));
    slow.letGo();
    await closed;
    await vi.waitFor(() => expect(received).toContain('service_unavailable'));
    socket.destroy();
    const second = parseAnswer(received.slice(received.indexOf('{"slow":true}') + '{"slow":true}'.length));
    expect([second.status, second.json?.error?.code]).toEqual([503, 'service_unavailable']);
    expect(second.headers.get('retry-after')).toBe('1');
  });
});
