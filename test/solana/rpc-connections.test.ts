import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type EndpointFailure, HttpRefusal, RpcConnections } from '../../src/solana/rpc-connections.ts';

const open: { close(): unknown }[] = [];
afterEach(() => {
  vi.useRealTimers();
  for (const each of open.splice(0)) each.close();
});

/** A server, and the connections to it. */
async function facing(
  listener: Parameters<typeof createServer>[1] & {},
  { host = '127.0.0.1', path = '/', user = '' } = {},
) {
  const server: Server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  const name = host.includes(':') ? `[${host}]` : host;
  const connections = new RpcConnections(`http://${user}${name}:${port}${path}`);
  open.push(connections, {
    close() {
      server.close();
      server.closeAllConnections();
    },
  });
  return { server, connections, port };
}

const failureOf = (posted: Promise<unknown>) =>
  posted.then(
    () => null,
    (error: unknown) => error as EndpointFailure,
  );

describe('a post', () => {
  it('sends its bytes as JSON, with path, query and password of the URL, which no label contains', async () => {
    const { connections, port } = await facing(
      (request, response) => {
        const { method, url, headers } = request;
        const parts: Buffer[] = [];
        request.on('data', (part: Buffer) => parts.push(part));
        request.on('end', () => {
          const told = [method, url, headers['content-type'], headers.authorization, String(Buffer.concat(parts))];
          response.end(JSON.stringify(told));
        });
      },
      { path: '/key?api=k%20y', user: 'me:p%40ss@' },
    );
    const password = `Basic ${Buffer.from('me:p@ss').toString('base64')}`;
    const told = ['POST', '/key?api=k%20y', 'application/json', password, '"é"'];
    expect(JSON.parse(await connections.post('"é"', 5_000))).toEqual(told);
    expect(connections.label).toBe(`127.0.0.1:${port}`);
  });

  it('reaches an IPv6 address', async () => {
    const { connections, port } = await facing((_request, response) => response.end('here'), { host: '::1' });
    expect(await connections.post('{}', 5_000)).toBe('here');
    expect(connections.label).toBe(`[::1]:${port}`);
  });

  it('reuses a connection, and retries once if it had just been closed', async () => {
    let sockets = 0;
    const { server, connections } = await facing((request, response) => {
      request.resume();
      request.on('end', () => response.end('answer'));
    });
    server.on('connection', () => {
      sockets++;
    });
    for (let i = 0; i < 3; i++) expect(await connections.post('{}', 5_000)).toBe('answer');
    expect(sockets).toBe(1);
    // This end learns of it only when it uses the connection.
    server.closeAllConnections();
    expect(await connections.post('{}', 5_000)).toBe('answer');
    expect(sockets).toBe(2);
  });

  it('is not retried forever if every connection is cut', async () => {
    let requests = 0;
    const { connections } = await facing((request, response) => {
      if (requests++ === 0) response.end('answer');
      else request.socket.destroy();
    });
    await connections.post('{}', 5_000);
    expect(await failureOf(connections.post('{}', 5_000))).toMatchObject({
      message: 'ECONNRESET',
      mayHaveHappened: true,
    });
    expect(requests).toBe(3);
  });

  it('gets no extra time for the retry', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    let requests = 0;
    const { connections } = await facing((request, response) => {
      requests++;
      if (requests === 1) return response.end('answer');
      if (requests > 2) return;
      vi.advanceTimersByTime(700);
      request.socket.destroy();
    });
    await connections.post('{}', 800);
    expect((await failureOf(connections.post('{}', 800)))?.message).toMatch(/^no answer within 10[01] ms$/);
  });
});

describe('a failure', () => {
  it.each([
    [301, undefined, { mayHaveHappened: false, retryAfterMs: null }],
    [404, undefined, { mayHaveHappened: false, retryAfterMs: null }],
    [429, '20', { mayHaveHappened: false, retryAfterMs: 20_000 }],
    [429, '-1', { mayHaveHappened: false, retryAfterMs: null }],
    [429, 'Wed, 21 Oct 2026 07:28:00 GMT', { mayHaveHappened: false, retryAfterMs: null }],
    [503, '0', { mayHaveHappened: true, retryAfterMs: 0 }],
  ])('reports the status %i and Retry-After %s', async (status, after, told) => {
    const { connections } = await facing((_request, response) => {
      response.writeHead(status, after === undefined ? {} : { 'retry-after': after }).end('{"secret":1}');
    });
    const failure = await failureOf(connections.post('{}', 5_000));
    expect(failure).toBeInstanceOf(HttpRefusal);
    expect(failure).toMatchObject({ status, message: `HTTP status ${status}`, ...told });
  });

  it('reports whether anything was sent', async () => {
    const { server, connections } = await facing((_request, response) => response.end());
    await new Promise((resolve) => server.close(resolve));
    expect(await failureOf(connections.post('{}', 5_000))).toMatchObject({
      message: 'ECONNREFUSED',
      mayHaveHappened: false,
    });
  });

  it('is noticed in time, before an answer or in the middle of one', async () => {
    for (const begins of [false, true]) {
      const { connections } = await facing((_request, response) => {
        if (begins) response.write('{');
      });
      const failure = await failureOf(connections.post('{}', 100));
      expect(failure).toMatchObject({ message: 'no answer within 100 ms', mayHaveHappened: true });
    }
  });

  it('includes an answer that is truncated or too large', async () => {
    const { connections: cut } = await facing((_request, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('{', () => response.destroy());
    });
    expect(await failureOf(cut.post('{}', 5_000))).toMatchObject({ message: 'the answer was cut off' });
    const { connections: large } = await facing((_request, response) => {
      response.end(Buffer.alloc(16 * 1024 * 1024 + 1, 32));
    });
    expect(await failureOf(large.post('{}', 10_000))).toMatchObject({ message: 'the answer is too large' });
  });
});

describe('closing', () => {
  it('ends what is running and what waits for a connection, and sends nothing more', async () => {
    let requests = 0;
    const { connections } = await facing(() => {
      requests++;
    });
    // More than there are connections.
    const posted = Array.from({ length: 300 }, () => failureOf(connections.post('{}', 10_000)));
    while (requests < 256) await new Promise((resolve) => setTimeout(resolve, 5));
    connections.close();
    const closed = { message: 'the connection to the chain is closed' };
    for (const failure of await Promise.all(posted)) expect(failure).toMatchObject(closed);
    expect(await failureOf(connections.post('{}', 5_000))).toMatchObject({ ...closed, mayHaveHappened: false });
    expect(requests).toBe(256);
  });
});
