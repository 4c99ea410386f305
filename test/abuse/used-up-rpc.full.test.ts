/**
 * Attack: invented blockhashes from many addresses, a hundred a second, against an RPC plan of fifty calls a second
 * that answers 429 beyond it. Honest purchases run at the same time, and all of them settle.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Keypair } from '@solana/web3.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClientAddresses } from '../../src/http/client-address.ts';
import { openWorld, type World } from '../payments/world.ts';
import { randomBlockhash } from '../solana/payment-transactions.ts';

const PLAN = 50;
const HONEST = 20;

let world: World;
beforeAll(async () => {
  world = await openWorld({ endpoints: 1, callsPerSecond: PLAN - 10, slotMs: 400 });
});
afterAll(() => world.close());

it('settles twenty of twenty honest purchases, and never exceeds the plan', async () => {
  const url = await world.serve(world.purchasing, undefined, {
    clientAddresses: createClientAddresses({ trustedProxies: ['127.0.0.1/32'] }),
  });
  const [endpoint] = world.endpoints;
  const wallets = await Promise.all(Array.from({ length: HONEST }, () => world.wallet()));
  const recent: number[] = [];
  let throttled = 0;
  endpoint!.fault = () => {
    const now = performance.now();
    while (recent[0] !== undefined && now - recent[0] >= 1_000) recent.shift();
    if (recent.length >= PLAN) {
      throttled++;
      return { type: 'status', status: 429 };
    }
    recent.push(now);
    return { type: 'pass' };
  };

  let attacking = true;
  const outcomes = new Map<number, number>();
  const attack = (async () => {
    const sent: Promise<void>[] = [];
    for (let number = 0; attacking; number++) {
      const payment = world.pay(Keypair.generate(), { blockhash: randomBlockhash() });
      const from = { 'x-forwarded-for': `198.51.${number >> 8}.${number & 255}` };
      sent.push(
        world.get('/v2/case?q=attack', { ...payment, ...from }, url).then(({ status }) => {
          outcomes.set(status, (outcomes.get(status) ?? 0) + 1);
        }),
      );
      await sleep(10);
    }
    await Promise.all(sent);
  })();

  const honest: number[] = [];
  for (let number = 0; number < HONEST; number += 4) {
    const answers = await Promise.all(
      wallets
        .slice(number, number + 4)
        .map((wallet) =>
          world.get('/v2/case?q=honest', { ...world.pay(wallet), 'x-forwarded-for': '203.0.113.7' }, url),
        ),
    );
    honest.push(...answers.map(({ status }) => status));
  }
  attacking = false;
  await attack;
  expect(honest).toEqual(Array.from({ length: HONEST }, () => 200));
  expect(outcomes.get(429)).toBeGreaterThan(0);
  expect(throttled).toBe(0);
});
