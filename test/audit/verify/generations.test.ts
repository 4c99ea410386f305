/** Given values of some weight, a map of two generations holds at most twice the weight that it may, and gives up the rest. */
import { expect, it } from 'vitest';
import { Generations } from '../../../src/audit/verify/generations.ts';

interface Weighed {
  readonly name: string;
  weight: number;
}

const held = (most: number) => {
  const forgotten: string[] = [];
  const map = new Generations<Weighed>(
    most,
    (old) => forgotten.push(...old.keys()),
    ({ weight }) => weight,
  );
  const add = (name: string, weight: number) => map.set(name, { name, weight });
  return { map, add, forgotten };
};

it('forgets small values late and large ones early', () => {
  const small = held(100);
  for (let n = 0; n < 199; n++) small.add(`${n}`, 1);
  expect(small.forgotten).toEqual([]);
  const large = held(100);
  for (let n = 0; n < 6; n++) large.add(`${n}`, 50);
  expect(large.forgotten).toEqual(['0', '1', '2', '3']);
});

it('counts what a value grew by', () => {
  const { map, add, forgotten } = held(100);
  for (const name of ['a', 'b', 'c']) {
    add(name, 1);
    map.grew(99);
  }
  // Without what they grew by, all four would fit.
  add('d', 1);
  expect(forgotten).toEqual(['a', 'b', 'c']);
  expect([map.get('a'), map.get('d')]).toMatchObject([undefined, { name: 'd' }]);
});

it('keeps what is used, at its weight', () => {
  const { map, add, forgotten } = held(100);
  add('used', 60);
  for (let n = 0; n < 10; n++) {
    add(`${n}`, 40);
    expect(map.get('used')).toMatchObject({ name: 'used' });
  }
  expect(forgotten).not.toContain('used');
  expect(forgotten.length).toBeGreaterThan(5);
});
