import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allowedUnderWay, FIRST_UNDER_WAY, MOST_UNDER_WAY } from '../../../src/commands/purchase/allowance.ts';
import { SETTLEMENT_FAILURES_PER_HOUR } from '../../../src/commands/purchase/wallet-limits.ts';

describe('how many payments of a wallet may be under way', () => {
  it.each([
    // settled, failures within the hour, allowed
    [0, 0, 3],
    [1, 0, 23],
    [2, 0, 43],
    [3, 0, 60],
    [10_000, 0, 60],
    [0, 1, 2],
    [0, 2, 1],
    [0, 3, 0],
    [10_000, 1, 2],
    [10_000, 2, 1],
    [10_000, 60, 0],
    // A rollback may take back more than the read model has shown.
    [-1, 0, 3],
  ])('after %d settled and %d failed ones: %d', (settled, failures, allowed) => {
    expect(allowedUnderWay({ settled, failures })).toBe(allowed);
  });

  it('grows with what settled, shrinks with what failed, and stays within its bounds', () => {
    const nat = fc.nat(200);
    fc.assert(
      fc.property(nat, nat, nat, nat, (settled, moreSettled, failures, moreFailures) => {
        const allowed = allowedUnderWay({ settled, failures });
        expect(allowedUnderWay({ settled: settled + moreSettled, failures })).toBeGreaterThanOrEqual(allowed);
        expect(allowedUnderWay({ settled, failures: failures + moreFailures })).toBeLessThanOrEqual(allowed);
        expect(allowed).toBeGreaterThanOrEqual(0);
        expect(allowed).toBeLessThanOrEqual(MOST_UNDER_WAY);
        if (settled === 0) expect(allowed).toBeLessThanOrEqual(FIRST_UNDER_WAY);
        // All that are under way may fail: after a first failure no more than the hour allows.
        if (failures > 0)
          expect(failures + allowed).toBeLessThanOrEqual(Math.max(failures, SETTLEMENT_FAILURES_PER_HOUR));
      }),
    );
  });
});
