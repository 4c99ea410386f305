/**
 * Attack: well-formed transactions with invented blockhashes, which only the chain can tell from good ones. Measured in
 * calls at a proxy in front of the local chain.
 */
import { Keypair } from '@solana/web3.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { INVENTED_PER_MINUTE } from '../../src/commands/purchase/unknown-blockhashes.ts';
import { createAddressLimit } from '../../src/http/address-limit.ts';
import { createClientAddresses } from '../../src/http/client-address.ts';
import { steadyClock } from '../../src/runtime/steady-clock.ts';
import { openWorld, type World } from '../payments/world.ts';
import { randomBlockhash } from '../solana/payment-transactions.ts';

let world: World;
/** One service for each test: all requests to a service share one budget of calls per second. */
beforeEach(async () => {
  world = await openWorld({ endpoints: 1, callsPerSecond: 1_000 });
});
afterEach(() => world.close());

const counts = (from: number) => {
  const methods = world.endpoints[0]!.calls.slice(from).map(({ method }) => method);
  const of = (wanted: string) => methods.filter((method) => method === wanted).length;
  return {
    questions: of('isBlockhashValid'),
    simulations: of('simulateTransaction'),
    statuses: of('getSignatureStatuses'),
  };
};

describe('invented blockhashes', () => {
  it('from one client cost one call each up to a limit, then none', async () => {
    const wallet = Keypair.generate();
    const url = await world.serve(world.purchasing, undefined, {
      clientAddresses: createClientAddresses({ trustedProxies: ['127.0.0.1/32'] }),
    });
    const client = { 'x-forwarded-for': '203.0.113.7' };
    const from = world.endpoints[0]!.calls.length;
    const answers = [];
    for (let sent = 0; sent < 3 * INVENTED_PER_MINUTE; sent++) {
      answers.push(
        await world.get(
          '/v2/case?q=invented',
          { ...world.pay(wallet, { blockhash: randomBlockhash() }), ...client },
          url,
        ),
      );
    }
    const { questions, simulations, statuses } = counts(from);
    expect(questions).toBeLessThanOrEqual(INVENTED_PER_MINUTE);
    expect([simulations, statuses]).toEqual([0, 0]);
    const limited = answers.filter(({ status }) => status === 429);
    expect(limited.length).toBeGreaterThanOrEqual(2 * INVENTED_PER_MINUTE);
    for (const { json } of limited) {
      expect(json.error.details).toMatchObject({
        charged: false,
        window: 'unknown_blockhashes',
        hint: expect.stringContaining('recentBlockhash'),
      });
    }
    // The same client can still pay with the blockhash of the 402.
    const payer = await world.wallet();
    expect((await world.get('/v2/case?q=honest', { ...world.pay(payer), ...client }, url)).status).toBe(200);
  });

  it('count against the address, and a repeated one costs no second call', async () => {
    const url = await world.serve(world.purchasing, createAddressLimit(2, steadyClock), {
      clientAddresses: createClientAddresses({ trustedProxies: ['127.0.0.1/32'] }),
    });
    const blockhash = randomBlockhash();
    const from = world.endpoints[0]!.calls.length;
    const answers = await Promise.all(
      [1, 2, 3, 4].map(() =>
        world.get(
          '/v2/case?q=a',
          { ...world.pay(Keypair.generate(), { blockhash }), 'x-forwarded-for': '192.0.2.1' },
          url,
        ),
      ),
    );
    expect(counts(from).questions).toBe(1);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([402, 402, 429, 429]);
    const [limited] = answers.filter(({ status }) => status === 429);
    expect(limited!.json.error.details).toMatchObject({ window: 'address', refused: { reason: 'blockhash_expired' } });
  });

  it('from many clients share one budget over all nodes', async () => {
    const url = await world.serve(world.purchasing, undefined, {
      clientAddresses: createClientAddresses({ trustedProxies: ['127.0.0.1/32'] }),
    });
    const from = world.endpoints[0]!.calls.length;
    const began = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, client) =>
        world.get(
          '/v2/case?q=a',
          {
            ...world.pay(Keypair.generate(), { blockhash: randomBlockhash() }),
            'x-forwarded-for': `192.0.2.${client}`,
          },
          url,
        ),
      ),
    );
    const seconds = Math.ceil((performance.now() - began) / 1_000) + 1;
    const { questions, simulations } = counts(from);
    expect(questions).toBeLessThanOrEqual(10 * seconds);
    expect(simulations).toBe(0);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([402, 429]));
  });
});
