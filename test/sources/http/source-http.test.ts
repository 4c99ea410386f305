/**
 * Given web servers on real sockets that behave well, badly or with intent, when a source is called, then it answers with
 * the whole unpacked body or a fault, within its limits, and no request goes where it must not go
 * (docs/design/sources.md#requests).
 */
import type { Socket } from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { createSourceHttp, type SourceHttpOptions } from '../../../src/sources/http/create-source-http.ts';
import type { SourceHttp, SourceRequest, SourceResponse } from '../../../src/sources/http/source-http.ts';
import type { Fault } from '../../../src/sources/source.ts';
import { openRaw, openWeb, type WebServer } from './web-server.ts';

const closing: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((one) => one.close()));
});
const kept = <Closeable extends { close(): Promise<void> }>(one: Closeable): Closeable => {
  closing.push(one);
  return one;
};

const USER_AGENT = 'DocketMonitor/9.9.9 (+https://dockets.example/docs)';
const web = async (answer: Parameters<typeof openWeb>[0]): Promise<WebServer> => kept(await openWeb(answer));
const raw = async (speak: (socket: Socket) => void) => kept(await openRaw(speak));
const httpFor = (servers: readonly { readonly port: number }[], more: Partial<SourceHttpOptions> = {}): SourceHttp =>
  kept(
    createSourceHttp({
      userAgent: USER_AGENT,
      allowPrivate: servers.map(({ port }) => `127.0.0.1:${port}`),
      ...more,
    }),
  );
const get = (url: string, more: Partial<SourceRequest> = {}): SourceRequest => ({ url, maxBytes: 10_000, ...more });
const fault = (sent: SourceResponse | Fault): string => ('fault' in sent ? sent.fault : `status ${sent.status}`);
const text = (sent: SourceResponse | Fault): string => ('fault' in sent ? sent.fault : sent.body.toString());

