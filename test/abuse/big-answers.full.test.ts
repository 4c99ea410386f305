/** The attack: a client buys one large answer and reads it again and again, uncompressed. */

import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { READS_PER_MINUTE } from '../../src/http/v2/results.ts';
import { rawDocket, rawEntry } from '../dockets/raw-docket.ts';
import { openWorld, type World } from '../http/world.ts';

const ENTRIES = 6_000;
const CASE = '/v2/case?court_code=cand&case_id=3:24-cv-01234&context=full';

let world: World;
let bought: Buffer;
let path: string;
beforeAll(async () => {
  world = await openWorld();
  const day = (index: number) =>
    new Date(Date.UTC(2024, 1, 1) + Math.floor(index / 8) * 86_400_000).toISOString().slice(0, 10);
  await world.importDocket(
    rawDocket(
      Array.from({ length: ENTRIES }, (_, i) =>
        rawEntry(i + 1, day(i), `MOTION number ${i} for an order on discovery`),
      ),
    ),
  );
  ({ bought, path } = await buy());
});
afterAll(() => world.close());

async function buy() {
  const agent = await world.agent();
  const answer = await agent(world.url + CASE);
  expect(answer.status).toBe(200);
  return { bought: Buffer.from(await answer.arrayBuffer()), path: String(answer.headers.get('content-location')) };
}

/** One read, with its raw bytes. */
function read(target: string, headers: Record<string, string> = {}) {
  return new Promise<{ status: number; headers: Record<string, unknown>; bytes: Buffer }>((done, failed) => {
    const asked = request(new URL(target, world.url), { headers }, async (response) => {
      const parts: Buffer[] = [];
      for await (const part of response) parts.push(part);
      done({ status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(parts) });
    });
    asked.on('error', failed).end();
  });
}

it('a read sends the bytes that were compressed on storing, and the same content in every coding', async () => {
  const [plain, br, gzip, none] = [
    await read(path),
    await read(path, { 'accept-encoding': 'br, gzip' }),
    await read(path, { 'accept-encoding': 'gzip' }),
    await read(path, { 'accept-encoding': 'identity' }),
  ];
  expect(bought.length).toBeGreaterThan(1_000_000);
  expect([plain, br, gzip, none].map(({ headers }) => headers['content-encoding'])).toEqual([
    undefined,
    'br',
    'gzip',
    undefined,
  ]);
  expect(new Set([plain, br, gzip].map(({ headers }) => headers.etag)).size).toBe(3);
  expect(plain.bytes.equals(bought)).toBe(true);
  expect(none.bytes.equals(bought)).toBe(true);
  expect(brotliDecompressSync(br.bytes).equals(bought)).toBe(true);
  expect(gunzipSync(gzip.bytes).equals(bought)).toBe(true);
  expect(br.bytes.length).toBeLessThan(bought.length / 5);
  expect(gzip.bytes.length).toBeLessThan(bought.length / 5);
  expect(plain.headers.vary).toBe('Accept-Encoding');
});

it('a client that already has the answer gets no body', async () => {
  const { headers } = await read(path, { 'accept-encoding': 'br' });
  const again = await read(path, { 'accept-encoding': 'br', 'if-none-match': String(headers.etag) });
  expect([again.status, again.bytes.length, again.headers.etag]).toEqual([304, 0, headers.etag]);
  const other = await read(path, { 'accept-encoding': 'br', 'if-none-match': '"another"' });
  expect([other.status, other.bytes.length > 0]).toEqual([200, true]);
});

it('one answer is read sixty times a minute, and other requests are answered meanwhile', async () => {
  const { path: second } = await buy();
  const statuses: number[] = [];
  for (let i = 0; i <= READS_PER_MINUTE; i++) statuses.push((await read(second, { 'accept-encoding': 'br' })).status);
  expect(statuses).toEqual([...Array(READS_PER_MINUTE).fill(200), 429]);
  const limited = await read(second);
  expect(JSON.parse(limited.bytes.toString()).error).toMatchObject({
    code: 'rate_limit_exceeded',
    details: { window: 'result', charged: false },
  });
  expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0);
  expect((await read(path, { 'accept-encoding': 'br' })).status).toBe(200);
});
