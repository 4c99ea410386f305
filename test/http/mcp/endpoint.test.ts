import { describe, expect, it } from 'vitest';
import { createClientAddresses } from '../../../src/http/client-address.ts';
import type { Dispatch } from '../../../src/http/mcp/dispatch.ts';
import { mcpEndpoint } from '../../../src/http/mcp/endpoint.ts';
import type { OriginRules } from '../../../src/http/mcp/origins.ts';
import { makeServer } from '../../../src/http/server.ts';
import { until } from '../../payments/steering.ts';
import { listen, service, silent } from '../serving.ts';
import { post } from './client.ts';

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };
const NO_PAGES: OriginRules = { allowed: [], loopback: false };

const endpointWith = (dispatch: Dispatch = () => Buffer.from('{}'), origins = NO_PAGES) =>
  mcpEndpoint({ service, logger: silent, origins, clientAddresses: createClientAddresses(), dispatch });

/** Over a socket, handled before the routes. */
async function serving<T>(endpoint: ReturnType<typeof endpointWith>, work: (url: string) => Promise<T>): Promise<T> {
  const app = makeServer(service, silent, { answerEarly: endpoint.answerEarly });
  endpoint.register(app);
  const port = await listen(app);
  try {
    return await work(`http://127.0.0.1:${port}/v2/mcp`);
  } finally {
    await app.close();
  }
}

describe('the endpoint', () => {
  it('also answers through its routes, if it was not called early', async () => {
    const endpoint = endpointWith();
    const app = makeServer(service, silent);
    endpoint.register(app);
    for (const url of ['/v2/mcp', '/v2/mcp/']) {
      const answer = await app.inject({ method: 'POST', url, payload: PING });
      expect([answer.statusCode, answer.json()]).toEqual([200, { jsonrpc: '2.0', id: 1, result: {} }]);
    }
    await app.close();
  });

  it('leaves a request to the routes, which reject it, once the node is stopping', async () => {
    const endpoint = endpointWith();
    const app = makeServer(service, silent, { answerEarly: endpoint.answerEarly });
    endpoint.register(app);
    await app.ready();
    await app.close();
    const request = { method: 'POST', url: '/v2/mcp', headers: { host: 'x' } } as never;
    expect(endpoint.answerEarly(request, {} as never)).toBe(false);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('/secret/path');
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('/secret/path');
      },
    ],
  ] as const)('reveals nothing of an error if the dispatch %s', async (_how, dispatch) => {
    const { status, json, text } = await serving(endpointWith(dispatch), (url) => post(url, PING));
    expect([status, json.error.code]).toEqual([200, -32603]);
    expect(text).not.toContain('secret');
  });

  it('notifies the handler that the caller has disconnected', async () => {
    const seen: boolean[] = [];
    const caller = new AbortController();
    const dispatch: Dispatch = async (_request, { isAbandoned }) => {
      seen.push(isAbandoned());
      caller.abort();
      seen.push(await until(async () => isAbandoned(), Boolean));
      return Buffer.from('{}');
    };
    await serving(endpointWith(dispatch), async (url) => {
      const { signal } = caller;
      const headers = { 'content-type': 'application/json' };
      const call = fetch(url, { method: 'POST', headers, body: JSON.stringify(PING), signal });
      await expect(call).rejects.toThrow();
      await until(
        async () => seen.length,
        (length) => length === 2,
      );
    });
    expect(seen).toEqual([false, true]);
  });

  it.each([
    [NO_PAGES, 'http://localhost:6274', 403],
    [NO_PAGES, 'https://app.example', 403],
    [{ allowed: ['https://app.example'], loopback: false }, 'https://app.example', 200],
    [{ allowed: ['https://app.example'], loopback: false }, 'https://app.example.evil.example', 403],
    [{ allowed: ['https://app.example'], loopback: false }, 'http://app.example', 403],
    [{ allowed: ['*'], loopback: false }, 'https://anything.example', 200],
    [{ allowed: [], loopback: true }, 'http://localhost:6274', 200],
  ])('with %j answers a page of %s with %i', async (origins, origin, status) => {
    const answer = await serving(endpointWith(undefined, origins), (url) => post(url, PING, { origin }));
    expect(answer.status).toBe(status);
  });

  it('sends browsers the headers that they check, and programs those that they need', async () => {
    const [program, page] = await serving(endpointWith(undefined, { allowed: ['*'], loopback: false }), (url) =>
      Promise.all([post(url, PING), post(url, PING, { origin: 'https://app.example' })]),
    );
    expect(page.headers.get('access-control-allow-origin')).toBe('*');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(program.headers.get('access-control-allow-origin')).toBeNull();
    for (const { headers } of [program, page]) {
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    }
  });
});
