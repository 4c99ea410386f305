/**
 * The attack: request answers on many connections and never read one. What is written but not read stays in memory, so
 * memory is checked for every address of the route table, over REST and MCP, with one request per connection and with
 * many pipelined.
 */
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type CloseReason, UNREAD_LIMITS, type UnreadLimits } from '../../src/http/unread-answers.ts';
import { startFreeService } from './free-service.ts';

const KIBIBYTE = 1024;
const LIMITS: UnreadLimits = {
  perAddress: 6_000 * KIBIBYTE,
  inAll: 9_000 * KIBIBYTE,
  patienceMs: 400,
  leastBytes: 16 * KIBIBYTE,
};
/** The largest free answer; one connection may always have one answer, regardless of its size. */
const LARGEST_FREE_ANSWER = 6_500 * KIBIBYTE;
const CONNECTIONS = 8;
const AHEAD = 60;

let service: Awaited<ReturnType<typeof startFreeService>>;
let pending: () => number = () => 0;
let closed: CloseReason[] = [];
let most = 0;
const sockets: Socket[] = [];

beforeAll(async () => {
  service = await startFreeService({
    unreadLimits: LIMITS,
    metrics: {
      watchUnread: (read) => {
        pending = read;
      },
      requestAnswered: () => undefined,
      toolCalled: () => undefined,
      unreadClosed: (reason) => {
        closed.push(reason);
      },
    },
  });
});
afterAll(() => service.close());
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  closed = [];
  most = 0;
});

const watch = (): void => {
  most = Math.max(most, pending());
};

/** Sends, and reads nothing of the answer; resolves once everything is sent. */
async function sendUnread(request: string, localAddress = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port: service.port, host: '127.0.0.1', localAddress }).on('error', () => {});
  socket.pause();
  sockets.push(socket);
  await new Promise<void>((sent) => {
    socket.once('close', () => sent());
    socket.write(request, () => sent());
  });
  watch();
  return socket;
}

const head = (line: string, ...headers: string[]) => [`${line} HTTP/1.1`, 'host: x', ...headers, '', ''].join('\r\n');
const withBody = (line: string, body: object | string) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return head(line, 'content-type: application/json', `content-length: ${Buffer.byteLength(text)}`) + text;
};

const LARGE = { court_code: 'jpml', case_id: 'MDL 3047', context: 'full' };
const QUERIES = Array.from({ length: 50 }, () => LARGE);
const mcp = (method: string, params?: object) => ({ jsonrpc: '2.0', id: 1, method, params });

/**
 * The request that gets the largest unpaid answer from an address; an address that is not listed is requested as is.
 */
const LARGEST: Readonly<Record<string, string>> = {
  'GET /v2/case': head('GET /v2/case?test=1&court_code=jpml&case_id=MDL%203047&context=full'),
  'GET /v2/monitor': head(
    'GET /v2/monitor?test=1&court_code=cand&case_id=3:24-cv-01234&last_checked=2026-05-01T00:00:00Z',
  ),
  'POST /v2/cases/batch': withBody('POST /v2/cases/batch?test=1', { queries: QUERIES }),
  'POST /v2/mcp': withBody(
    'POST /v2/mcp?test=1',
    mcp('tools/call', { name: 'service_case_batch', arguments: { queries: QUERIES } }),
  ),
  'POST /v2/mcp/': withBody('POST /v2/mcp/', mcp('tools/list')),
};

function everyRoute(table: ReadonlyMap<string, ReadonlySet<string>>): readonly (readonly [string, string])[] {
  return [...table].flatMap(([pattern, methods]) =>
    [...methods].map((method) => {
      const path = pattern.replaceAll(/:\w+/g, '00000000-0000-4000-8000-000000000000');
      const request = method === 'POST' ? withBody(`POST ${path}?test=1`, {}) : head(`${method} ${path}?test=1`);
      return [`${method} ${pattern}`, LARGEST[`${method} ${pattern}`] ?? request] as const;
    }),
  );
}

