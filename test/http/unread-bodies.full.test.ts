/**
 * Given a request that is answered before its body was read: the caller gets the whole answer, never a reset, which a
 * proxy would count as a failed server.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildAdminApp } from '../../src/http/admin/admin-app.ts';
import { createMetrics } from '../../src/http/admin/metrics/metrics.ts';
import { lingering } from '../../src/http/linger.ts';
import { parseAnswer } from './raw-request.ts';
import { listen, service, silent } from './serving.ts';
import { openWorld, type World } from './world.ts';

const SIZE = 900_000;
const BODY = 'x'.repeat(SIZE);

let world: World;
let admin: FastifyInstance;
let adminPort: number;
beforeAll(async () => {
  world = await openWorld();
  admin = buildAdminApp({ service, logger: silent, health: () => ({}), metrics: createMetrics() });
  adminPort = await listen(admin);
});
afterAll(async () => {
  await admin.close();
  await world.close();
});

/** As a plain client does: sends the whole request, and only then begins to read. */
async function writeThenRead(port: number, head: string, body: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.pause();
  const failed = once(socket, 'error').then(([error]) => Promise.reject(error));
  failed.catch(() => {});
  const written = new Promise<void>((resolve) => socket.write(head + body, () => resolve()));
  await Promise.race([written, failed]);
  let text = '';
  socket.setEncoding('utf8').on('data', (part) => {
    text += part;
  });
  const ended = once(socket, 'end');
  socket.resume();
  await Promise.race([ended, failed]);
  socket.destroy();
  return text;
}

const sized = `content-length: ${SIZE}`;
const json = 'content-type: application/json';
const chunked = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;

const CASE = '/v2/case?court_code=cand&case_id=3:24-cv-00042';
const REFUSALS: readonly (readonly [number, string, readonly string[]])[] = [
  [402, `GET ${CASE}`, []],
  [402, 'GET /v1/case?court_code=cand&case_id=3:24-cv-00042', []],
  [402, 'GET /v2/wallet/keys', []],
  [402, 'GET /v2/wallet/deliveries', []],
  [400, 'GET /v2/case?nonsense=1', []],
  [200, `GET ${CASE}&test=1`, []],
  [200, 'GET /v2/status', []],
  [200, 'GET /v1/status', []],
  [404, 'POST /nowhere', []],
  [404, 'GET /v2/results/none', []],
  [405, 'POST /v2/case', []],
  [405, 'PUT /v2/cases/batch', [json]],
  [413, 'POST /v2/cases/batch', [json]],
  [413, 'POST /v2/wallet/keys', []],
  [415, 'POST /v2/cases/batch', ['content-type: text/plain']],
  [405, 'GET /v2/mcp', []],
  [403, 'POST /v2/mcp', [json, 'origin: https://elsewhere.example']],
  [413, 'POST /v2/mcp', [json]],
  [415, 'POST /v2/mcp', ['content-type: text/plain']],
  [200, 'GET /docs', []],
  [204, 'OPTIONS /v2/case', []],
];

describe.each([
  ['HTTP/1.0', [sized], BODY],
  ['HTTP/1.1', ['host: x', 'connection: close', sized], BODY],
  ['HTTP/1.1', ['host: x', 'connection: close', 'transfer-encoding: chunked'], chunked(BODY)],
] as const)('over %s with %j', (version, framing, body) => {
  it.each(REFUSALS)('%i %s', async (status, line, headers) => {
    const head = [`${line} ${version}`, ...framing, ...headers, '', ''].join('\r\n');
    const answer = parseAnswer(await writeThenRead(world.port, head, body));
    expect(answer.status).toBe(status);
    if (Number(answer.headers.get('content-length')) > 0 && !answer.headers.get('content-encoding')) {
      expect(Buffer.byteLength(answer.text)).toBe(Number(answer.headers.get('content-length')));
    }
  });

  it.each([
    [404, 'POST /nowhere'],
    [405, 'POST /readyz'],
    [200, 'GET /healthz'],
  ])('%i %s on the admin port', async (status, line) => {
    const head = [`${line} ${version}`, ...framing, '', ''].join('\r\n');
    expect(parseAnswer(await writeThenRead(adminPort, head, body)).status).toBe(status);
  });
});

