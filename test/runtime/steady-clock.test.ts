import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SetBackWatch, steadyClock } from '../../src/runtime/steady-clock.ts';

function watched(tolerance = 10) {
  let wall = 1_000_000;
  let steady = 0;
  const watch = new SetBackWatch({ now: () => wall }, { now: () => steady }, tolerance);
  return {
    look: () => watch.look(),
    /** Time passes, and meanwhile the wall clock is set by this much. */
    pass(micros: number, set = 0) {
      steady += micros;
      wall += micros + set;
    },
  };
}

it('the steady clock continues', async () => {
  const before = steadyClock.now();
  await new Promise((done) => setTimeout(done, 20));
  expect(steadyClock.now() - before).toBeGreaterThanOrEqual(15_000);
});

describe('a watch for a wall clock that is set back', () => {
  it('reports it once, and by how much', () => {
    const clock = watched();
    clock.pass(500);
    expect(clock.look()).toBe(0);
    clock.pass(500, -300);
    expect(clock.look()).toBe(300);
    clock.pass(500);
    expect(clock.look()).toBe(0);
  });
  it('ignores a clock that is set forward, and notices when it is set back again', () => {
    const clock = watched();
    clock.pass(500, 4_000);
    expect(clock.look()).toBe(0);
    clock.pass(500, -4_000);
    expect(clock.look()).toBe(4_000);
  });
  it('tolerates a small step, but not one small step after another', () => {
    const clock = watched(10);
    const noticed = Array.from({ length: 30 }, () => {
      clock.pass(100, -1);
      return clock.look();
    });
    expect(noticed.filter((back) => back > 0)).toEqual([11, 11]);
  });
  it('misses nothing beyond its tolerance', () => {
    const steps = fc.array(fc.record({ pass: fc.nat(1_000), set: fc.integer({ min: -5_000, max: 5_000 }) }));
    fc.assert(
      fc.property(steps, (all) => {
        const clock = watched(10);
        let ahead = 0;
        let most = 0;
        for (const { pass, set } of all) {
          clock.pass(pass, set);
          ahead += set;
          const back = clock.look();
          if (most - ahead > 10) {
            expect(back).toBe(most - ahead);
            most = ahead;
          } else {
            expect(back).toBe(0);
            most = Math.max(most, ahead);
          }
        }
      }),
    );
  });
});
