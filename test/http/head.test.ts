/** HEAD on every GET address: the same answer without its body, and never a sale. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPERATIONS } from '../../src/http/openapi/operations.ts';
import { selfPaid } from '../solana/payment-transactions.ts';
import { rawRequest } from './raw-request.ts';
import { SECRET, SECRET_CASE_ID, SECRET_DOCKET } from './refused.ts';
import { openWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
  await world.importDocket(SECRET_DOCKET);
});
afterAll(() => world.close());

const QUERY = `court_code=cand&case_id=${SECRET_CASE_ID}&last_checked=2026-01-01T00:00:00Z`;
const GETS = OPERATIONS.filter(({ method }) => method === 'get').map(({ path, price, required = [] }) => {
  const filled = path.replace('{request_id}', '11111111-1111-4111-8111-111111111111').replace('{page}', 'errors');
  const query = required.includes('last_checked') ? QUERY : QUERY.replace(/&last_checked.*/, '');
  return { path: required.length > 0 ? `${filled}?${query}` : filled, paid: price !== null };
});

/** These differ for each answer. */
const OWN = ['x-request-id', 'date', 'payment-required', 'x-payment-requirements'];
/** Lengths of two answers may differ by the digits of a blockhash. */
const told = (headers: Headers, paid: boolean) =>
  Object.fromEntries(
    [...headers].map(([name, value]) => [
      name,
      OWN.includes(name) || (paid && name === 'content-length') ? '…' : value,
    ]),
  );

const head = (path: string, headers: Record<string, string> = {}) =>
  rawRequest(world.port, path, { method: 'HEAD', headers });

describe.each(GETS)('HEAD $path', ({ path, paid }) => {
  it('answers like GET, without a body', async () => {
    const [got, answer] = [await rawRequest(world.port, path), await head(path)];
    expect([answer.status, answer.text]).toEqual([got.status, '']);
    expect(told(answer.headers, paid)).toEqual(told(got.headers, paid));
    expect(answer.headers.get('content-length')).toMatch(/^[1-9]\d*$/);
    if (paid) expect(answer.status).toBe(402);
  });
  it('is named in Allow', async () => {
    const { headers } = await rawRequest(world.port, path, { method: 'PATCH' });
    expect(headers.get('allow')).toMatch(/^GET, HEAD(, POST)?, OPTIONS$/);
  });
});

describe('HEAD on a paid path', () => {
  it('never reads a payment: no money moves, and the payment remains valid', async () => {
    const wallet = await world.wallet();
    const blockhash = await world.newestBlockhash();
    const payment = { 'x402-payment': selfPaid(world.parties, wallet, { blockhash }).toString('base64') };
    const path = `/v2/case?${QUERY}`;
    for (const headers of [payment, { 'x402-payment': '@@@@' }]) {
      const answer = await head(path, headers);
      expect([answer.status, answer.headers.has('payment-required'), answer.text]).toEqual([402, true, '']);
    }
    expect(await world.balance(wallet)).toBe(20_000_000n);
    const bought = await rawRequest(world.port, path, { headers: payment });
    expect([bought.status, bought.text.includes(SECRET)]).toEqual([200, true]);
    expect((await head(bought.headers.get('content-location') ?? '')).status).toBe(200);
  });
  it('rejects what GET rejects before payment, and supports the sandbox', async () => {
    for (const [path, status] of [
      [`/v2/case?${QUERY}&unknown=1`, 400],
      ['/v2/case?court_code=xyzzy&case_id=1', 422],
      [`/v2/case?${QUERY}&test=1`, 200],
    ] as const)
      expect((await head(path)).status).toBe(status);
  });
  it('works like curl -I shows', async () => {
    const { stdout } = await promisify(execFile)('curl', ['-sI', `${world.url}/v2/case?${QUERY}`]).catch(() => ({
      stdout: null,
    }));
    // Without curl, the cases above cover the same.
    if (stdout !== null) expect(stdout).toMatch(/^HTTP\/1\.1 402 [\s\S]*payment-required: /i);
  });
});
