import { gzipSync } from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import { createOutbound } from '../../../src/callbacks/outbound/guarded-outbound.ts';
import { hintOf } from '../../../src/events/failure-class.ts';
import { attempt, BODY, DEADLINE_MS, dribbles, floods, sends, startHostile } from './hostile.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const status = (line: string, headers = '') => `HTTP/1.1 ${line}\r\n${headers}Content-Length: 0\r\n\r\n`;

describe('a receiver that answers', () => {
  test.each([200, 201, 202, 204, 226, 299])('with %i has acknowledged', async (code) => {
    const outcome = await attempt(sends(code === 204 ? 'HTTP/1.1 204 No Content\r\n\r\n' : status(`${code} Fine`)));
    expect(outcome).toMatchObject({ responseCode: code, failureClass: null, responseExcerpt: '', truncated: false });
  });

  test.each([
    [300, 'http_3xx'],
    [304, 'http_3xx'],
    [400, 'http_4xx'],
    [410, 'http_4xx'],
    [429, 'http_4xx'],
    [500, 'http_5xx'],
    [503, 'http_5xx'],
    [700, 'protocol_error'],
  ])('with %i has failed: %s', async (code, failureClass) => {
    const end = code === 304 ? 'HTTP/1.1 304 Not Modified\r\n\r\n' : status(`${code} No`);
    expect(await attempt(sends(end))).toMatchObject({ responseCode: code, failureClass });
  });

  test('gets the exact body, with the given headers and those of the connection only', async () => {
    const hostile = await startHostile(sends(OK));
    const outbound = createOutbound({ trustedPairs: [`127.0.0.1:${hostile.port}`] });
    const headers = { 'Content-Type': 'application/json', 'X-Service-Timestamp': '1700000000' };
    const outcome = await outbound.post({ url: `${hostile.url}?a=b%20c#part`, headers, body: BODY });
    expect(outcome).toMatchObject({ responseCode: 200, failureClass: null, responseExcerpt: 'ok', truncated: false });
    const [head, body] = hostile.received().split('\r\n\r\n');
    expect(body).toBe(BODY.toString());
    expect(head!.split('\r\n').sort()).toEqual(
      [
        'POST /hook?a=b%20c HTTP/1.1',
        'Content-Type: application/json',
        'X-Service-Timestamp: 1700000000',
        'connection: keep-alive',
        `content-length: ${BODY.length}`,
        `host: 127.0.0.1:${hostile.port}`,
      ].sort(),
    );
    await outbound.close();
    await hostile.close();
  });

  test('with a redirect is not followed, regardless of its target', async () => {
    const second = await startHostile(sends(OK));
    const outcome = await attempt(sends(status('307 Temporary', `Location: ${second.url}\r\n`)), {});
    expect(outcome).toMatchObject({ responseCode: 307, failureClass: 'http_3xx' });
    expect(second.connections).toBe(0);
    await second.close();
  });

  test('may ask for seconds or a date with Retry-After', async () => {
    const seconds = await attempt(sends(status('503 Busy', 'Retry-After: 120\r\n')));
    expect(seconds).toMatchObject({ failureClass: 'http_5xx', retryAfterSeconds: 120 });
    const date = new Date(Date.now() + 60_000).toUTCString();
    const dated = await attempt(sends(status('429 Slow', `Retry-After: ${date}\r\n`)));
    expect(dated.retryAfterSeconds).toBeGreaterThanOrEqual(58);
    expect(dated.retryAfterSeconds).toBeLessThanOrEqual(60);
  });

  test('by HTTP/1.0 may end its body with the connection', async () => {
    const outcome = await attempt(async (socket, request) => {
      await request;
      socket.end('HTTP/1.0 200 OK\r\n\r\nall of it');
    });
    expect(outcome).toMatchObject({ failureClass: null, responseExcerpt: 'all of it', truncated: false });
  });

  test('has 4 KiB of a longer body kept, in whole characters', async () => {
    const body = 'x'.repeat(4_095) + 'é'.repeat(10);
    const outcome = await attempt(
      sends(`HTTP/1.1 500 Oops\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`),
    );
    expect(outcome).toMatchObject({ failureClass: 'http_5xx', truncated: true, responseExcerpt: 'x'.repeat(4_095) });
  });
});

