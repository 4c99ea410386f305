/** Rows in the order in which they were opened. Given rows that stay open, then no more than the limit wait in memory. */
import { describe, expect, it } from 'vitest';
import { RowsInOrder } from '../../../src/audit/export/rows-in-order.ts';
import { all } from '../written-log.ts';

describe('rows in order', () => {
  const ordered = (mostWaiting: number) =>
    new RowsInOrder<string>({ completed: async (row) => `${row} as its stream tells`, mostWaiting });

  it('wait for an earlier one that is open', async () => {
    const rows = ordered(10);
    for (const key of ['a', 'b', 'c']) rows.open(key, key);
    rows.set('b', 'b, changed');
    rows.close('b');
    expect(await all(rows.ready())).toEqual([]);
    rows.close('a');
    expect(await all(rows.ready())).toEqual(['a', 'b, changed']);
    expect([...rows.rest()]).toEqual(['c']);
  });

  it('leave, completed from their streams, once more than the limit wait, and change no more', async () => {
    const rows = ordered(3);
    const left: string[] = [];
    for (let index = 0; index < 100; index++) {
      rows.open(`key ${index}`, `row ${index}`);
      left.push(...(await all(rows.ready())));
      expect(left.length).toBe(Math.max(0, index - 2));
    }
    expect(left.slice(0, 2)).toEqual(['row 0 as its stream tells', 'row 1 as its stream tells']);
    expect(rows.get('key 0')).toBeUndefined();
    rows.set('key 0', 'too late');
    expect([...rows.rest()]).toEqual(['row 97', 'row 98', 'row 99']);
  });

  it('of one key are separate: the earlier one is complete when the next is opened', async () => {
    const rows = ordered(10);
    rows.open('key', 'first');
    rows.open('key', 'second');
    expect(await all(rows.ready())).toEqual(['first']);
    expect(rows.get('key')).toBe('second');
  });
});
