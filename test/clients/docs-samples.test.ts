import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openWorld, type World } from '../payments/world.ts';
import { asksFor } from './dear-service.ts';
import { guideOf, runSample, sampleWith } from './printed-samples.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

describe('the samples of the documentation', () => {
  it.each([
    ['first-query', '@x402/fetch'],
    ['payments', '@x402/fetch'],
    ['payments', '@solana/web3.js'],
  ] as const)('%s: the sample with %s buys an answer', async (name, packageName) => {
    const sample = sampleWith(packageName, guideOf(name, world.url, world.rpcUrl));
    const wallet = await world.wallet();
    const { result, spent } = await world.moved(wallet, () => runSample(sample, world, wallet));
    expect([spent, world.asked.at(-1)]).toEqual([990_000n, '3:24-cv-00042']);
    expect(result).toContain(wallet.publicKey.toBase58());
  });

  it.each([
    ['a dearer call', { maxAmountRequired: '1000001' }],
    ['another token', { asset: 'So11111111111111111111111111111111111111112' }],
  ])('payments: the transfer by hand signs nothing for %s', async (_, terms) => {
    const dear = await asksFor(world.url, terms);
    try {
      const sample = sampleWith('@solana/web3.js', guideOf('payments', dear.url, world.rpcUrl));
      await expect(runSample(sample, world, await world.wallet())).rejects.toThrow(/not 1 USDC at most/);
      expect(dear.payments).toEqual([]);
    } finally {
      dear.close();
    }
  });
});
