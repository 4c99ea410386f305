/**
 * Given two generations of a read model, when they are compared while events go on coming, then a document that only one
 * side has folded yet is no difference, and each document that differs for good is named with its fields.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/events/event.ts';
import { compareGenerations } from '../../src/projections/compare-generations.ts';
import { fieldDifferences } from '../../src/projections/field-differences.ts';
import { pause as pauseUntil } from '../../src/runtime/pause.ts';
import { openTestStorage, type TestStorage } from '../support/storage.ts';
import { ledger } from './ledger.ts';

const pause = (milliseconds: number) => pauseUntil(milliseconds, undefined);
const at = (position: number): string => String(position).padStart(20, '0');

let directory: string;
let storage: TestStorage;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'docket-compare-'));
  storage = await openTestStorage(directory);
  for (const generation of [1, 2]) await storage.readStore.prepare('ledger', generation, ledger().collections);
});
afterEach(async () => {
  await storage.close();
  await rm(directory, { recursive: true, force: true });
});

const put = (generation: number, position: number, documents: Record<string, JsonObject | null>) =>
  storage.readStore.commit({
    projection: 'ledger',
    generation,
    position: at(position),
    writes: Object.entries(documents).map(([id, document]) => {
      return { collection: 'ledger-cases', id, document, position: at(position) };
    }),
  });

/** @param waits what happens at each wait for the head, in turn */
const compared = (waits: readonly (() => Promise<unknown>)[] = [], sample = 10) => {
  let asked = 0;
  return compareGenerations({
    log: { head: async () => at(9) },
    readStore: storage.readStore,
    projection: ledger(),
    from: 1,
    to: 2,
    untilBoth: async () => void (await waits[asked++]?.()),
    sample,
  });
};

describe('two generations', () => {
  it('are the same if their documents are, in whatever order their members were written', async () => {
    await put(1, 1, { a: { x: 1, y: [1, { b: 1, a: 2 }] }, é: { x: 1 }, '\u{1F4C4}': { x: 1 } });
    await put(2, 5, { a: { y: [1, { a: 2, b: 1 }], x: 1 }, '\u{1F4C4}': { x: 1 }, é: { x: 1 } });
    expect(await compared()).toMatchObject({ position: at(9), documents: 3, differences: 0, sample: [] });
  });

  it('are the same if one has a tombstone where the other never had a document', async () => {
    await put(1, 1, { gone: { x: 1 } });
    await put(1, 2, { gone: null });
    expect(await compared()).toMatchObject({ documents: 0, differences: 0 });
  });

  it('are the same though a document is read from one before, from the other after an event', async () => {
    await put(1, 2, { a: { x: 2 } });
    await put(2, 1, { a: { x: 1 } });
    const nothing = async () => undefined;
    expect(await compared([nothing, () => put(2, 2, { a: { x: 2 } })])).toMatchObject({ differences: 0 });
    // It changes again, on one side after the other.
    await put(2, 3, { a: { x: 3 } });
    const twice = [nothing, () => put(2, 4, { a: { x: 4 } }), () => put(1, 4, { a: { x: 4 } })];
    expect(await compared(twice)).toMatchObject({ differences: 0 });
  });

  it('are the same though a document changes all the time, on one side later than on the other', async () => {
    let head = 1;
    let stopped = false;
    const change = (generation: number, n: number) => put(generation, n, { sums: { n } });
    await Promise.all([change(1, 1), change(2, 1)]);
    const writing = (async () => {
      const late: number[] = [];
      while (!stopped) {
        await change(1, ++head);
        late.push(head);
        if (late.length > 4) await change(2, late.shift()!);
        await pause(5);
      }
      for (const n of late) await change(2, n);
    })();
    const passed = async (position: string) => {
      for (const generation of [1, 2]) {
        while ((await storage.readStore.checkpoint('ledger', generation))! < position) await pause(2);
      }
    };
    const { differences, undecided } = await compareGenerations({
      log: { head: async () => at(head) },
      readStore: storage.readStore,
      projection: ledger(),
      from: 1,
      to: 2,
      untilBoth: passed,
      sample: 2,
    });
    stopped = true;
    await writing;
    expect({ differences, undecided }).toEqual({ differences: 0, undecided: 0 });
  });

  it('differ in a document that changes all the time, if it differs at one position', async () => {
    let n = 1;
    await Promise.all([put(1, n, { sums: { n, right: true } }), put(2, n, { sums: { n, right: false } })]);
    const next = async () => {
      n++;
      await put(1, n, { sums: { n, right: true } });
      await put(2, n, { sums: { n, right: false } });
    };
    const { differences, undecided, sample } = await compared([next, next, next, next]);
    expect({ differences, undecided }).toEqual({ differences: 1, undecided: 0 });
    expect(sample[0]?.fields).toEqual([{ path: 'right', from: 'true', to: 'false' }]);
  });

  it('differ in documents that stay different, or that only one of them has', async () => {
    await put(1, 1, { a: { x: 1, list: [1, 2] }, b: { x: 1 }, same: { x: 1 } });
    await put(2, 1, { a: { x: 1, list: [1, 3] }, c: { x: 1 }, same: { x: 1 } });
    const { differences, collections, sample } = await compared();
    expect(differences).toBe(3);
    expect(collections.at(-1)).toEqual({ collection: 'ledger-cases', from: 3, to: 3, differences: 3 });
    expect(sample.map(({ id, fromHash, toHash }) => [id, fromHash !== null, toHash !== null])).toEqual([
      ['a', true, true],
      ['b', true, false],
      ['c', false, true],
    ]);
    expect(sample[0]?.fields).toEqual([{ path: 'list[1]', from: '2', to: '3' }]);
    expect((await compared([], 1)).sample).toHaveLength(1);
  });

  it('are walked page by page, whatever is missing on a side', async () => {
    const many = (keep: (index: number) => boolean) =>
      Object.fromEntries(
        Array.from({ length: 450 }, (_, index) => index)
          .filter(keep)
          .map((index) => [`case ${String(index).padStart(3, '0')}`, { x: index }]),
      );
    await put(
      1,
      1,
      many(() => true),
    );
    await put(
      2,
      1,
      many((index) => index % 3 !== 0),
    );
    expect(await compared()).toMatchObject({ documents: 450, differences: 150 });
  });
});

describe('the differing fields of two documents', () => {
  it('are named by their path', () => {
    expect(
      fieldDifferences({ a: 1, b: { c: [1, { d: 'x' }] }, e: 1 }, { a: 1, b: { c: [1, { d: 'y' }] }, f: 2 }),
    ).toEqual([
      { path: 'b.c[1].d', from: '"x"', to: '"y"' },
      { path: 'e', from: '1', to: null },
      { path: 'f', from: null, to: '2' },
    ]);
  });
  it('are the whole document where the other side has none', () => {
    expect(fieldDifferences(null, { a: 1 })).toEqual([{ path: '', from: null, to: '{"a":1}' }]);
    expect(fieldDifferences({ a: null }, {})).toEqual([{ path: 'a', from: 'null', to: null }]);
  });
  it('are shortened and limited', () => {
    expect(fieldDifferences({ a: 'x'.repeat(1_000) }, { a: 1 })[0]?.from).toMatch(/^"x{199}… \(1002 characters\)$/);
    const wide = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`f${index}`, index]));
    expect(fieldDifferences(wide, {})).toHaveLength(20);
  });
});