it('bounds the memory for each address of the route table, and still answers other clients', async () => {
  const routes = everyRoute(service.app.routeTable.all());
  for (const name of Object.keys(LARGEST))
    if (name !== 'POST /v2/mcp/') expect(routes.map(([each]) => each)).toContain(name);
  for (const [name, request] of routes) {
    most = 0;
    await Promise.all(Array.from({ length: CONNECTIONS }, () => sendUnread(request.repeat(AHEAD))));
    const other = await fetch(`${service.url}/v2/status`);
    expect([name, other.status, (await other.arrayBuffer()).byteLength > 0]).toEqual([name, 200, true]);
    // What fits into the system's buffers uses no memory of ours; all else is closed.
    await vi.waitFor(
      () => {
        watch();
        expect([name, pending()]).toEqual([name, 0]);
      },
      { timeout: 20_000, interval: 20 },
    );
    expect(most, name).toBeLessThan(LIMITS.perAddress + LARGEST_FREE_ANSWER);
    for (const socket of sockets.splice(0)) socket.destroy();
  }
}, 280_000);

describe('batches of the MCP sandbox, never read', () => {
  const request = LARGEST['POST /v2/mcp'] as string;

  it('are limited per address, and those that read the least are closed', async () => {
    for (let i = 0; i < CONNECTIONS; i++) await sendUnread(request);
    await vi.waitFor(() => expect(closed.length).toBeGreaterThanOrEqual(CONNECTIONS - 2), { timeout: 20_000 });
    expect(closed[0]).toBe('address');
    expect(most).toBeLessThanOrEqual(LIMITS.perAddress + LARGEST_FREE_ANSWER);
    await vi.waitFor(() => expect([pending(), closed.length]).toEqual([0, CONNECTIONS]), { timeout: 20_000 });
  });

  it('hold no more for all addresses together than the overall bound', async () => {
    for (let i = 0; i < CONNECTIONS; i++) await sendUnread(request, `127.0.0.${i + 2}`);
    await vi.waitFor(() => expect(closed).toContain('total'), { timeout: 20_000 });
    expect(most).toBeLessThanOrEqual(LIMITS.inAll + LARGEST_FREE_ANSWER);
    await vi.waitFor(() => expect([pending(), closed.length]).toEqual([0, CONNECTIONS]), { timeout: 20_000 });
  });

  it('are answered one after the other if they are pipelined', async () => {
    await sendUnread(request.repeat(20));
    await vi.waitFor(() => expect(pending()).toBeGreaterThan(0), { timeout: 20_000 });
    watch();
    expect(most).toBeLessThanOrEqual(LARGEST_FREE_ANSWER);
  });
});

it('closes a connection that pipelines hundreds of requests', async () => {
  await sendUnread(head('GET /v2/nothing').repeat(2_000));
  await vi.waitFor(() => expect(closed).toEqual(['pipelined']), { timeout: 20_000 });
});

it('sends every byte to a client that pipelines a few requests and reads slowly', async () => {
  const patient = await startFreeService({ unreadLimits: { ...LIMITS, patienceMs: 30_000 } });
  try {
    const path = '/v2/case?test=1&court_code=jpml&case_id=MDL%203047&context=full';
    const whole = await (await fetch(patient.url + path)).text();
    const ahead = 5;
    const socket = connect(patient.port, '127.0.0.1');
    let received = 0;
    socket.write(LARGEST['GET /v2/case']?.repeat(ahead) ?? '');
    for await (const part of socket) {
      received += part.length;
      if (received >= ahead * Buffer.byteLength(whole)) break;
      await new Promise((later) => setTimeout(later, 5));
    }
    expect(received).toBeGreaterThanOrEqual(ahead * Buffer.byteLength(whole));
  } finally {
    await patient.close();
  }
});

it('the bounds in use let the largest answer through, and any client that reads at all', () => {
  expect(UNREAD_LIMITS.perAddress).toBeGreaterThan(2 * 26 * 1024 * KIBIBYTE);
  expect(UNREAD_LIMITS.inAll).toBeGreaterThanOrEqual(4 * UNREAD_LIMITS.perAddress);
  expect(UNREAD_LIMITS.leastBytes / (UNREAD_LIMITS.patienceMs / 1_000)).toBeLessThan(1_000);
});
