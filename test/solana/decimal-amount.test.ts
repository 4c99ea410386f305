import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AmountUnreadable, formatAmount, parseAmount, usdcOf, usdcText } from '../../src/solana/decimal-amount.ts';

describe('amounts', () => {
  it('survive formatting and parsing, for every amount and number of decimals', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.integer({ min: 0, max: 12 }), (amount, decimals) => {
        expect(parseAmount(formatAmount(amount, decimals), decimals)).toBe(amount);
      }),
    );
  });

  it('are parsed exactly', () => {
    const cases = {
      '0.99': 990_000n,
      '10': 10_000_000n,
      '0.000001': 1n,
      '1000000': 10n ** 12n,
      '1.500000000': 1_500_000n,
    };
    for (const [text, amount] of Object.entries(cases)) expect(parseAmount(text, 6), text).toBe(amount);
    expect(formatAmount(990_000n, 6)).toBe('0.99');
    expect(formatAmount(5n, 9)).toBe('0.000000005');
    expect(formatAmount(0n, 6)).toBe('0');
    expect([990_000n, 1_000_000n, 1n, 0n, 49_500_000n].map(usdcText)).toEqual([
      '0.99',
      '1.00',
      '0.000001',
      '0.00',
      '49.50',
    ]);
    expect(usdcOf('0.99')).toBe(990_000n);
  });

  it('are rejected if they are not plain decimals, have too many decimals or are too large', () => {
    const bad = ['', '.', '1.', '.5', '-1', '+1', '1e3', '0x10', ' 1', '1,5', '1.0000001', 'NaN', '٣', `${2n ** 64n}`];
    for (const text of bad) expect(() => parseAmount(text, 6), text).toThrow(AmountUnreadable);
  });
});
