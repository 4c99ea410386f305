/** What `docket query` does when the connection breaks after the payment was sent: it pays for no answer twice. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request as ask, createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import type { Keypair } from '@solana/web3.js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/command.ts';
import { AnswerLost, persistentFetch } from '../../../src/cli/query/persistent-fetch.ts';
import { PAYMENT_HEADERS } from '../../../src/http/x402/payment-header.ts';
import { openWorld, type World } from '../../payments/world.ts';
import { docketInProcess } from '../../support/docket-in-process.ts';
import { DOCKET, freePort } from '../../support/processes.ts';
import { answersByOwnRoutes } from '../../support/watched-answers.ts';

type Cut = 'before the service sees it' | 'once the service has answered' | 'in the middle of the answer';
const CUTS: readonly Cut[] = [
  'before the service sees it',
  'once the service has answered',
  'in the middle of the answer',
];

let world: World;
let directory: string;
const proxies: Server[] = [];
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'query-lost-'));
  world = await openWorld({
    answer: async (caseId, call) => ({
      body: Buffer.from(
        JSON.stringify({
          meta: { request_id: call.requestId, queried_at: '2026-03-02T10:00:00.000000Z', query_cost_usd: call.costUsd },
          case: { case_number: caseId, case_name: null, court_name: 'Sample Court' },
        }),
      ),
      answeredCases: 1,
    }),
  });
});
afterEach(() => {
  for (const proxy of proxies.splice(0)) proxy.close();
});
afterAll(async () => {
  await world.close();
  await rm(directory, { recursive: true, force: true });
});

/** A proxy in front of the service that breaks the connection of the first `times` requests with a payment. */
async function breaking(cut: Cut, times = 1): Promise<string> {
  let left = times;
  const proxy = createServer(async (request, response) => {
    const breaks = PAYMENT_HEADERS.some((name) => request.headers[name]) && left-- > 0;
    if (breaks && cut === 'before the service sees it') return request.socket.destroy();
    const { method, url, headers } = request;
    const onward = ask(world.url + url, { method, headers }, async (answer) => {
      const body = await buffer(answer);
      if (breaks && cut === 'once the service has answered') return response.socket?.destroy();
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      if (!breaks) return response.end(body);
      response.write(body.subarray(0, body.length / 2), () => response.socket?.destroy());
    });
    request.pipe(onward);
  });
  answersByOwnRoutes(proxy);
  proxies.push(proxy);
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

/** A proxy in front of the service that changes what was bought. */
async function spoiling(spoil: { receipt?: string; body?: string }): Promise<string> {
  const proxy = createServer((request, response) => {
    const { method, url, headers } = request;
    const onward = ask(world.url + url, { method, headers }, async (answer) => {
      const body = await buffer(answer);
      const { receipt } = spoil;
      const bought = answer.statusCode === 200;
      const said = bought && receipt ? { 'payment-response': receipt, 'x-payment-response': receipt } : {};
      const { 'content-length': _, ...kept } = answer.headers;
      response.writeHead(answer.statusCode ?? 500, { ...kept, ...said }).end(bought ? (spoil.body ?? body) : body);
    });
    request.pipe(onward);
  });
  answersByOwnRoutes(proxy);
  proxies.push(proxy);
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

async function query(wallet: Keypair, url: string, ...more: readonly string[]) {
  const file = join(directory, `${wallet.publicKey.toBase58()}.json`);
  await writeFile(file, JSON.stringify([...wallet.secretKey]));
  const which = ['--court-code', 'cand', '--case-id', '3:24-cv-01234', '--keypair', file];
  const argv = ['query', ...which, '--url', url, '--rpc-url', world.rpcUrl, '--json', ...more];
  return docketInProcess(argv, { DATA_DIR: join(directory, 'data') });
}

/** The real command; its stdout is a file or a pipe. */
async function queryInto(stdout: number | 'unread pipe', wallet: Keypair) {
  const file = join(directory, `${wallet.publicKey.toBase58()}.json`);
  await writeFile(file, JSON.stringify([...wallet.secretKey]));
  const which = ['--court-code', 'cand', '--case-id', '3:24-cv-01234', '--keypair', file];
  const named = ['--payment-id', 'a-name-for-one-call'];
  const child = spawn(
    process.execPath,
    [DOCKET, 'query', ...which, ...named, '--url', world.url, '--rpc-url', world.rpcUrl],
    {
      env: { ...process.env, NODE_ENV: 'test', DATA_DIR: join(directory, 'data') },
      stdio: ['ignore', stdout === 'unread pipe' ? 'pipe' : stdout, 'pipe'],
    },
  );
  child.stdout?.destroy();
  const said = text(child.stderr as Readable);
  const [code] = await once(child, 'close');
  return { code, said: await said };
}

describe('docket query, if its answer cannot be written', () => {
  it('to a full disk: says what was paid and where to fetch the answer', async () => {
    const wallet = await world.wallet();
    const full = openSync('/dev/full', 'w');
    const { result, spent } = await world.moved(wallet, () => queryInto(full, wallet));
    closeSync(full);
    expect([result.code, spent]).toEqual([EXIT.unavailable, 990_000n]);
    expect(result.said).toMatch(UNWRITTEN('ENOSPC'));
  });

  it('to a reader that has left: says what was paid and where to fetch the answer', async () => {
    const wallet = await world.wallet();
    const { result, spent } = await world.moved(wallet, () => queryInto('unread pipe', wallet));
    expect([result.code, spent]).toEqual([EXIT.unavailable, 990_000n]);
    expect(result.said).toMatch(UNWRITTEN('EPIPE'));
  });
});

const UNWRITTEN = (code: string) =>
  new RegExp(
    `^The answer was paid for, but could not be written: .*${code}.*\\nFetch it again for free at http\\S+/v2/results/\\S+\\n` +
      'Transaction [1-9A-HJ-NP-Za-km-z]{80,}, payment id a-name-for-one-call\\n$',
  );

describe('docket query, if the connection breaks', () => {
  it.each(CUTS)('in dialect v2, %s: pays once and gets its answer', async (cut) => {
    const wallet = await world.wallet();
    const url = await breaking(cut);
    const { result, spent } = await world.moved(wallet, () => query(wallet, url));
    expect([result.code, spent]).toEqual([EXIT.ok, 990_000n]);
    expect(JSON.parse(result.out).answer.case.case_number).toBe('3:24-cv-01234');
    expect(result.err).toContain('retrying with the same payment');
  });

  it.each(['v1', 'self'])(
    'in dialect %s, before the service sees it: pays once and gets its answer',
    async (dialect) => {
      const wallet = await world.wallet();
      const url = await breaking('before the service sees it');
      const { result, spent } = await world.moved(wallet, () => query(wallet, url, '--dialect', dialect));
      expect([result.code, spent]).toEqual([EXIT.ok, 990_000n]);
    },
  );

  it.each(['v1', 'self'])('in dialect %s, after the answer: pays once and says what is lost', async (dialect) => {
    const wallet = await world.wallet();
    const url = await breaking('once the service has answered');
    const { result, spent } = await world.moved(wallet, () => query(wallet, url, '--dialect', dialect));
    expect([result.code, spent]).toEqual([EXIT.found, 990_000n]);
    const { error } = JSON.parse(result.out);
    expect(error).toMatchObject({ code: 'payment_already_used', hint: expect.stringContaining('--dialect v2') });
    expect(error.message).toContain(error.details.transaction);
    expect(await world.chain.signatureStatus(error.details.transaction)).toMatchObject({ error: null });
  });

  it('gets the same answer with the same payment id, however often it repeats, and pays once', async () => {
    const wallet = await world.wallet();
    const { result, spent } = await world.moved(wallet, async () => {
      const runs = [];
      for (let i = 0; i < 3; i++) runs.push(await query(wallet, world.url, '--payment-id', 'one-call-of-an-agent'));
      return runs.map(({ code, out }) => [code, JSON.parse(out).transaction]);
    });
    expect(spent).toBe(990_000n);
    expect(new Set(result.map(([, transaction]) => transaction)).size).toBe(1);
    expect(result.map(([code]) => code)).toEqual([EXIT.ok, EXIT.ok, EXIT.ok]);
  });
});

describe('docket query, if an intermediary changes the answer', () => {
  it.each(['v2', 'v1', 'self'])('in dialect %s gives what was paid for, whatever the receipt says', async (dialect) => {
    for (const receipt of ['junk', Buffer.from('[]').toString('base64')]) {
      const url = await spoiling({ receipt });
      const { code, out, err } = await query(await world.wallet(), url, '--dialect', dialect);
      expect([code, err]).toEqual([EXIT.ok, '']);
      expect(JSON.parse(out)).toMatchObject({ charged_usd: 0.99, result_url: expect.stringContaining('/v2/results/') });
    }
  });

  it.each(['', '<html>', '{}', 'null'])('says what was paid, and where the answer is kept: %j', async (body) => {
    const { code, out, err } = await query(await world.wallet(), await spoiling({ body }));
    expect(code).toBe(EXIT.unavailable);
    expect(err).not.toContain('Unexpected');
    const { error } = JSON.parse(out);
    const kept = await fetch(error.result_url);
    expect([kept.status, error.transaction]).toEqual([200, expect.stringMatching(/^\w{80,}$/)]);
  });
});

describe('persistentFetch', () => {
  const briefly = (onRepeat = () => {}) => persistentFetch({ patienceMs: 300, pauseMs: 50, onRepeat });
  const paid = { headers: { 'x-payment': 'a payment' } };

  it('makes requests without a payment only once', async () => {
    let asked = 0;
    const server = createServer((request) => {
      asked++;
      request.socket.destroy();
    });
    proxies.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await expect(briefly()(url)).rejects.not.toBeInstanceOf(AnswerLost);
    expect(asked).toBe(1);
    await expect(briefly()(url, paid)).rejects.toBeInstanceOf(AnswerLost);
    expect(asked).toBeGreaterThan(2);
  });

  it('reports no lost answer if no connection was ever made', async () => {
    await expect(briefly()(`http://127.0.0.1:${await freePort()}`, paid)).rejects.not.toBeInstanceOf(AnswerLost);
  });
});
