/** Calls to an endpoint within its plan: incoming requests can never use up half of them. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type PaceShare, RpcPace } from '../../src/solana/rpc-pace.ts';

let pace: RpcPace;
afterEach(() => pace.close());

/** How many of this many turns are granted at once. */
async function atOnce(share: PaceShare, turns: number): Promise<number> {
  let given = 0;
  for (let i = 0; i < turns; i++) {
    void pace.turn(share, 60_000).then((admitted) => {
      if (admitted) given++;
    });
  }
  await new Promise(setImmediate);
  return given;
}

describe('the pace of calls', () => {
  it('grants the intake half of a second’s calls, and settlement all the remaining ones', async () => {
    pace = new RpcPace(10);
    expect(await atOnce('intake', 40)).toBe(5);
    expect(await atOnce('reserved', 40)).toBe(5);
  });

  it('lets settlement use every call', async () => {
    pace = new RpcPace(10);
    expect(await atOnce('reserved', 40)).toBe(10);
    expect(await atOnce('intake', 1)).toBe(0);
  });

  it('never grants more than a second’s calls within any second, and in the end each one', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    try {
      pace = new RpcPace(20);
      const at: number[] = [];
      for (let number = 0; number < 50; number++) {
        void pace.turn(number % 3 === 0 ? 'intake' : 'reserved', 60_000).then((admitted) => {
          if (admitted) at.push(performance.now());
        });
      }
      await vi.advanceTimersByTimeAsync(10_000);
      expect(at).toHaveLength(50);
      for (const [number, time] of at.entries()) {
        const later = at[number + 20];
        if (later !== undefined) expect(later - time).toBeGreaterThanOrEqual(1_000);
      }
    } finally {
      vi.useRealTimers();
    }
  });

  it('rejects a caller that would wait longer than it may', async () => {
    pace = new RpcPace(2);
    expect(await pace.turn('intake', 1)).toBe(true);
    expect(await pace.turn('intake', 1)).toBe(false);
  });
});
