import { randomBytes } from 'node:crypto';
import bs58 from 'bs58';
import { describe, expect, it } from 'vitest';
import { isBase58Of } from '../../../src/audit/rules/base58.ts';

describe('base58', () => {
  it.each([0, 1, 31, 32, 64])('of %i bytes is recognized, as the library writes it', (length) => {
    for (let round = 0; round < 50; round++) {
      const bytes = randomBytes(length);
      bytes.fill(0, 0, Math.min(length, round % 4));
      expect(isBase58Of(bs58.encode(bytes), bytes)).toBe(true);
    }
  });

  it('of other bytes, or in another form, is not', () => {
    const bytes = Buffer.concat([Buffer.of(0), randomBytes(31)]);
    const text = bs58.encode(bytes);
    const changed = Buffer.from(bytes);
    changed[9] = (changed[9] ?? 0) ^ 1;
    expect(isBase58Of(text, changed)).toBe(false);
    for (const other of [`1${text}`, text.slice(1), text.slice(0, -1), `${text}1`, `${text.slice(0, -1)}0`, '', 'é']) {
      expect(isBase58Of(other, bytes), other).toBe(false);
    }
  });
});
