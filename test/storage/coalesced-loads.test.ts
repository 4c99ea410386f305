import { describe, expect, it } from 'vitest';
import { coalescedLoads } from '../../src/storage/coalesced-loads.ts';
import type { QueryStore, Stored } from '../../src/storage/read-store.ts';

function storeOf(documents: Readonly<Record<string, object>>) {
  const asked: string[][] = [];
  const store = {
    load: async (collection: string, ids: readonly string[], generation?: number) => {
      asked.push([collection, String(generation), ...ids]);
      if (ids.includes('broken')) throw new Error('the disk is gone');
      return new Map(
        ids.flatMap((id): [string, Stored<unknown>][] =>
          documents[id] ? [[id, { id, position: '1', document: documents[id] }]] : [],
        ),
      );
    },
  } as unknown as QueryStore;
  return { store: coalescedLoads(store), asked };
}

describe('concurrent loads', () => {
  it('are made at once, each collection separately, and every caller gets what it asked for', async () => {
    const { store, asked } = storeOf({ a: { is: 'a' }, b: { is: 'b' } });
    const [first, second, other, third] = await Promise.all([
      store.load('cases', ['a']),
      store.load('cases', ['b', 'none']),
      store.load('parties', ['a']),
      store.load('cases', ['a', 'b'], 7),
    ]);
    expect([...first.keys()]).toEqual(['a']);
    expect([...second.keys()]).toEqual(['b']);
    expect([...other.keys()]).toEqual(['a']);
    expect([...third.keys()]).toEqual(['a', 'b']);
    expect(asked).toEqual([
      ['cases', 'undefined', 'a', 'b', 'none'],
      ['parties', 'undefined', 'a'],
      ['cases', '7', 'a', 'b'],
    ]);
  });

  it('are read again if requested later', async () => {
    const { store, asked } = storeOf({ a: {} });
    await store.load('cases', ['a']);
    await store.load('cases', ['a']);
    expect(asked).toHaveLength(2);
  });

  it('fail together', async () => {
    const { store } = storeOf({ a: {} });
    const both = await Promise.allSettled([store.load('cases', ['a']), store.load('cases', ['broken'])]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect((await store.load('cases', ['a'])).size).toBe(1);
  });
});
