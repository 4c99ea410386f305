/**
 * The attack: one client behind a shared proxy sends invalid payments until its address is limited, so that the other
 * clients behind the proxy get 429 for errors that they did not make.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { createAddressLimit } from '../../src/http/address-limit.ts';
import { createClientAddresses } from '../../src/http/client-address.ts';
import { steadyClock } from '../../src/runtime/steady-clock.ts';
import { postMcp, startFreeService } from './free-service.ts';

const PER_MINUTE = 5;
const BAD = '198.51.100.9';
const GOOD = '203.0.113.5';
const CASE = '/v2/case?court_code=cand&case_id=3:24-cv-01234';
const MCP_CALL = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: {
    name: 'service_case_query',
    arguments: { court_code: 'cand', case_id: '3:24-cv-01234', payment_tx: 'not a transaction' },
  },
};

let stop: () => Promise<void> = async () => {};
afterEach(() => stop());

async function serve(trustedProxies: readonly string[]): Promise<string> {
  const { url, close } = await startFreeService({
    addressLimit: createAddressLimit(PER_MINUTE, steadyClock),
    clientAddresses: createClientAddresses({ trustedProxies }),
  });
  stop = close;
  return url;
}

async function payBadly(url: string, forwarded: string | null) {
  const headers = { 'payment-signature': 'not base64', ...(forwarded && { 'x-forwarded-for': forwarded }) };
  const response = await fetch(url + CASE, { headers });
  return { status: response.status, body: (await response.json()) as { error: { code: string; details: object } } };
}

const codeOfMcp = async (url: string, forwarded: string) =>
  (await postMcp(url, MCP_CALL, { 'x-forwarded-for': forwarded })).result.structuredContent.error.code;

async function useUp(url: string, forwarded: string | null) {
  const statuses: number[] = [];
  for (let i = 0; i <= PER_MINUTE; i++) statuses.push((await payBadly(url, forwarded)).status);
  return statuses;
}

describe('behind a trusted proxy', () => {
  it('limits only the bad client, over REST and MCP, regardless of what it writes into the header', async () => {
    const url = await serve(['127.0.0.0/8']);
    expect(await useUp(url, BAD)).toEqual([...Array(PER_MINUTE).fill(400), 429]);
    expect((await payBadly(url, `${GOOD}, ${BAD}`)).status).toBe(429);
    expect(await codeOfMcp(url, BAD)).toBe('rate_limit_exceeded');
    expect((await payBadly(url, GOOD)).status).toBe(400);
    expect(await codeOfMcp(url, GOOD)).toBe('invalid_payment');
  });

  it("still reports the error of a limited client's payment", async () => {
    const url = await serve(['127.0.0.0/8']);
    await useUp(url, BAD);
    const { body } = await payBadly(url, BAD);
    expect(body.error).toMatchObject({
      code: 'rate_limit_exceeded',
      details: { window: 'address', refused: { code: 'invalid_payment', reason: expect.any(String) } },
    });
  });

  it('limits no client if the proxy names none', async () => {
    const url = await serve(['127.0.0.0/8']);
    expect(new Set(await useUp(url, null))).toEqual(new Set([400]));
  });
});

describe('behind a proxy on an internal address that is not configured', () => {
  it('limits no client, since clients cannot be distinguished', async () => {
    const url = await serve([]);
    expect(new Set(await useUp(url, BAD))).toEqual(new Set([400]));
    expect((await payBadly(url, GOOD)).status).toBe(400);
  });
});

describe('without a proxy', () => {
  it('limits a client, and a forged header does not pass its limit to another client', async () => {
    const url = await serve([]);
    expect((await useUp(url, null)).at(-1)).toBe(429);
  });
});
