import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  allowedUnderWay,
  FIRST_UNDER_WAY,
  isProvenBy,
  MOST_UNDER_WAY,
} from '../../../src/commands/purchase/allowance.ts';
import { SETTLEMENT_FAILURES_PER_HOUR } from '../../../src/commands/purchase/wallet-limits.ts';

const allowedAfter = (settled: number, failures: number, failuresOfYear = failures) =>
  allowedUnderWay({ isProven: isProvenBy(settled, failuresOfYear), settled, failures });

describe('how many payments of a wallet may be under way', () => {
  it.each([
    // settled, failures within the hour, failures within the year, allowed
    [0, 0, 0, 1],
    [1, 0, 0, 21],
    [2, 0, 0, 41],
    [3, 0, 0, 60],
    [10_000, 0, 0, 60],
    [0, 1, 1, 1],
    [0, 2, 2, 1],
    [0, 3, 3, 0],
    [10_000, 1, 1, 2],
    [10_000, 2, 2, 1],
    [10_000, 60, 60, 0],
    // One settled payment pays for 20 that failed, and not for more.
    [1, 0, 19, 21],
    [1, 0, 20, 1],
    [2, 0, 20, 41],
    [2, 1, 40, 1],
    // A rollback may take back more than the read model has shown.
    [-1, 0, 0, 1],
  ])('after %d settled, %d failed within the hour and %d within the year: %d', (settled, hour, year, allowed) => {
    expect(allowedAfter(settled, hour, year)).toBe(allowed);
  });

  it('grows with what settled, shrinks with what failed, and stays within its bounds', () => {
    const nat = fc.nat(200);
    fc.assert(
      fc.property(nat, nat, nat, nat, nat, (settled, moreSettled, failures, moreFailures, earlier) => {
        const allowed = allowedAfter(settled, failures, failures + earlier);
        expect(allowedAfter(settled + moreSettled, failures, failures + earlier)).toBeGreaterThanOrEqual(allowed);
        const worse = failures + moreFailures;
        expect(allowedAfter(settled, worse, worse + earlier)).toBeLessThanOrEqual(allowed);
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
