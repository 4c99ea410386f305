/** Thousands of randomly generated receivers; and the deadlines at their full length. */
import type { Socket } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOutbound, DEADLINE_MS } from '../../../src/callbacks/outbound/guarded-outbound.ts';
import { FailureClass } from '../../../src/events/failure-class.ts';
import { makeAuthority } from '../../support/certificates.ts';
import { startDnsServer } from '../../support/dns-server.ts';
import { BODY, dribbles, floods, startHostile } from './hostile.ts';

const RUNS = 25 * Number(process.env.KILLS ?? 20);
const SHORT_MS = 150;

/** Parts of responses, valid and broken. */
const pieces = fc.oneof(
  fc.constantFrom(
    'HTTP/1.1 200 OK\r\n',
    'HTTP/1.1 204 No Content\r\n\r\n',
    'HTTP/1.0 200 OK\r\n',
    'HTTP/1.1 500 No\r\n',
    'HTTP/1.1 304 Not Modified\r\n\r\n',
    'HTTP/1.1 100 Continue\r\n\r\n',
    'HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n',
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n',
    'HTTP/1.1 999 What\r\n',
    'HTTP/1.1 1',
    'HTTP/',
    'Content-Length: 5\r\n',
    'Content-Length: 99999999999999999999\r\n',
    'Content-Length: -1\r\n',
    'Transfer-Encoding: chunked\r\n',
    'Transfer-Encoding: gzip, chunked\r\n',
    'Connection: close\r\n',
    'Connection: keep-alive\r\n',
    'Connection: upgrade\r\nUpgrade: h2c\r\n',
    'Keep-Alive: timeout=5\r\n',
    'Keep-Alive: timeout=0\r\n',
    'Retry-After: 5\r\n',
    'Retry-After: 5\r\nRetry-After: 7\r\n',
    'Trailer: x\r\n',
    ': no name\r\n',
    ' folded\r\n',
    '\r\n',
    '\r\n\r\n',
    '\n',
    '\0',
    '5\r\nhello\r\n',
    'ffffffffffffffff\r\n',
    '5;ext=1\r\nhello\r\n',
    '0\r\n\r\n',
    'hello',
  ),
  fc.string({ maxLength: 40, unit: 'binary' }),
);

type Step =
  | { readonly kind: 'bytes'; readonly text: string }
  | { readonly kind: 'long'; readonly length: number }
  | { readonly kind: 'end' }
  | { readonly kind: 'reset' }
  | { readonly kind: 'wait' };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 1, arbitrary: fc.nat(20_000).map((length) => ({ kind: 'long' as const, length })) },
  { weight: 8, arbitrary: pieces.map((text) => ({ kind: 'bytes' as const, text })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('end' as const, 'reset' as const, 'wait' as const).map((kind) => ({ kind })),
  },
);

const script = fc.record({ early: fc.boolean(), steps: fc.array(step, { maxLength: 10 }), again: fc.boolean() });
type Script = typeof script extends fc.Arbitrary<infer T> ? T : never;

async function play({ early, steps, again }: Script, socket: Socket, request: Promise<void>): Promise<void> {
  if (!early) await request;
  const once = async () => {
    for (const made of steps) {
      if (socket.destroyed) return;
      if (made.kind === 'end') socket.end();
      else if (made.kind === 'reset') reset(socket);
      else if (made.kind === 'wait') await new Promise((done) => setTimeout(done, 5));
      else if (socket.writable) socket.write(made.kind === 'long' ? 'x'.repeat(made.length) : made.text, 'latin1');
    }
  };
  await once();
  if (again) socket.on('data', () => void once());
}

/** TLS has no reset of its own. */
const reset = (socket: Socket) => ('encrypted' in socket ? socket.destroy() : socket.resetAndDestroy());

