/** Given a run of the tests, then its properties draw the same inputs as every other run, unless SEED asks for others. */
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { chooseSeed, SEED } from './seed.ts';

describe('the seed of a run', () => {
  it('decides what a property draws', () => {
    expect(fc.readConfigureGlobal().seed).toBe(SEED);
    expect(fc.sample(fc.string(), 5)).toEqual(fc.sample(fc.string(), { numRuns: 5, seed: SEED }));
    const drawn: number[] = [];
    fc.assert(
      fc.property(fc.integer(), (number) => {
        drawn.push(number);
      }),
    );
    expect(drawn).toEqual(fc.sample(fc.integer(), drawn.length));
  });

  it('is the same in every run, or the number that SEED names', () => {
    expect(chooseSeed('')).toEqual(chooseSeed(''));
    expect(chooseSeed('-7')).toEqual({ SEED: '-7' });
    expect(() => chooseSeed('lucky')).toThrow('SEED is a whole number or "random", not lucky');
  });

  it('is a printed one if SEED is random', () => {
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const { SEED: seed } = chooseSeed('random');
    expect(seed).toMatch(/^\d+$/);
    expect(write).toHaveBeenCalledWith(expect.stringContaining(`SEED=${seed} `));
    write.mockRestore();
  });
});
