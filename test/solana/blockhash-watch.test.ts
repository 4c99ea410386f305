import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type BlockhashWatch, createBlockhashWatch } from '../../src/solana/blockhash-watch.ts';
import { ChainUnavailable, type LatestBlockhash } from '../../src/solana/chain.ts';

let now: number;
let height: number;
let silent: boolean;
let watch: BlockhashWatch;

const chain = {
  async latestBlockhash(): Promise<LatestBlockhash> {
    if (silent) throw new ChainUnavailable('silent');
    return { blockhash: `hash ${height}`, lastValidBlockHeight: height + 150 };
  },
};

const pass = async (seconds: number, blocks = seconds * 2.5) => {
  now += seconds * 1000;
  height += Math.round(blocks);
  await vi.advanceTimersByTimeAsync(1_000);
};

describe('the blockhash watch', () => {
  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    now = 0;
    height = 1_000;
    silent = false;
    watch = createBlockhashWatch({ chain, monotonicMs: () => now });
    await vi.advanceTimersByTimeAsync(0);
  });
  afterEach(() => {
    watch.close();
    vi.useRealTimers();
  });

  it('knows the newest one, and earlier ones while they are valid', async () => {
    expect(watch.latest()).toEqual({ blockhash: 'hash 1000', lastValidBlockHeight: 1_150, seenAt: 0 });
    await pass(1, 3);
    expect(watch.latest()?.blockhash).toBe('hash 1003');
    expect(watch.blockHeight()).toBe(1_003);
    expect(watch.lastValidBlockHeightOf('hash 1000')).toBe(1_150);
    await pass(1, 147);
    expect(watch.lastValidBlockHeightOf('hash 1000')).toBe(1_150);
    await pass(1, 1);
    expect(watch.lastValidBlockHeightOf('hash 1000')).toBeNull();
    expect(watch.lastValidBlockHeightOf('never seen')).toBeNull();
  });

  it('does not go back when an endpoint is behind, and still knows what that endpoint returned', async () => {
    await pass(1, -10);
    expect(watch.latest()?.blockhash).toBe('hash 1000');
    expect(watch.blockHeight()).toBe(1_000);
    expect(watch.lastValidBlockHeightOf('hash 990')).toBe(1_140);
  });

  it('accepts no height that no chain could have reached meanwhile', async () => {
    const honest = height;
    for (const [seconds, lie] of [
      [1, 2 ** 50],
      [1, honest + 1_000_000],
    ] as const) {
      height = lie;
      await pass(seconds, 0);
      expect([watch.latest()?.blockhash, watch.blockHeight()]).toEqual(['hash 1000', 1_000]);
      expect(watch.lastValidBlockHeightOf(`hash ${lie}`)).toBeNull();
    }
    height = honest;
    await pass(1, 5);
    expect(watch.latest()?.blockhash).toBe('hash 1005');
  });

  it.each([2 ** 50, 3])('is not stuck at a first answer that was wrong: %d', async (lie) => {
    watch.close();
    const honest = height;
    height = lie;
    watch = createBlockhashWatch({ chain, monotonicMs: () => now });
    await vi.advanceTimersByTimeAsync(0);
    expect(watch.blockHeight()).toBe(lie);
    height = honest + 100_000;
    for (let second = 0; second < 12; second++) await pass(1);
    expect(watch.latest()?.blockhash).toBe(`hash ${height}`);
    expect(watch.blockHeight()).toBe(height);
    expect(watch.lastValidBlockHeightOf(`hash ${lie}`)).toBeNull();
  });

  it('goes back when only an endpoint that lags is left', async () => {
    await pass(1, -10);
    for (let second = 0; second < 12; second++) await pass(1, 0);
    expect(watch.latest()?.blockhash).toBe('hash 990');
  });

  it('accepts a chain that advanced for long while it could not be reached', async () => {
    silent = true;
    await pass(3_600 * 24);
    silent = false;
    await pass(1);
    expect(watch.latest()?.blockhash).toBe(`hash ${height}`);
  });

  it('hands out none that may be about to expire when the chain is silent, and recovers', async () => {
    silent = true;
    await pass(30);
    expect(watch.latest()?.blockhash).toBe('hash 1000');
    await pass(11);
    expect(watch.latest()).toBeNull();
    await expect(watch.refresh()).rejects.toThrow(ChainUnavailable);
    silent = false;
    await pass(1);
    expect(watch.latest()).not.toBeNull();
  });

  it('makes no calls once it is closed', async () => {
    const asked = vi.spyOn(chain, 'latestBlockhash');
    watch.close();
    await pass(5);
    expect(asked).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
    asked.mockRestore();
  });
});