describe('for any behaviour of a receiver', () => {
  const wrongs: unknown[] = [];
  const wrong = (error: unknown) => wrongs.push(error);
  beforeAll(() => {
    process.on('uncaughtException', wrong);
    process.on('unhandledRejection', wrong);
  });
  afterAll(() => {
    process.off('uncaughtException', wrong);
    process.off('unhandledRejection', wrong);
  });

  const authority = makeAuthority();
  test.each([
    ['in plain text', undefined],
    ['in TLS', authority.issue('127.0.0.1')],
  ])('%s, each attempt has one outcome, in time, and leaves nothing behind', async (_, tls) => {
    let current: Script = { early: false, steps: [], again: false };
    const hostile = await startHostile((socket, request) => play(current, socket, request), tls);
    await fc.assert(
      fc.asyncProperty(script, async (made) => {
        current = made;
        const outbound = createOutbound({
          deadlineMs: SHORT_MS,
          trustedPairs: [`127.0.0.1:${hostile.port}`],
          extraAuthorities: [authority.cert],
        });
        // Twice in sequence, for kept connections, and twice concurrently.
        const post = () => outbound.post({ url: hostile.url, headers: {}, body: BODY });
        const outcomes = [await post(), await post(), ...(await Promise.all([post(), post()]))];
        await outbound.close();
        for (const { failureClass, responseCode, durationMs, responseExcerpt } of outcomes) {
          if (failureClass !== null) FailureClass.parse(failureClass);
          else expect(responseCode! >= 200 && responseCode! < 300).toBe(true);
          expect(durationMs).toBeLessThan(SHORT_MS + 5_000);
          expect(Buffer.byteLength(responseExcerpt ?? '')).toBeLessThanOrEqual(3 * 4_096);
        }
        expect(wrongs).toEqual([]);
      }),
      { numRuns: tls ? Math.ceil(RUNS / 2) : RUNS },
    );
    await hostile.close();
  });
});

describe('the deadline at its full length', () => {
  test('holds for a receiver that dribbles headers, and for one whose body never ends', async () => {
    for (const [begin, text, failureClass] of [
      ['HTTP/1.1 200 OK\r\n', 'X-Slow: 1\r\n', 'timeout'],
      ['HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n', 'slow', null],
    ] as const) {
      const hostile = await startHostile(dribbles(begin, text, 200));
      const outbound = createOutbound({ trustedPairs: [`127.0.0.1:${hostile.port}`] });
      const outcome = await outbound.post({ url: hostile.url, headers: {}, body: BODY });
      expect(outcome.failureClass).toBe(failureClass);
      expect(outcome.durationMs).toBeGreaterThanOrEqual(DEADLINE_MS - 50);
      expect(outcome.durationMs).toBeLessThan(DEADLINE_MS + 3_000);
      await outbound.close();
      await hostile.close();
    }
  });

  test('is not reached with silent name servers: they get two tries of a second, and some extra', async () => {
    const dns = await startDnsServer(() => 'silence');
    const outbound = createOutbound({ dnsServers: [dns.address] });
    const outcome = await outbound.post({ url: 'https://hook.example.com/', headers: {}, body: BODY });
    expect(outcome.failureClass).toBe('dns_timeout');
    expect(outcome.durationMs).toBeLessThan(6_000);
    await outbound.close();
    await dns.close();
  });

  test('and the limit on bytes read keep memory flat under floods', async () => {
    const flood = floods('HTTP/1.1 200 OK\r\n', `X: ${'y'.repeat(60_000)}\r\n`);
    const hostile = await startHostile(flood);
    const outbound = createOutbound({ trustedPairs: [`127.0.0.1:${hostile.port}`] });
    const before = process.memoryUsage().rss;
    for (let round = 0; round < 50; round++) {
      const posts = Array.from({ length: 20 }, () => outbound.post({ url: hostile.url, headers: {}, body: BODY }));
      for (const { failureClass } of await Promise.all(posts)) expect(failureClass).toBe('response_too_large');
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024);
    await outbound.close();
    await hostile.close();
  });
});
