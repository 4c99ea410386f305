/**
 * Given a wallet that an operator has banned, when it pays for anything over any transport, then it is refused with
 * `wallet_banned`: nothing is charged, recorded or asked of the chain. What it has bought before stays its own.
 */
import type { Keypair } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Chain } from '../../src/solana/chain.ts';
import { callTool, paymentFor } from './mcp/client.ts';
import { CASE, openWorld, SINCE, type World } from './mcp/world.ts';

const QUERY = `court_code=${CASE.court_code}&case_id=${CASE.case_id}`;

let world: World;
let wallet: Keypair;
/** A node that knows of the ban. */
let node: string;
const banned = new Set<string>();
const asked: string[] = [];
const watched = (chain: Chain): Chain =>
  new Proxy(chain, {
    get(target, name) {
      const method = (target as never)[name] as unknown;
      if (typeof method !== 'function') return method;
      return (...given: unknown[]) => {
        asked.push(String(name));
        return method.apply(target, given);
      };
    },
  });

beforeAll(async () => {
  world = await openWorld();
  wallet = await world.wallet();
  node = await world.node({ isBanned: (address) => banned.has(address), chain: watched(world.chain) });
});
afterAll(() => world.close());

/** The wallet pays for this, banned from now on; whatever happens, nothing may have moved. */
async function refused<Answer>(pay: () => Promise<Answer>): Promise<Answer> {
  const [before, head] = [await world.balance(wallet), await world.storage.log.head()];
  banned.add(wallet.publicKey.toBase58());
  asked.length = 0;
  try {
    const answer = await pay();
    expect([asked, await world.storage.log.head(), await world.balance(wallet)]).toEqual([[], head, before]);
    return answer;
  } finally {
    banned.clear();
  }
}

const batch = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ queries: [CASE] }),
};

describe('a banned wallet', () => {
  it.each([
    ['a query', `/v2/case?${QUERY}`, {}],
    ['a monitor query', `/v2/monitor?${QUERY}&last_checked=${SINCE}`, {}],
    ['a batch', '/v2/cases/batch', batch],
    ['the keys', '/v2/wallet/keys', {}],
    ['a rotation', '/v2/wallet/keys', { method: 'POST' }],
    ['the deliveries', '/v2/wallet/deliveries', {}],
    ['a query of version 1', `/v1/case?${QUERY}`, {}],
  ])('cannot buy %s', async (_what, path, init) => {
    const agent = await world.agentOf(wallet);
    const answer = await refused(() => agent(node + path, init));
    const { error } = (await answer.json()) as { error: { code: string; details: object } };
    expect([answer.status, error.code, error.details]).toEqual([
      403,
      'wallet_banned',
      { charged: false, hint: expect.stringContaining('lift the ban') },
    ]);
    expect(answer.headers.get('PAYMENT-REQUIRED')).toBeNull();
  });

  it.each([
    ['service_case_query', { ...CASE, last_checked: SINCE }, 'payment_tx'],
    ['service_case_batch', { queries: [CASE] }, 'payment_tx'],
    ['service_wallet_info', {}, 'payment_tx_keys'],
  ])('cannot buy by the tool %s', async (tool, args, argument) => {
    const { data } = await callTool(`${node}/v2/mcp`, tool, args);
    const payment = paymentFor(data.payments?.[0] ?? data, wallet);
    const answer = await refused(() => callTool(`${node}/v2/mcp`, tool, { ...args, [argument]: payment }));
    expect(answer.isError).toBe(true);
    expect(answer.data.error).toMatchObject({ code: 'wallet_banned', details: { charged: false } });
    expect(answer.data.next_step).toMatch(/^Nothing was charged\. .*another wallet may pay/);
  });

  it('still reads what it has bought, and buys again once the ban is lifted', async () => {
    const agent = await world.agentOf(wallet);
    const first = await agent(`${node}/v2/case?${QUERY}`);
    expect(first.status).toBe(200);
    const body = await first.text();
    const result = first.headers.get('content-location') ?? '';
    const again = await refused(() => fetch(node + result));
    expect([again.status, await again.text()]).toEqual([200, body]);
    expect((await agent(`${node}/v2/case?${QUERY}`)).status).toBe(200);
  });
});
