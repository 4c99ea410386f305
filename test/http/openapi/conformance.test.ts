/** The check of every answer against the document must itself detect errors. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SeenAnswer, violationsOf } from '../../support/conformance.ts';
import { parseAnswer, rawRequest, sendRaw } from '../raw-request.ts';
import { openWorld, type World } from '../world.ts';

let world: World;
let sound: SeenAnswer;
beforeAll(async () => {
  world = await openWorld();
  const target = '/v2/monitor?court_code=cand&case_id=3:24-cv-01234&last_checked=2026-01-01T00:00:00Z&test=1';
  const answer = await rawRequest(world.port, target);
  sound = seen('GET', target, answer);
});
afterAll(() => world.close());

const seen = (
  method: string,
  target: string,
  { status, headers, text }: { readonly status: number; readonly headers: Headers; readonly text: string },
): SeenAnswer => ({ method, target, status, headers: Object.fromEntries(headers), body: Buffer.from(text) });

/** The valid answer with some members of its body changed. */
const altered = (change: (body: Record<string, Record<string, unknown>>) => void): SeenAnswer => {
  const body = JSON.parse(sound.body.toString());
  change(body);
  return { ...sound, body: Buffer.from(JSON.stringify(body)) };
};

describe('an answer is checked against the document', () => {
  it('and passes as the service sends it', () => expect(violationsOf(sound)).toEqual([]));

  it.each<[string, () => SeenAnswer, RegExp]>([
    ['a member that it does not name', () => altered((body) => Object.assign(body, { extra: 1 })), /additional/],
    ['an extra nested member', () => altered(({ meta }) => Object.assign(meta!, { extra: 1 })), /additional/],
    ['a missing member', () => altered((body) => delete body.changed), /required property 'changed'/],
    ['another type', () => altered((body) => Object.assign(body, { change_count: '0' })), /integer/],
    ['an invalid time', () => altered(({ meta }) => Object.assign(meta!, { queried_at: 'now' })), /date-time/],
    ['a status that it does not list', () => ({ ...sound, status: 418 }), /lists no 418/],
    [
      'another media type',
      () => ({ ...sound, headers: { ...sound.headers, 'content-type': 'text/html' } }),
      /documented/,
    ],
    ['no request id', () => ({ ...sound, headers: { 'content-type': 'application/json' } }), /X-Request-Id/],
    ['a 402 without terms', () => ({ ...sound, status: 402 }), /PAYMENT-REQUIRED/],
    ['an address that it does not know', () => ({ ...sound, target: '/v2/secret' }), /nothing is documented/],
    ['an error that it does not know', () => ({ ...sound, target: '/v2/secret', status: 404 }), /is not an error/],
  ])('and fails with %s', (_what, answer, fault) => {
    expect(violationsOf(answer()).join('\n')).toMatch(fault);
  });
});

describe('a request that never reaches a route', () => {
  it.each([
    [
      'a header that is too long',
      (port: number) => rawRequest(port, '/v2/case', { headers: { 'x-long': 'x'.repeat(33_000) } }),
    ],
    ['no host', (port: number) => raw(port, 'GET /v2/case HTTP/1.1\r\nConnection: close\r\n\r\n')],
    ['no HTTP', (port: number) => raw(port, 'GET /v2/case HTTP/9\r\n\r\n')],
    ['no HTTP, of version 1', (port: number) => raw(port, 'GET /v1/case HTTP/9\r\n\r\n')],
  ])('gets the error in the document: %s', async (what, send) => {
    const path = what.endsWith('version 1') ? '/v1/case' : '/v2/case';
    expect(violationsOf(seen('GET', path, await send(world.port)))).toEqual([]);
  });

  async function raw(port: number, bytes: string) {
    return parseAnswer(await sendRaw(port, bytes));
  }
});
