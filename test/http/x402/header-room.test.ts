/**
 * With nginx's default buffer of 4 kB for an answer's headers, every 402 fits; with `proxy_cache` on, which keeps its
 * own header and the key in the same buffer, a 402 fits if its URL has an ordinary length.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sendRaw } from '../raw-request.ts';
import { openWorld, type World } from '../world.ts';

const BUFFER = 4096;
/** What nginx 1.22 writes before the headers of a cached answer, without the key. */
const CACHE_HEADER = 342;
/** `$scheme$proxy_host$request_uri` of a query with every parameter and no callback. */
const ORDINARY_KEY = 300;

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const CASE = 'court_code=cand&case_id=3:24-cv-00042';
const SINCE = 'last_checked=2026-11-27T10:00:00.000000Z';
const LONGEST = `callback_url=https%3A%2F%2Freceiver.example%2F${'x'.repeat(2_000)}`;
const BATCH = JSON.stringify({
  queries: Array.from({ length: 50 }, () => ({ case_id: '3:24-cv-00042', court_code: 'cand' })),
});

const headBytes = (answer: string) => answer.indexOf('\r\n\r\n') + 4;

it.each([
  ['GET', '/v2/case', ''],
  ['GET', `/v2/case?${CASE}&${SINCE}&context=full&language=en`, ''],
  ['GET', `/v2/case?${CASE}&${LONGEST}`, ''],
  ['GET', `/v2/monitor?${CASE}&${SINCE}`, ''],
  ['GET', `/v1/case?${CASE}`, ''],
  ['GET', `/v1/monitor?${CASE}`, ''],
  ['POST', '/v2/cases/batch', BATCH],
  ['GET', '/v2/wallet/keys', ''],
  ['POST', '/v2/wallet/keys', ''],
  ['GET', '/v2/wallet/deliveries?status=failed&limit=200', ''],
])('the headers of the 402 of %s %s', async (method, target, body) => {
  const head = [`${method} ${target} HTTP/1.1`, 'host: x', 'connection: close', `content-length: ${body.length}`];
  const json = body === '' ? [] : ['content-type: application/json'];
  const answer = await sendRaw(world.port, [...head, ...json, '', body].join('\r\n'));
  expect(answer).toMatch(/^HTTP\/1\.1 402 /);
  expect(headBytes(answer)).toBeLessThanOrEqual(BUFFER - CACHE_HEADER - ORDINARY_KEY);
});
