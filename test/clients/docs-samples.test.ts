import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openWorld, type World } from '../payments/world.ts';
import { guideOf, runSample, sampleWith } from './readme-samples.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

describe('the words of the documentation', () => {
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
});