it('400 for a request without a Host', async () => {
  const head = ['POST /v2/cases/batch HTTP/1.1', 'connection: close', sized, '', ''].join('\r\n');
  expect(parseAnswer(await writeThenRead(world.port, head, BODY)).status).toBe(400);
});

it('keeps an open connection usable for the next request after a rejected body', async () => {
  const head = ['POST /nowhere HTTP/1.1', 'host: x', sized, '', ''].join('\r\n');
  const next = 'GET /v2/status HTTP/1.0\r\n\r\n';
  const text = await writeThenRead(world.port, head, BODY + next);
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404', 'HTTP/1.1 200']);
});

describe('Expect: 100-continue', () => {
  const expecting = (line: string, length: number, ...more: string[]) =>
    [`${line} HTTP/1.1`, 'host: x', 'expect: 100-continue', `content-length: ${length}`, ...more, '', ''].join('\r\n');

  it.each([
    [413, 'POST /v2/cases/batch', [json]],
    [415, 'POST /v2/cases/batch', ['content-type: text/plain']],
    [404, 'POST /nowhere', []],
    [413, 'POST /v2/mcp', [json]],
  ])('gets %i for %s without a request for the body, and the end of the connection', async (status, line, headers) => {
    const answer = parseAnswer(await writeThenRead(world.port, expecting(line, SIZE, ...headers), ''));
    expect(answer.status).toBe(status);
    expect(answer.headers.get('connection')).toBe('close');
  });

  it('asks for a body that will be read, on a connection that stays open', async () => {
    const body = JSON.stringify({ queries: [{ court_code: 'cand', case_id: '3:24-cv-00042' }] });
    const socket = connect(world.port, '127.0.0.1');
    const parts = socket.setEncoding('utf8')[Symbol.asyncIterator]();
    socket.write(expecting('POST /v2/cases/batch', body.length, json));
    expect((await parts.next()).value).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write(body);
    const answer = parseAnswer(String((await parts.next()).value));
    expect([answer.status, answer.headers.get('connection')]).toEqual([402, 'keep-alive']);
    socket.destroy();
  });
});

describe('draining is limited', () => {
  const MAX_BYTES = 2_000_000;
  const open = async (bounds: { maxBytes: number; maxMs: number }): Promise<{ server: Server; port: number }> => {
    const { guard, answered } = lingering(bounds);
    const server = createServer((request, response) => {
      guard(request.socket, () => request);
      response.once('finish', () => answered(request.socket, request));
      response.end('refused');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { server, port: (server.address() as { port: number }).port };
  };
  const closed = async (socket: Socket): Promise<void> => {
    socket.on('error', () => {}).resume();
    await new Promise((resolve) => socket.once('close', resolve));
  };

  it.each(['close', 'keep-alive'])('by bytes (%s)', async (connection) => {
    const { server, port } = await open({ maxBytes: MAX_BYTES, maxMs: 60_000 });
    const socket = connect(port, '127.0.0.1');
    socket.write(`POST / HTTP/1.1\r\nhost: x\r\nconnection: ${connection}\r\ncontent-length: 1000000000\r\n\r\n`);
    const block = Buffer.alloc(64 * 1024);
    const pump = () => {
      while (!socket.destroyed && socket.write(block));
    };
    socket.on('drain', pump);
    pump();
    await closed(socket);
    expect(socket.bytesWritten).toBeGreaterThan(MAX_BYTES);
    server.close();
  });

  it.each(['close', 'keep-alive'])('by time (%s)', async (connection) => {
    const { server, port } = await open({ maxBytes: MAX_BYTES, maxMs: 200 });
    const socket = connect(port, '127.0.0.1');
    socket.write(`POST / HTTP/1.1\r\nhost: x\r\nconnection: ${connection}\r\ncontent-length: 10\r\n\r\n12345`);
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toContain('refused');
    await closed(socket);
    server.close();
  });
});
