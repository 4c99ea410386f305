import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openWorld, type World } from '../payments/world.ts';
import { asksFor } from './dear-service.ts';
import { runSample, sampleWith } from './printed-samples.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

describe('the samples of docs/clients.md', () => {
  it.each(['@x402/fetch', '@solana/web3.js'])('buy an answer: the sample with %s', async (packageName) => {
    const wallet = await world.wallet();
    const { result, spent } = await world.moved(wallet, () => runSample(sampleWith(packageName), world, wallet));
    expect([spent, world.asked.at(-1)]).toEqual([990_000n, '3:24-cv-00042']);
    expect(result).toContain(wallet.publicKey.toBase58());
  });

  it.each([
    ['a dearer call', { maxAmountRequired: '1000001' }],
    ['another token', { asset: 'So11111111111111111111111111111111111111112' }],
  ])('reject %s before they sign a transfer by hand', async (_, terms) => {
    const dear = await asksFor(world.url, terms);
    try {
      const sample = runSample(sampleWith('@solana/web3.js'), { ...world, url: dear.url }, await world.wallet());
      await expect(sample).rejects.toThrow(/not 1 USDC at most/);
      expect(dear.payments).toEqual([]);
    } finally {
      dear.close();
    }
  });

  it('sign a transfer by hand in about twenty lines', () => {
    const lines = sampleWith('@solana/web3.js').split('\n').filter(Boolean);
    expect(lines.length).toBeLessThanOrEqual(25);
  });
});