describe('an answer', () => {
  it('has status, headers and body, and the request has the user agent', async () => {
    const server = await web((_request, response) => {
      response.writeHead(429, { 'Retry-After': '7', 'X-Two': ['a', 'b'] }).end('{"detail":"…"}');
    });
    const sent = await httpFor([server]).send(get(`${server.url}/a?b=c`, { headers: { Authorization: 'Token t' } }));
    expect(sent).toMatchObject({ status: 429, headers: { 'retry-after': '7', 'x-two': 'b' } });
    expect(text(sent)).toBe('{"detail":"…"}');
    const [request] = server.requests;
    expect(request?.url).toBe('/a?b=c');
    expect(request?.headers).toMatchObject({ 'user-agent': USER_AGENT, authorization: 'Token t' });
    expect(request?.headers).not.toHaveProperty('cookie');
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
  ] as const)('is unpacked (%s)', async (encoding, pack) => {
    const server = await web((_request, response) => {
      response.writeHead(200, { 'Content-Encoding': encoding }).end(pack('x'.repeat(9_000)));
    });
    expect(text(await httpFor([server]).send(get(server.url)))).toBe('x'.repeat(9_000));
  });

  it('may have no body, also when it names an encoding', async () => {
    const server = await web((request, response) => {
      response.writeHead(request.url === '/304' ? 304 : 200, { 'Content-Encoding': 'gzip' }).end();
    });
    const http = httpFor([server]);
    expect(await http.send(get(`${server.url}/304`))).toMatchObject({ status: 304 });
    expect(text(await http.send(get(server.url)))).toBe('');
  });

  it('comes on one connection after the other', async () => {
    const server = await web((_request, response) => {
      response.setHeader('Keep-Alive', 'timeout=60');
      response.end('ok');
    });
    const http = httpFor([server]);
    for (let round = 0; server.connections() === round; round++) {
      expect(round).toBeLessThan(50);
      expect(text(await http.send(get(server.url)))).toBe('ok');
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(server.connections()).toBeLessThan(server.requests.length);
  });

  it('to a POST is its redirect, which is not followed', async () => {
    const server = await web((_request, response) => response.writeHead(307, { Location: '/elsewhere' }).end());
    const sent = await httpFor([server]).send(get(server.url, { method: 'POST', body: '{}' }));
    expect(fault(sent)).toBe('status 307');
    expect(server.requests).toHaveLength(1);
  });
});

describe('a limit ends', () => {
  it('a connection that is never completed', async () => {
    // The server accepts, and never begins its half of TLS.
    const server = await raw(() => undefined);
    const url = server.url.replace('http:', 'https:');
    expect(await httpFor([server]).send(get(url, { connectMs: 50 }))).toMatchObject({
      fault: 'timeout',
      reason: 'no connection within 50 ms',
    });
  });

  it.each([
    ['without a byte', ''],
    ['within its head', 'HTTP/1.1 200 OK\r\nX: '],
    ['within its body', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc'],
  ])('an answer that stops %s', async (_where, bytes) => {
    const server = await raw((socket) => socket.write(bytes));
    expect(await httpFor([server]).send(get(server.url, { totalMs: 50 }))).toMatchObject({ fault: 'timeout' });
  });

  it('redirects that each answer in time', async () => {
    const server = await web((request, response) => {
      setTimeout(() => response.writeHead(302, { Location: `${request.url}x` }).end(), 20);
    });
    expect(await httpFor([server]).send(get(server.url, { totalMs: 50 }))).toMatchObject({ fault: 'timeout' });
  });

  it.each([
    ['announced', { 'Content-Length': '10001' }],
    ['not announced', {}],
  ])('a body that is too long and %s', async (_how, headers) => {
    const server = await web((_request, response) => response.writeHead(200, headers).end('x'.repeat(10_001)));
    const http = httpFor([server]);
    expect(fault(await http.send(get(server.url)))).toBe('too_large');
    expect(fault(await http.send(get(server.url, { maxBytes: 10_001 })))).toBe('status 200');
  });

  it('an endless body', async () => {
    const server = await web((_request, response) => {
      const more = (): void => {
        if (!response.destroyed) response.write('x'.repeat(1_000), more);
      };
      more();
    });
    expect(fault(await httpFor([server]).send(get(server.url)))).toBe('too_large');
  });

  it('a small body that unpacks to a large one', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    const server = await web((_request, response) => response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(bomb));
    expect(bomb.length).toBeLessThan(60_000);
    expect(fault(await httpFor([server]).send(get(server.url, { maxBytes: 1_000_000 })))).toBe('too_large');
  });

  it.each([
    ['of many headers', (index: number) => `X-${index}: ${'y'.repeat(1_000)}\r\n`, 'HTTP/1.1 200 OK\r\n'],
    ['of informational responses', () => 'HTTP/1.1 103 Early Hints\r\n\r\n', ''],
  ])('a flood %s', async (_of, part, begin) => {
    const server = await raw((socket) => {
      socket.write(begin);
      let index = 0;
      const more = (): void => {
        if (!socket.destroyed) socket.write(part(index++), () => setImmediate(more));
      };
      more();
    });
    expect(['too_large', 'timeout']).toContain(
      fault(await httpFor([server]).send(get(server.url, { totalMs: 2_000 }))),
    );
  });

  it('the request when its caller leaves, or the service stops', async () => {
    const server = await raw(() => undefined);
    const http = httpFor([server]);
    const leaving = new AbortController();
    const left = http.send(get(server.url, { signal: leaving.signal }));
    leaving.abort();
    expect(fault(await left)).toBe('interrupted');
    const stopped = http.send(get(server.url));
    await http.close();
    expect(fault(await stopped)).toBe('interrupted');
    expect(fault(await http.send(get(server.url)))).toBe('interrupted');
  });
});

describe('a broken answer is a fault', () => {
  it.each([
    ['cut off before its announced length', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc', 'connection'],
    ['cut off within a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc', 'connection'],
    ['cut off after its head', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', 'connection'],
    ['no byte', '', 'connection'],
    ['no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n', 'unreadable'],
    [
      'an encoding nobody asked for',
      'HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\nContent-Length: 1\r\n\r\nx',
      'unreadable',
    ],
  ])('%s', async (_what, bytes, expected) => {
    const server = await raw((socket) => socket.end(bytes));
    expect(fault(await httpFor([server]).send(get(server.url)))).toBe(expected);
  });

  it('packed bytes that end too early', async () => {
    const server = await web((_request, response) => {
      const packed = gzipSync('x'.repeat(5_000));
      response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(packed.subarray(0, packed.length - 12));
    });
    expect(fault(await httpFor([server]).send(get(server.url)))).toBe('unreadable');
  });

  it('nothing listens', async () => {
    const server = await web((_request, response) => response.end());
    await server.close();
    closing.pop();
    expect(fault(await httpFor([server]).send(get(server.url)))).toBe('connection');
  });
});

describe('an address', () => {
  it.each([
    ['http://127.0.0.1:9/', 'loopback'],
    ['http://[::1]/', 'loopback'],
    ['http://169.254.169.254/latest/meta-data', "a cloud's own"],
    ['http://10.0.0.1/', 'private'],
    ['http://localhost/', 'a local name'],
    ['ftp://example.com/', 'another scheme'],
    ['https://user:secret@example.com/', 'a password'],
    ['https://example.com:5432/', 'a database'],
  ])('%s is refused: %s', async (url) => {
    const sent = await httpFor([]).send(get(url));
    expect(fault(sent)).toBe('refused_address');
    expect(JSON.stringify(sent)).not.toMatch(/secret|meta-data/);
  });

  it('that an operator listed is called, and no other port of it', async () => {
    const [listed, other] = [await web((_q, r) => r.end('ok')), await web((_q, r) => r.end('no'))];
    const http = httpFor([listed]);
    expect(text(await http.send(get(listed.url)))).toBe('ok');
    expect(fault(await http.send(get(other.url)))).toBe('refused_address');
    expect(other.requests).toHaveLength(0);
  });
});

describe('a redirect', () => {
  it('is followed at most five times', async () => {
    const server = await web(({ url = '' }, response) => {
      const left = Number(url.slice(1));
      if (left === 0) response.end('there');
      else response.writeHead(302, { Location: `/${left - 1}` }).end();
    });
    const http = httpFor([server]);
    expect(text(await http.send(get(`${server.url}/5`)))).toBe('there');
    expect(fault(await http.send(get(`${server.url}/6`)))).toBe('unavailable');
    expect(server.requests).toHaveLength(12);
  });

  it('in a circle ends', async () => {
    const server = await web((_request, response) => response.writeHead(301, { Location: '/' }).end());
    expect(fault(await httpFor([server]).send(get(server.url)))).toBe('unavailable');
    expect(server.requests).toHaveLength(6);
  });

  it('to a private address is refused', async () => {
    const target = await web((_request, response) => response.end('secret'));
    const server = await web((_request, response) => {
      response.writeHead(302, { Location: `${target.url}/?token=abc` }).end();
    });
    const sent = await httpFor([server]).send(get(server.url));
    expect(fault(sent)).toBe('refused_address');
    expect(JSON.stringify(sent)).not.toContain('abc');
    expect(target.requests).toHaveLength(0);
  });

  it('from a public address to a listed private one is refused', async () => {
    const target = await web((_request, response) => response.end('secret'));
    const server = await web((_request, response) => response.writeHead(302, { Location: target.url }).end());
    // Only the first server's address counts as public here.
    const http = httpFor([target], { isPublic: () => false });
    expect(fault(await http.send(get(server.url)))).toBe('refused_address');
    const asPublic = httpFor([target], { isPublic: counting(1) });
    expect(fault(await asPublic.send(get(server.url)))).toBe('refused_address');
    expect(target.requests).toHaveLength(0);
  });

  it('to another origin loses what may be a credential, and keeps the user agent', async () => {
    const target = await web((_request, response) => response.end('there'));
    const server = await web(({ url }, response) => {
      response.writeHead(302, { Location: url === '/' ? '/same' : `${target.url}/` }).end();
    });
    const headers = { Authorization: 'Token t', 'X-Api-Key': 'k', Accept: 'application/json' };
    expect(text(await httpFor([server, target]).send(get(server.url, { headers })))).toBe('there');
    expect(server.requests[1]?.headers).toMatchObject({ authorization: 'Token t', 'x-api-key': 'k' });
    expect(target.requests[0]?.headers).toMatchObject({ accept: 'application/json', 'user-agent': USER_AGENT });
    expect(target.requests[0]?.headers).not.toHaveProperty('authorization');
    expect(target.requests[0]?.headers).not.toHaveProperty('x-api-key');
  });
});

/** Addresses count as public for the first calls only. */
function counting(calls: number): () => boolean {
  let left = calls;
  return () => left-- > 0;
}
