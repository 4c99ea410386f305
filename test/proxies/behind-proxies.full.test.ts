/**
 * Given the service behind a third-party proxy with that proxy's default settings: no request of one caller disrupts
 * the service for another, no answer of one reaches another, and no caller pays twice.
 */
import { connect, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAnswer, rawRequest, sendRaw } from '../http/raw-request.ts';
import { SECRET_CASE_ID, SECRET_DOCKET } from '../http/refused.ts';
import { openWorld, type World } from '../http/world.ts';
import { freePort } from '../support/processes.ts';
import { isInstalled, type ProxyName, type RunningProxy, startProxy } from './proxies.ts';

const CASE = `/v2/case?court_code=cand&case_id=${SECRET_CASE_ID}`;
const NAMES: readonly ProxyName[] = ['nginx', 'nginxCached', 'haproxy', 'varnish'];
/** CI has all of them: `.ci/run` installs them. */
const missing = (name: ProxyName) => !isInstalled(name) && process.env.CI === undefined;

let world: World;
beforeAll(async () => {
  world = await openWorld();
  await world.importDocket(SECRET_DOCKET);
});
afterAll(() => world.close());

describe.each(NAMES)('behind %s', (name) => {
  describe.skipIf(missing(name))('as Debian has it', () => {
    let proxy: RunningProxy;
    beforeAll(async () => {
      proxy = await startProxy(name, [world.port]);
    });
    afterAll(() => proxy?.close());

    const status = async () => (await fetch(`http://127.0.0.1:${proxy.port}/v2/status`)).status;

    it.each([
      ['413', 'POST', '/v2/cases/batch', 'application/json', 900_000],
      ['413 of MCP', 'POST', '/v2/mcp', 'application/json', 900_000],
      ['404', 'POST', '/nowhere', 'text/plain', 900_000],
      ['405', 'PUT', '/v2/case', 'text/plain', 900_000],
      ['415', 'POST', '/v2/cases/batch', 'text/plain', 900_000],
    ])('twenty rejected bodies (%s) fail no other caller', async (_what, method, path, type, size) => {
      const body = 'x'.repeat(size);
      const refusals = Array.from({ length: 20 }, async () => {
        const answer = await fetch(`http://127.0.0.1:${proxy.port}${path}`, {
          method,
          body,
          headers: { 'content-type': type },
        });
        await answer.text();
        return answer.status;
      });
      const others = Array.from({ length: 20 }, status);
      const refused = new Set(await Promise.all(refusals));
      expect([...refused].every((each) => [404, 405, 413, 415].includes(each))).toBe(true);
      expect(new Set(await Promise.all(others))).toEqual(new Set([200]));
      expect(await status()).toBe(200);
    });

    it.each([
      ['413', '/v2/cases/batch'],
      ['404', '/nowhere'],
    ])('neither does a chunked body (%s)', async (expected, path) => {
      const block = `3e80\r\n${'x'.repeat(16_000)}\r\n`;
      for (let round = 0; round < 8; round++) {
        const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`;
        const answer = parseAnswer(await sendRaw(proxy.port, `${head}${block.repeat(50)}0\r\n\r\n`));
        expect(answer.status).toBe(Number(expected));
        expect(await status()).toBe(200);
      }
    });

    it('a rejected body whose caller disconnects fails no other caller', async () => {
      for (let round = 0; round < 8; round++) {
        const socket = connect(proxy.port, '127.0.0.1').on('error', () => {});
        const head =
          'POST /v2/cases/batch HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 900000\r\n\r\n';
        await new Promise((sent) => socket.write(head + 'x'.repeat(300_000), sent));
        socket.destroy();
      }
      expect(await status()).toBe(200);
    });

    it('Expect: 100-continue ends in an answer', async () => {
      const body = JSON.stringify({ queries: [{ court_code: 'cand', case_id: SECRET_CASE_ID }] });
      const head = (length: number) =>
        `POST /v2/cases/batch HTTP/1.1\r\nhost: x\r\nconnection: close\r\nexpect: 100-continue\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
      const answer = await sendRaw(proxy.port, head(body.length) + body);
      expect(answer).toMatch(/HTTP\/1\.1 402 /);
      expect(await sendRaw(proxy.port, head(300_000) + 'x'.repeat(300_000))).toMatch(/HTTP\/1\.1 413 /);
      expect(await status()).toBe(200);
    });

    it('HTTP/1.0 without a Host is answered', async () => {
      const answer = await sendRaw(proxy.port, 'GET /v2/status HTTP/1.0\r\n\r\n');
      expect(answer).toMatch(/^HTTP\/1\.[01] 200 /);
    });

    it('a kept connection works for the next request', async () => {
      const one = 'GET /v2/nothing HTTP/1.1\r\nhost: x\r\n\r\n';
      const last = 'GET /v2/status HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';
      const answer = await sendRaw(proxy.port, one + one + last);
      expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404', 'HTTP/1.1 404', 'HTTP/1.1 200']);
    });

    it('every caller gets separate terms, and no cache keeps them or what was paid for', async () => {
      const ask = () => rawRequest(proxy.port, CASE);
      const [first, second] = [await ask(), await ask()];
      expect([first.status, second.status]).toEqual([402, 402]);
      expect(first.json.meta.request_id).not.toBe(second.json.meta.request_id);
      expect(first.headers.get('payment-required')).not.toBe(second.headers.get('payment-required'));
      const before = await world.received();
      const agent = await world.agent();
      const paid = await agent(`http://127.0.0.1:${proxy.port}${CASE}`);
      expect(paid.status).toBe(200);
      expect(paid.headers.get('cache-control')).toContain('no-store');
      const third = await ask();
      expect(third.status).toBe(402);
      expect(third.text).not.toContain(SECRET_DOCKET.case_name ?? 'case_status');
      expect(await world.received()).toBe(before + 990_000n);
    });

    it('sandbox answers are made for each caller', async () => {
      const ask = async (tag: string) =>
        rawRequest(proxy.port, `${CASE}&test=1`, { headers: { 'x-service-tag': tag } });
      const [one, other] = [await ask('one'), await ask('other')];
      expect([one.json.meta.tag, other.json.meta.tag]).toEqual(['one', 'other']);
    });
  });
});

describe.skipIf(missing('nginx'))('nginx that repeats a request at the next node', () => {
  /** A node that does what it is asked and disconnects before the answer. */
  async function losingNode(port: number): Promise<{ server: Server; requests: () => number }> {
    let requests = 0;
    const server = createServer((socket) => {
      const node = connect(world.port, '127.0.0.1');
      socket.on('error', () => {}).pipe(node);
      node
        .on('error', () => {})
        .once('data', () => {
          requests++;
          socket.destroy();
          node.destroy();
        });
    });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    return { server, requests: () => requests };
  }

  it.each([
    ['GET', CASE, undefined],
    ['POST', '/v2/cases/batch', { queries: [{ court_code: 'cand', case_id: SECRET_CASE_ID }] }],
  ])('charges one payment for a %s whose answer was lost', async (method, path, body) => {
    const port = await freePort();
    // `max_fails` would exclude the losing node after its first failure, before the payment comes.
    const proxy = await startProxy('nginx', [world.port], {
      location: 'proxy_next_upstream error timeout non_idempotent;',
    });
    const lost = await losingNode(port);
    const retrying = await startProxy('nginx', [port, world.port], {
      location: 'proxy_next_upstream error timeout non_idempotent;',
    });
    try {
      const before = await world.received();
      const wallet = await world.wallet();
      const terms = `http://127.0.0.1:${proxy.port}${path}`;
      const through = async (input: string | URL | Request, init?: RequestInit) => {
        const request = new Request(input, init);
        const isPaid = [...request.headers.keys()].some((key) => key === 'payment-signature' || key === 'x-payment');
        const target = isPaid ? request.url.replace(`:${proxy.port}`, `:${retrying.port}`) : request.url;
        return fetch(target, {
          method,
          headers: request.headers,
          ...(method === 'POST' && { body: await request.text() }),
        });
      };
      const agent = await world.agentOf(wallet, through as typeof fetch);
      const answer = await agent(terms, {
        method,
        ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      });
      await answer.text();
      expect(lost.requests()).toBeGreaterThan(0);
      expect([200, 409]).toContain(answer.status);
      expect(await world.received()).toBe(before + 990_000n);
      expect(await world.balance(wallet)).toBe(20_000_000n - 990_000n);
    } finally {
      await retrying.close();
      await proxy.close();
      lost.server.close();
    }
  });
});
