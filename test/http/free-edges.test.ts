/** The edge cases of the free endpoints, and of the server as a whole, byte for byte over raw sockets. */
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AnswerBody, parseAnswer, rawRequest, sendRaw } from './raw-request.ts';
import { isRefused, SECRET_CASE_ID, SECRET_DOCKET } from './refused.ts';
import { openWorld, type World } from './world.ts';

const CASE = `court_code=cand&case_id=${SECRET_CASE_ID}`;
const FREE = ['/v2/status', '/v1/status', '/docs', '/docs/errors', '/openapi.json', '/llms.txt', '/.well-known/x402'];

let world: World;
beforeAll(async () => {
  world = await openWorld();
  await world.importDocket(SECRET_DOCKET);
});
afterAll(() => world.close());

describe.each(FREE)('GET %s', (path) => {
  it('answers HEAD like GET, without a body', async () => {
    const got = await rawRequest(world.port, path);
    const head = await rawRequest(world.port, path, { method: 'HEAD' });
    expect([got.status, head.status, head.text]).toEqual([200, 200, '']);
    for (const name of ['content-type', 'content-length', 'etag', 'cache-control', 'vary', 'content-security-policy']) {
      expect([name, head.headers.get(name)]).toEqual([name, got.headers.get(name)]);
    }
  });

  it('lists its methods', async () => {
    const options = await rawRequest(world.port, path, { method: 'OPTIONS' });
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS']);
    const answer = await rawRequest(world.port, path, { method: 'POST' });
    expect(isRefused(answer, { v1: path.startsWith('/v1') })).toBe('method_not_allowed');
  });
});

describe('the server', () => {
  it('answers HEAD for a missing result like GET, without a body', async () => {
    const path = '/v2/results/11111111-1111-4111-8111-111111111111';
    const [got, head] = [await rawRequest(world.port, path), await rawRequest(world.port, path, { method: 'HEAD' })];
    expect([got.status, head.status, head.text]).toEqual([404, 404, '']);
    expect(head.headers.get('content-length')).toBe(got.headers.get('content-length'));
  });

  it('reads every header that fits, so that a sandbox call is never charged', async () => {
    const many = Array.from({ length: 3_000 }, (_, n) => `h${n}:v`);
    const bytes = [`GET /v2/case?${CASE} HTTP/1.1`, 'host:x', 'connection:close', ...many, 'x-service-test:1', '', ''];
    const answer = parseAnswer(await sendRaw(world.port, bytes.join('\r\n')));
    expect([answer.status, answer.json.meta.sandbox]).toEqual([200, true]);
  });

  it('rejects two Host headers on each of its paths to an answer', async () => {
    for (const target of ['/v2/status', '/v1/status', `/v2/case?${CASE}&test=1`, '/docs', '/nope']) {
      const twice = `GET ${target} HTTP/1.1\r\nhost: x\r\nHost: y\r\nconnection: close\r\n\r\n`;
      for (let time = 0; time < 2; time++) {
        const answer = parseAnswer(await sendRaw(world.port, twice));
        expect(isRefused(answer, { v1: target.startsWith('/v1') })).toBe('invalid_parameter');
      }
    }
  });

  it.each([
    '/',
    '/v2',
    '/v2/',
    '/v3/case',
    '/v2/case/status',
    '/%',
    '/%00',
    '/..',
    '/.git/config',
    '/v2/results/',
    '*',
  ])('finds nothing at %s, and says where to look', async (target) => {
    const answer = await rawRequest(world.port, target);
    expect(isRefused(answer)).toMatch(/^(endpoint|result)_not_found$/);
  });

  it('keeps the connection open after an error, and closes it if the start of the next request is unknown', async () => {
    const socket = connect(world.port, '127.0.0.1');
    let received = '';
    socket.setEncoding('latin1').on('data', (part) => {
      received += part;
    });
    const closed = new Promise((resolve) => socket.once('close', resolve));
    for (let asked = 0; asked < 3; asked++) {
      socket.write(`GET /v2/case?${CASE} HTTP/1.1\r\nhost: x\r\n\r\n`);
      await expect.poll(() => received.split('HTTP/1.1 402').length - 1).toBe(asked + 1);
    }
    socket.write('nonsense\r\n\r\n');
    await closed;
    const end = received.slice(received.lastIndexOf('HTTP/1.1 400'));
    expect((JSON.parse(end.slice(end.indexOf('{'))) as AnswerBody).error.code).toBe('invalid_parameter');
  });
});