describe('informational responses', () => {
  const five = '103 102 100 199 103'
    .split(' ')
    .map((code) => `HTTP/1.1 ${code} Wait\r\nX: y\r\n\r\n`)
    .join('');

  test('five are skipped, including an unrequested 100', async () => {
    expect(await attempt(sends(five + OK))).toMatchObject({ responseCode: 200, failureClass: null });
  });

  test('five are skipped however they are split', async () => {
    const outcome = await attempt(dribbles('', five + OK, 1));
    expect(outcome).toMatchObject({ responseCode: 200, failureClass: null, responseExcerpt: 'ok' });
  });

  test.each(['\r\n', '\n', 'HTTP/2.0 103 Wait\r\n\r\n\r\n'])('six are too many after %j, too', async (begin) => {
    const six = `${begin}HTTP/1.1 103 Wait\r\n\r\n`.repeat(6);
    expect(await attempt(sends(six + OK))).toMatchObject({ responseCode: null, failureClass: 'response_too_large' });
    expect(await attempt(sends(`${begin}${OK}`))).toMatchObject({ responseCode: 200, failureClass: null });
  });

  test('the sixth ends the attempt', async () => {
    const outcome = await attempt(sends(`${five}HTTP/1.1 102 Processing\r\n\r\n${OK}`));
    expect(outcome).toMatchObject({ responseCode: null, failureClass: 'response_too_large' });
  });

  test('a change of protocol ends it too', async () => {
    const outcome = await attempt(
      sends('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
    );
    expect(outcome.failureClass).toBe('protocol_error');
  });

  test('a flood of them ends it before much is read', async () => {
    const flood = floods('', 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'.repeat(30));
    const outcome = await attempt(flood);
    expect(outcome).toMatchObject({ responseCode: null, failureClass: 'response_too_large' });
    expect(outcome.durationMs).toBeLessThan(9_000);
  });
});

describe('floods end the attempt before its deadline', () => {
  test.each([
    ['endless headers', 'HTTP/1.1 200 OK\r\n', `X-Header: ${'y'.repeat(1_000)}\r\n`],
    ['a header without an end', 'HTTP/1.1 200 OK\r\nX-Header: ', 'y'.repeat(1_000)],
    ['a name of a header without an end', 'HTTP/1.1 200 OK\r\n', 'y'.repeat(1_000)],
    ['a reason phrase without an end', 'HTTP/1.1 200 ', 'y'.repeat(1_000)],
    ['an informational head without an end', 'HTTP/1.1 103 ', 'y'.repeat(1_000)],
  ])('%s', async (_, begin, part) => {
    const outcome = await attempt(floods(begin, part));
    expect(outcome).toMatchObject({ responseCode: null, failureClass: 'response_too_large', responseExcerpt: null });
    expect(outcome.durationMs).toBeLessThan(9_000);
  });

  test.each([
    ['a body without an end', 'Connection: close\r\n\r\n', 'z'.repeat(1_000)],
    ['chunks without an end', 'Transfer-Encoding: chunked\r\n\r\n', `3e8\r\n${'z'.repeat(1_000)}\r\n`],
    ['a chunk extension without an end', 'Transfer-Encoding: chunked\r\n\r\n1', ';y=zzzzzzzz'.repeat(100)],
    [
      'trailers without an end',
      'Transfer-Encoding: chunked\r\n\r\n1\r\nz\r\n0\r\n',
      'X-Trailer: yyyyyyyyyyyy\r\n'.repeat(50),
    ],
  ])('%s after a 2xx still counts as an acknowledgement', async (_, head, part) => {
    const outcome = await attempt(floods(`HTTP/1.1 200 OK\r\n${head}`, part));
    expect(outcome).toMatchObject({ responseCode: 200, failureClass: null, truncated: true });
    expect(outcome.responseExcerpt!.length).toBeLessThanOrEqual(4_096);
    expect(outcome.durationMs).toBeLessThan(9_000);
  });

  test('an endless body after a 500 still counts as that failure', async () => {
    const outcome = await attempt(floods('HTTP/1.1 500 No\r\n\r\n', 'z'.repeat(1_000)));
    expect(outcome).toMatchObject({ responseCode: 500, failureClass: 'http_5xx', truncated: true });
    expect(outcome.responseExcerpt).toBe('z'.repeat(4_096));
  });

  test('a gzip bomb is not decompressed', async () => {
    const bomb = gzipSync(Buffer.alloc(3_000_000));
    const outcome = await attempt(async (socket, request) => {
      await request;
      socket.write(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`);
      socket.write(bomb);
    });
    expect(outcome).toMatchObject({ responseCode: 200, failureClass: null });
    expect(outcome.responseExcerpt!.length).toBeLessThanOrEqual(4_096);
    expect(outcome.responseExcerpt).not.toContain('\0'.repeat(3_000));
  });
});

describe('slow receivers hit one deadline', () => {
  test.each([
    ['says nothing', async () => undefined],
    ['dribbles a status line', dribbles('', `HTTP/1.1 200 ${'O'.repeat(1_000)}`)],
    ['dribbles headers', dribbles('HTTP/1.1 200 OK\r\n', 'X-Slow: 1\r\n')],
    ['dribbles informational responses', dribbles('', 'HTTP/1.1 103 Early Hints\r\n\r\n', 30)],
  ])('one that %s: timeout', async (_, temper) => {
    const outcome = await attempt(temper, { deadlineMs: DEADLINE_MS });
    expect(outcome).toMatchObject({ responseCode: null, failureClass: 'timeout' });
    expect(outcome.durationMs).toBeGreaterThanOrEqual(DEADLINE_MS - 20);
    expect(outcome.durationMs).toBeLessThan(DEADLINE_MS + 3_000);
  });

  test.each([
    ['a 2xx counts as an acknowledgement', '200 OK', null],
    ['a 4xx counts as that failure', '404 No', 'http_4xx'],
  ])('one that dribbles its body after a %s', async (_, line, failureClass) => {
    const outcome = await attempt(dribbles(`HTTP/1.1 ${line}\r\nContent-Length: 9999\r\n\r\n`, 'slow'), {
      deadlineMs: 1_000,
    });
    expect(outcome).toMatchObject({ failureClass, truncated: true });
    expect(outcome.responseExcerpt).toMatch(/^(slow)+/);
    expect(outcome.durationMs).toBeLessThan(DEADLINE_MS + 3_000);
  });

  test('one that never reads the request', async () => {
    const hostile = await startHostile((socket) => socket.pause());
    const outbound = createOutbound({ deadlineMs: DEADLINE_MS, trustedPairs: [`127.0.0.1:${hostile.port}`] });
    const outcome = await outbound.post({ url: hostile.url, headers: {}, body: Buffer.alloc(8 * 1024 * 1024) });
    expect(outcome).toMatchObject({ responseCode: null, failureClass: 'timeout' });
    await outbound.close();
    await hostile.close();
  });

  test('one that answers before it has read the request', async () => {
    const hostile = await startHostile((socket) => {
      socket.pause();
      socket.write(status('413 Too much'));
    });
    const outbound = createOutbound({ deadlineMs: 10_000, trustedPairs: [`127.0.0.1:${hostile.port}`] });
    const outcome = await outbound.post({ url: hostile.url, headers: {}, body: Buffer.alloc(8 * 1024 * 1024) });
    expect(outcome).toMatchObject({ responseCode: 413, failureClass: 'http_4xx' });
    await outbound.close();
    await hostile.close();
  });
});

describe('resets', () => {
  test.each([
    ['at once', 'reset', (socket) => socket.resetAndDestroy()],
    ['at the end of the request', 'reset', async (socket, request) => request.then(() => socket.resetAndDestroy())],
    [
      'with an end of the connection instead of an answer',
      'reset',
      async (socket, request) => request.then(() => socket.end()),
    ],
    [
      'in the status line',
      'reset',
      async (socket, request) => request.then(() => socket.write('HTTP/1.1 2', () => socket.resetAndDestroy())),
    ],
    ['in the headers', 'reset', async (socket, request) => request.then(() => socket.end('HTTP/1.1 200 OK\r\nX-Half'))],
    [
      'in an informational response',
      'reset',
      async (socket, request) => request.then(() => socket.end('HTTP/1.1 103 Early Hints\r\nX-Half')),
    ],
  ] as const satisfies [string, string, Parameters<typeof attempt>[0]][])('%s', async (_, failureClass, temper) => {
    const outcome = await attempt(temper);
    expect(outcome).toMatchObject({ responseCode: null, failureClass });
    expect(outcome.durationMs).toBeLessThan(9_000);
  });

  test('in the body of a 2xx: acknowledged', async () => {
    const outcome = await attempt(async (socket, request) => {
      await request;
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf', () =>
        setTimeout(() => socket.resetAndDestroy(), 20),
      );
    });
    expect(outcome).toMatchObject({ responseCode: 200, failureClass: null, responseExcerpt: 'half', truncated: true });
  });
});

describe('what is not HTTP/1.1', () => {
  test.each([
    ['another protocol', '220 mail.example ESMTP\r\n'],
    ['HTTP/2', '\0\0\x12\x04\0\0\0\0\0\0\x03\0\0\0\x64'],
    ['a status that is not a number', 'HTTP/1.1 two hundred\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    ['a broken header', 'HTTP/1.1 200 OK\r\nno colon here\r\n\r\n'],
    ['TLS', '\x15\x03\x01\x00\x02\x02\x46'],
  ])('%s', async (_, bytes) => {
    const outcome = await attempt(sends(bytes));
    expect(outcome).toMatchObject({ failureClass: 'protocol_error' });
    expect(hintOf('protocol_error')).toContain('HTTP/1.1');
  });
});

describe('the service can end an attempt', () => {
  test('by a signal, at once', async () => {
    const controller = new AbortController();
    const outcome = await attempt(
      async (_socket, request) => request.then(() => setTimeout(() => controller.abort(), 20)),
      { signal: controller.signal },
    );
    expect(outcome).toMatchObject({ responseCode: null, failureClass: 'interrupted' });
    expect(outcome.durationMs).toBeLessThan(9_000);
  });

  test('by one signal for many, without a warning of too many listeners', async () => {
    const warnings: string[] = [];
    const warned = (warning: Error) => warnings.push(warning.name);
    process.on('warning', warned);
    const hostile = await startHostile(() => undefined);
    const outbound = createOutbound({ deadlineMs: 10_000, trustedPairs: [`127.0.0.1:${hostile.port}`] });
    const controller = new AbortController();
    const { signal } = controller;
    const posts = Array.from({ length: 40 }, () =>
      outbound.post({ url: hostile.url, headers: {}, body: BODY, signal }),
    );
    setTimeout(() => controller.abort(), 50);
    const outcomes = await Promise.all(posts);
    expect(new Set(outcomes.map(({ failureClass }) => failureClass))).toEqual(new Set(['interrupted']));
    await new Promise((done) => setImmediate(done));
    process.off('warning', warned);
    expect(warnings).toEqual([]);
    await outbound.close();
    await hostile.close();
  });

  test('before it has begun', async () => {
    const outcome = await attempt(sends(OK), { signal: AbortSignal.abort() });
    expect(outcome).toMatchObject({ responseCode: null, failureClass: 'interrupted' });
  });

  test('by closing, and accepts no further attempt', async () => {
    const hostile = await startHostile(() => undefined);
    const outbound = createOutbound({ trustedPairs: [`127.0.0.1:${hostile.port}`] });
    const underWay = outbound.post({ url: hostile.url, headers: {}, body: BODY });
    await vi.waitFor(() => expect(hostile.connections).toBe(1));
    outbound.close();
    expect(await underWay).toMatchObject({ failureClass: 'interrupted' });
    expect(await outbound.post({ url: hostile.url, headers: {}, body: BODY })).toMatchObject({
      failureClass: 'interrupted',
    });
    expect(hostile.connections).toBe(1);
    await hostile.close();
  });
});
