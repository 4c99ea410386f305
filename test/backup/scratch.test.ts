/**
 * What a copy remembers of a log that is larger than its memory. Given more streams and names than are kept in memory;
 * then each is known as before, and a fault in a stream that was put aside is found.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ChainCheck } from '../../src/backup/chain-check.ts';
import { Scratch } from '../../src/backup/scratch.ts';
import { notes } from '../storage/samples.ts';

let scratch: Scratch;
beforeEach(() => {
  scratch = Scratch.open();
});
afterEach(() => scratch.close());

const MANY = 12_000;
const nameOf = (number: number): string => number.toString(16).padStart(64, '0');
const numbers = Array.from({ length: MANY }, (_, index) => index);

describe('the heads of streams', () => {
  it('are the last that were set, however many there are', () => {
    const heads = scratch.streamHeads();
    for (const revision of [0, 1]) {
      for (const each of numbers) heads.set(`stream-${each}`, { revision, hash: nameOf(each * 2 + revision) });
    }
    expect(numbers.map((each) => heads.get(`stream-${each}`))).toEqual(
      numbers.map((each) => ({ revision: 1, hash: nameOf(each * 2 + 1) })),
    );
    expect(heads.get('stream-x')).toBeNull();
  });

  it('check a chain that continues after many other streams', async () => {
    const chains = new ChainCheck(scratch);
    const [first, second] = notes('operator-first', ['one', 'two']).events;
    if (!first || !second) throw new Error('no events');
    expect(await chains.problemOf(first)).toBeNull();
    for (const each of numbers.slice(0, 6_000)) {
      const [other] = notes(`operator-${each}`, ['other']).events;
      if (other) expect(await chains.problemOf(other)).toBeNull();
    }
    const forged = { ...second, data: { ...second.data, reason: 'forged' } };
    expect(await new ChainCheck(scratch, async () => first).problemOf(forged)).toContain('does not follow');
    expect(await chains.problemOf(second)).toBeNull();
    expect(await chains.problemOf(first)).toBe('stream operator-first: revision 0 follows revision 1');
  });
});

describe('names of content', () => {
  it('are each known once, in their order, with what was said first or last about them', () => {
    const names = scratch.names();
    const others = scratch.names();
    for (const each of [...numbers, ...numbers]) names.add(nameOf(each), `first ${each}`);
    names.add(nameOf(7), 'second');
    expect([names.size, names.about(nameOf(7)), names.about(nameOf(MANY))]).toEqual([MANY, 'first 7', undefined]);
    names.set(nameOf(7), null);
    names.set(nameOf(7), 'last');
    expect([names.about(nameOf(7)), names.has(nameOf(MANY)), others.has(nameOf(7))]).toEqual(['last', false, false]);
    const order = [...names.pages(1_000)].flat().map(({ name }) => name);
    expect(order).toEqual(numbers.map(nameOf));
  });

  it('include those that are added while they are read', () => {
    const names = scratch.names();
    for (const each of numbers.slice(0, 3)) names.add(nameOf(each));
    const read: string[] = [];
    for (const page of names.pages(2)) {
      for (const { name } of page) {
        read.push(name);
        if (read.length === 1) names.add(nameOf(9));
      }
    }
    expect(read).toEqual([0, 1, 2, 9].map(nameOf));
  });
});
