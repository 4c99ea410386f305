/** What every read store must do, whatever engine is under it. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/events/event.ts';
import { type Instant, MICROS_PER_SECOND } from '../../src/runtime/instant.ts';
import { MOST_NOTICES } from '../../src/storage/notices.ts';
import {
  type CollectionSpec,
  type DocumentWrite,
  FIRST_POINTER,
  type Find,
  type ReadStore,
  type Tally,
} from '../../src/storage/read-store.ts';

export interface OpenedReadStore {
  readonly readStore: ReadStore;
  another(): Promise<ReadStore>;
  close(): Promise<void>;
}

/** Positions as every log has them: text that sorts. */
const at = (position: number): string => String(position).padStart(20, '0');

export function readStoreConformance(name: string, open: () => Promise<OpenedReadStore>): void {
  describe(`${name}: read store`, () => {
    let opened: OpenedReadStore;
    let store: ReadStore;
    let other: ReadStore;
    beforeAll(async () => {
      opened = await open();
      store = opened.readStore;
      other = await opened.another();
    });
    afterAll(async () => {
      await other.close();
      await opened.close();
    });

    /** A projection of its own with one collection, prepared. */
    const collection = async (indexes: CollectionSpec['indexes'] = [], generation = 1) => {
      const id = randomUUID().slice(0, 8);
      const projection = `projection-${id}`;
      const documents = `documents-${id}`;
      await store.prepare(projection, generation, [{ name: documents, indexes }]);
      const commit = (position: number, written: Record<string, JsonObject | null>, into = generation) =>
        store.commit({
          projection,
          generation: into,
          position: at(position),
          writes: Object.entries(written).map(([key, document]): DocumentWrite => {
            return { collection: documents, id: key, document, position: at(position) };
          }),
        });
      return { projection, documents, commit };
    };

    describe('documents', () => {
      it('come back as they were written, with the position that they reflect', async () => {
        const { documents, commit } = await collection();
        const document = { b: 'naïve \u{1F4C4} "', a: [1, null, { c: true }], big: 9_007_199_254_740_991, float: 0.1 };
        await commit(7, { one: document, two: {} });
        const loaded = await store.load(documents, ['one', 'two', 'three']);
        expect([...loaded.values()]).toEqual([
          { id: 'one', position: at(7), document },
          { id: 'two', position: at(7), document: {} },
        ]);
        expect(await other.load(documents, ['one'])).toEqual(new Map([['one', loaded.get('one')]]));
      });

      it('of a collection that was not prepared are empty', async () => {
        expect((await store.load('nobody-prepared-this', ['a'])).size).toBe(0);
        expect(await store.find({ collection: 'nobody-prepared-this', limit: 10 })).toEqual([]);
        expect(await store.count({ collection: 'nobody-prepared-this' })).toBe(0);
      });

      it('cannot be committed to a collection that was not prepared', async () => {
        const write = { collection: 'nobody-prepared-this', id: 'a', document: {}, position: at(1) };
        const commit = { projection: 'nobody', generation: 1, writes: [write], position: at(1) };
        await expect(store.commit(commit)).rejects.toThrow(/prepared/);
      });

      it('refuse what is at or before the position that they have', async () => {
        const { documents, commit } = await collection();
        await commit(5, { a: { n: 5 } });
        await commit(5, { a: { n: -5 } });
        await commit(4, { a: { n: 4 } });
        expect((await store.load(documents, ['a'])).get('a')).toEqual({ id: 'a', position: at(5), document: { n: 5 } });
        await commit(6, { a: { n: 6 } });
        expect((await store.load(documents, ['a'])).get('a')?.document).toEqual({ n: 6 });
      });

      it('refuse only themselves: the rest of a repeated batch is written', async () => {
        const { documents, commit } = await collection();
        await commit(5, { a: { n: 5 } });
        await commit(4, { a: { n: 4 }, b: { n: 4 } });
        const loaded = await store.load(documents, ['a', 'b']);
        expect([...loaded.values()].map(({ document }) => document)).toEqual([{ n: 5 }, { n: 4 }]);
      });

      it('leave a tombstone, which is invisible and keeps its position', async () => {
        const { documents, commit } = await collection([['n']]);
        await commit(1, { a: { n: 1 } });
        await commit(2, { a: null });
        const seen = async () => ({
          loaded: (await store.load(documents, ['a'])).size,
          found: (await store.find({ collection: documents, limit: 10 })).length,
          byField: (await store.find({ collection: documents, equals: { n: 1 }, limit: 10 })).length,
          lacking: (await store.find({ collection: documents, equals: { n: null }, limit: 10 })).length,
          counted: await store.count({ collection: documents }),
        });
        expect(await seen()).toEqual({ loaded: 0, found: 0, byField: 0, lacking: 0, counted: 0 });
        await commit(1, { a: { n: 1 } });
        expect((await seen()).loaded).toBe(0);
        const states = await other.loadStates(documents, ['a', 'b'], 1);
        expect([...states]).toEqual([['a', { position: at(2), document: null }]]);
        await commit(3, { a: { n: 3 } });
        expect((await seen()).loaded).toBe(1);
        const state = (await other.loadStates(documents, ['a'], 1)).get('a');
        expect(state).toEqual({ position: at(3), document: { n: 3 } });
      });

      it('become visible in the order in which they are written', async () => {
        const { projection, documents } = await collection();
        const rounds = 150;
        let done = false;
        const reader = (async () => {
          const number = async (id: string) => Number((await other.load(documents, [id])).get(id)?.document.n ?? 0);
          let looks = 0;
          for (; !done; looks++) {
            // Read in the reverse order of writing: what is written last must never be ahead.
            const last = await number('case');
            expect(await number('filing')).toBeGreaterThanOrEqual(last);
            await new Promise((resolve) => setImmediate(resolve));
          }
          return looks;
        })();
        for (let n = 1; n <= rounds; n++) {
          const write = (id: string) => ({ collection: documents, id, document: { n }, position: at(n) });
          await store.commit({ projection, generation: 1, writes: [write('filing'), write('case')], position: at(n) });
          if (n % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
        }
        done = true;
        expect(await reader).toBeGreaterThan(0);
      });
    });

    describe('checkpoints', () => {
      it('know the last event that was folded, where a commit names it', async () => {
        const { projection, commit } = await collection();
        const mark = (position: number) => ({
          position: at(position),
          stream: `note ${position}`,
          revision: position,
          id: randomUUID(),
        });
        const named = (position: number, newest = mark(position)) =>
          store.commit({ projection, generation: 1, writes: [], position: at(position), newest }).then(() => newest);
        expect(await store.newestEvent(projection, 1)).toBeNull();
        await commit(3, {});
        expect(await store.newestEvent(projection, 1)).toBeNull();
        const tenth = await named(10);
        expect(await other.newestEvent(projection, 1)).toEqual(tenth);
        await named(4);
        await commit(12, {});
        expect(await store.newestEvent(projection, 1)).toEqual(tenth);
        expect(await store.checkpoint(projection, 1)).toBe(at(12));
        expect(await store.newestEvent(projection, 2)).toBeNull();
      });

      it('stand behind the writes, go forward only, and are kept for each generation', async () => {
        const { projection, documents, commit } = await collection();
        expect(await store.checkpoint(projection, 1)).toBeNull();
        await commit(5, { a: { n: 5 } });
        expect(await other.checkpoint(projection, 1)).toBe(at(5));
        await commit(3, {});
        expect(await store.checkpoint(projection, 1)).toBe(at(5));
        await commit(9, {});
        expect(await store.checkpoint(projection, 1)).toBe(at(9));
        expect(await store.checkpoint(projection, 2)).toBeNull();
        expect((await store.load(documents, ['a'])).get('a')?.position).toBe(at(5));
      });
    });

    describe('generations', () => {
      const to = (active: number, next: number | null = null) => ({ active, next });

      it('are pointed to by a pointer that moves only from where it was read', async () => {
        const { projection } = await collection();
        expect(await store.generationPointer(projection)).toEqual(FIRST_POINTER);
        expect(await store.movePointer(projection, to(2), to(3))).toBe(false);
        expect(await store.movePointer(projection, to(1), to(1, 2))).toBe(true);
        expect(await other.generationPointer(projection)).toEqual(to(1, 2));
        expect(await other.movePointer(projection, FIRST_POINTER, to(3))).toBe(false);
        expect(await other.movePointer(projection, to(1, 2), to(2))).toBe(true);
        expect(await store.activeGeneration(projection)).toBe(2);
      });

      it('move for one of many that try at once', async () => {
        const { projection } = await collection();
        const moves = [2, 3, 4, 5].map((generation, index) =>
          (index % 2 ? store : other).movePointer(projection, FIRST_POINTER, to(generation)),
        );
        expect((await Promise.all(moves)).filter((moved) => moved)).toHaveLength(1);
      });

      it('are listed from their preparation until they are retired', async () => {
        const { projection, documents } = await collection();
        for (const generation of [12, 3])
          await store.prepare(projection, generation, [{ name: documents, indexes: [] }]);
        expect(await other.generations(projection)).toEqual([1, 3, 12]);
        await store.retireGeneration(projection, 3);
        expect(await other.generations(projection)).toEqual([1, 12]);
        expect(await other.generations('nobody')).toEqual([]);
      });

      it('remember when their checkpoint last moved', async () => {
        const { projection } = await collection();
        expect(await store.progress(projection, 1)).toBeNull();
        const commit = (position: number, second: number) =>
          store.commit({
            projection,
            generation: 1,
            writes: [],
            position: at(position),
            folded: 3,
            at: `2026-01-01T00:00:0${second}.000000Z` as Instant,
          });
        await commit(5, 1);
        await commit(6, 2);
        expect(await other.progress(projection, 1)).toEqual({
          position: at(6),
          movedAt: '2026-01-01T00:00:02.000000Z',
          folded: 6,
        });
      });

      it('live side by side, and readers follow the pointer', async () => {
        const { projection, documents, commit } = await collection([['n']]);
        await commit(1, { a: { n: 1 } });
        await store.prepare(projection, 2, [{ name: documents, indexes: [['n']] }]);
        await commit(1, { a: { n: 2 }, b: { n: 2 } }, 2);
        const seen = async () => ({
          a: (await other.load(documents, ['a'])).get('a')?.document.n,
          found: (await other.find({ collection: documents, limit: 10 })).length,
          counted: await other.count({ collection: documents, equals: { n: 2 } }),
        });
        expect(await store.activeGeneration(projection)).toBe(1);
        expect(await seen()).toEqual({ a: 1, found: 1, counted: 0 });
        expect(await store.movePointer(projection, FIRST_POINTER, to(2))).toBe(true);
        expect(await other.activeGeneration(projection)).toBe(2);
        expect(await seen()).toEqual({ a: 2, found: 2, counted: 2 });
        expect((await store.load(documents, ['a'], 1)).get('a')?.document).toEqual({ n: 1 });
        expect(await store.find({ collection: documents, limit: 10 }, 1)).toHaveLength(1);
        expect(await other.movePointer(projection, to(2), to(1))).toBe(true);
        expect((await seen()).a).toBe(1);
      });

      it('are removed with their checkpoint once they are retired, unless readers see them', async () => {
        const { projection, documents, commit } = await collection();
        await commit(5, { a: { n: 1 } });
        await store.prepare(projection, 2, [{ name: documents, indexes: [['n']] }]);
        await expect(store.retireGeneration(projection, 1)).rejects.toThrow(RangeError);
        await store.movePointer(projection, FIRST_POINTER, to(1, 2));
        await expect(store.retireGeneration(projection, 2)).rejects.toThrow(RangeError);
        await store.movePointer(projection, to(1, 2), FIRST_POINTER);
        await store.movePointer(projection, FIRST_POINTER, to(2));
        await store.retireGeneration(projection, 1);
        await store.retireGeneration(projection, 1);
        expect(await store.checkpoint(projection, 1)).toBeNull();
        expect((await store.load(documents, ['a'], 1)).size).toBe(0);
        expect(await store.find({ collection: documents, limit: 10 })).toEqual([]);
        await commit(1, { a: { n: 2 } }, 2);
        expect((await other.load(documents, ['a'])).get('a')?.document).toEqual({ n: 2 });
        // It can begin once more, from nothing.
        await store.prepare(projection, 1, [{ name: documents, indexes: [] }]);
        await commit(1, { b: { n: 3 } }, 1);
        expect((await store.load(documents, ['a', 'b'], 1)).size).toBe(1);
      });

      it('can be prepared again without harm, but only by their owner', async () => {
        const { projection, documents, commit } = await collection([['n']]);
        await commit(1, { a: { n: 1 } });
        await store.prepare(projection, 1, [{ name: documents, indexes: [['n'], ['m', 'n']] }]);
        expect((await store.load(documents, ['a'])).size).toBe(1);
        await expect(store.prepare('someone-else', 1, [{ name: documents, indexes: [] }])).rejects.toThrow(projection);
      });
    });

    describe('finding', () => {
      const idsOf = async (query: Find) => (await store.find(query)).map(({ id }) => id);

      it('compares fields of every type, and distinguishes types', async () => {
        const { documents, commit } = await collection([['k']]);
        await commit(1, {
          text: { k: '1' },
          number: { k: 1 },
          yes: { k: true },
          no: { k: false },
          none: { k: null },
          absent: {},
        });
        const by = (k: string | number | boolean | null) => idsOf({ collection: documents, equals: { k }, limit: 10 });
        expect(await by('1')).toEqual(['text']);
        expect(await by(1)).toEqual(['number']);
        expect(await by(true)).toEqual(['yes']);
        expect(await by(false)).toEqual(['no']);
        expect(await by(0)).toEqual([]);
        expect(await by(null)).toEqual(['absent', 'none']);
        expect(await store.count({ collection: documents, equals: { k: null } })).toBe(2);
      });

      it('goes by ranges of text and of numbers, each within its type', async () => {
        const { documents, commit } = await collection([['owner', 'k']]);
        await commit(1, {
          a: { owner: 'x', k: 'a' },
          b: { owner: 'x', k: 'b' },
          c: { owner: 'x', k: 'c' },
          n1: { owner: 'x', k: 1 },
          n2: { owner: 'x', k: 1_772_366_400_000_001 },
          n3: { owner: 'x', k: 1_772_366_400_000_002 },
          nothing: { owner: 'x' },
          foreign: { owner: 'y', k: 'b' },
        });
        const within = (range: Omit<NonNullable<Find['range']>, 'field'>) =>
          idsOf({ collection: documents, equals: { owner: 'x' }, range: { field: 'k', ...range }, limit: 10 });
        expect(await within({ above: 'a' })).toEqual(['b', 'c']);
        expect(await within({ from: 'a', upTo: 'b' })).toEqual(['a', 'b']);
        expect(await within({ above: 'a', below: 'c' })).toEqual(['b']);
        expect(await within({ upTo: 'b' })).toEqual(['a', 'b']);
        expect(await within({ above: 1 })).toEqual(['n2', 'n3']);
        expect(await within({ above: 1_772_366_400_000_001 })).toEqual(['n3']);
        expect(await within({ below: 2 })).toEqual(['n1']);
        expect(await within({})).toHaveLength(7);
        const query = { collection: documents, equals: { owner: 'x' }, range: { field: 'k', from: 'b' } };
        expect(await store.count(query)).toBe(2);
        expect(await store.count({ ...query, limit: 1 })).toBe(1);
        expect(await store.count({ ...query, limit: 3 })).toBe(2);
      });

      it('counts the documents of each text of a field, the most frequent first', async () => {
        const { documents, commit } = await collection([['owner', 'k']]);
        const of = (owner: string | number | null, k: number) => ({ owner, k });
        await commit(1, {
          a: of('x', 1),
          b: of('y', 2),
          c: of('y', 3),
          d: of('w', 4),
          number: of(1, 5),
          none: of(null, 6),
          absent: { k: 7 },
          deleted: of('x', 8),
        });
        await commit(2, { deleted: null });
        const tally = (more: Partial<Tally>) => store.tally({ collection: documents, by: 'owner', limit: 9, ...more });
        expect(await tally({})).toEqual([
          { value: 'y', count: 2 },
          { value: 'w', count: 1 },
          { value: 'x', count: 1 },
        ]);
        expect(await tally({ limit: 1 })).toEqual([{ value: 'y', count: 2 }]);
        expect(await tally({ range: { field: 'k', upTo: 2 } })).toEqual([
          { value: 'x', count: 1 },
          { value: 'y', count: 1 },
        ]);
        expect(await store.tally({ collection: 'nobody-prepared-this', by: 'owner', limit: 9 })).toEqual([]);
      });

      it('orders by id, or by a field and then by id, up to a limit', async () => {
        const { documents, commit } = await collection([['k']]);
        await commit(1, { d: { k: 1 }, a: { k: 2 }, c: { k: 1 }, b: { k: 2 }, e: {} });
        expect(await idsOf({ collection: documents, limit: 3 })).toEqual(['a', 'b', 'c']);
        const order = { field: 'k', direction: 'ascending' } as const;
        expect(await idsOf({ collection: documents, order, limit: 9 })).toEqual(['e', 'c', 'd', 'a', 'b']);
        const descending = { field: 'k', direction: 'descending' } as const;
        expect(await idsOf({ collection: documents, order: descending, limit: 9 })).toEqual(['b', 'a', 'd', 'c', 'e']);
        expect(await idsOf({ collection: documents, order, limit: 0 })).toEqual([]);
      });

      it.each([
        ['by id', undefined],
        ['ascending', { field: 'k', direction: 'ascending' }],
        ['descending', { field: 'k', direction: 'descending' }],
      ] as const)('pages %s without loss or repetition', async (_, order) => {
        const { documents, commit } = await collection([['k']]);
        const written: Record<string, JsonObject> = {};
        for (let index = 0; index < 30; index++) {
          written[`id-${(index * 7) % 30}`] = index % 5 === 0 ? {} : { k: `value ${index % 4}` };
        }
        await commit(1, written);
        const query = order ? { collection: documents, order } : { collection: documents };
        const whole = await idsOf({ ...query, limit: 100 });
        expect(whole).toHaveLength(30);
        for (const size of [1, 4, 7, 30]) {
          const paged: string[] = [];
          let after: Find['after'];
          for (;;) {
            const page = await store.find<{ k?: string }>({ ...query, limit: size, ...(after && { after }) });
            const last = page.at(-1);
            if (!last) break;
            paged.push(...page.map(({ id }) => id));
            after = order && last.document.k !== undefined ? { value: last.document.k, id: last.id } : { id: last.id };
          }
          expect(paged).toEqual(whole);
        }
      });

      it('treats values as data', async () => {
        const { documents, commit } = await collection([['k']]);
        await commit(1, { a: { k: "' OR 1=1 --" }, b: { k: 'x' } });
        expect(await idsOf({ collection: documents, equals: { k: "' OR 1=1 --" }, limit: 9 })).toEqual(['a']);
        await expect(store.find({ collection: documents, equals: { "k') OR 1=1 --": 1 }, limit: 9 })).rejects.toThrow();
      });
    });

    describe('cells', () => {
      it('change only for who knows their version', async () => {
        const id = randomUUID();
        expect(await store.cell(id)).toEqual({ version: 0, value: null });
        expect(await store.compareAndSet(id, 1, { n: 0 })).toBe(false);
        expect(await store.compareAndSet(id, 0, { n: 1 })).toBe(true);
        expect(await store.compareAndSet(id, 0, { n: 2 })).toBe(false);
        expect(await other.cell(id)).toEqual({ version: 1, value: { n: 1 } });
        expect(await other.compareAndSet(id, 1, { n: 2 })).toBe(true);
        expect(await store.compareAndSet(id, 1, { n: 3 })).toBe(false);
        expect(await store.cell(id)).toEqual({ version: 2, value: { n: 2 } });
      });

      it('lose no change of many at the same time', async () => {
        const id = randomUUID();
        const add = async (client: ReadStore) => {
          for (let added = 0; added < 10; ) {
            const { version, value } = await client.cell(id);
            if (await client.compareAndSet(id, version, { n: Number(value?.n ?? 0) + 1 })) added++;
          }
        };
        await Promise.all([store, other, store, other].map(add));
        expect(await store.cell(id)).toEqual({ version: 40, value: { n: 40 } });
      });
    });

    describe('leases', () => {
      const DURATION = 15 * MICROS_PER_SECOND;

      it('have one owner until they expire or are released', async () => {
        const name = randomUUID();
        const first = await store.acquireLease(name, 'A', 1000, DURATION);
        expect(first).toMatchObject({ name, owner: 'A' });
        expect(await other.acquireLease(name, 'B', 1000 + DURATION - 1, DURATION)).toBeNull();
        const second = await other.acquireLease(name, 'B', 1000 + DURATION, DURATION);
        expect(second?.token).toBeGreaterThan(first?.token ?? 0);
        expect(await store.acquireLease(name, 'A', 2000 + DURATION, DURATION)).toBeNull();
        await other.releaseLease(second!);
        const third = await store.acquireLease(name, 'A', 2000 + DURATION, DURATION);
        expect(third?.token).toBeGreaterThan(second?.token ?? 0);
      });

      it('keep their token while they are renewed, and get a new one after they lapsed', async () => {
        const name = randomUUID();
        const first = await store.acquireLease(name, 'A', 0, DURATION);
        const renewed = await store.acquireLease(name, 'A', DURATION - 1, DURATION);
        expect(renewed).toEqual(first);
        expect(await other.acquireLease(name, 'B', DURATION + 1, DURATION)).toBeNull();
        const again = await store.acquireLease(name, 'A', 3 * DURATION, DURATION);
        expect(again?.token).toBeGreaterThan(first?.token ?? 0);
      });

      it('are not released by who no longer holds them', async () => {
        const name = randomUUID();
        const old = await store.acquireLease(name, 'A', 0, DURATION);
        const current = await other.acquireLease(name, 'B', DURATION, DURATION);
        await store.releaseLease(old!);
        expect(await store.acquireLease(name, 'A', DURATION + 1, DURATION)).toBeNull();
        expect(await other.acquireLease(name, 'B', DURATION + 1, DURATION)).toEqual(current);
      });

      it('of a clock that has since been set back end when they are not renewed, not before', async () => {
        const name = randomUUID();
        const hours = 6 * 3_600 * MICROS_PER_SECOND;
        const lost = await store.acquireLease(name, 'A', hours, DURATION);
        for (const now of [0, DURATION / 2, DURATION - 1])
          expect(await other.acquireLease(name, 'B', now, DURATION)).toBeNull();
        const taken = await other.acquireLease(name, 'B', DURATION, DURATION);
        expect(taken?.token).toBeGreaterThan(lost?.token ?? 0);
        await store.releaseLease(lost!);
        expect(await store.acquireLease(name, 'C', DURATION + 1, DURATION)).toBeNull();
        expect(await store.acquireLease(name, 'C', 2 * DURATION, DURATION)).not.toBeNull();
      });

      it('are not taken from a holder whose clock is ahead for as long as it renews them', async () => {
        const name = randomUUID();
        const ahead = 6 * 3_600 * MICROS_PER_SECOND;
        const held = await store.acquireLease(name, 'A', ahead, DURATION);
        for (let now = 0; now < 5 * DURATION; now += DURATION / 3) {
          expect(await other.acquireLease(name, 'B', now, DURATION)).toBeNull();
          expect(await store.acquireLease(name, 'A', ahead + now + 1, DURATION)).toEqual(held);
        }
      });

      it('go to one of many that ask at the same time', async () => {
        const name = randomUUID();
        const asked = Array.from({ length: 20 }, (_, index) =>
          (index % 2 ? store : other).acquireLease(name, `owner ${index}`, 0, DURATION),
        );
        expect((await Promise.all(asked)).filter((lease) => lease !== null)).toHaveLength(1);
      });
    });

    describe('what operators see', () => {
      const DURATION = 15 * MICROS_PER_SECOND;
      /** Later than all other tests, so that their leases have expired. */
      const LATER = 40 * 24 * 3_600 * MICROS_PER_SECOND;

      it('are the leases that are held, by name, with owner, token and end', async () => {
        const held = await store.acquireLease('z/held', 'A', LATER, DURATION);
        await other.acquireLease('a/held', 'B', LATER, 2 * DURATION);
        await store.acquireLease('m/expired', 'A', LATER - DURATION, DURATION);
        await store.releaseLease((await store.acquireLease('n/released', 'A', LATER, DURATION))!);
        const seen = await other.leases(LATER);
        expect(seen.map(({ name, owner, expiresAt }) => [name, owner, expiresAt])).toEqual([
          ['a/held', 'B', LATER + 2 * DURATION],
          ['z/held', 'A', LATER + DURATION],
        ]);
        expect(seen[1]?.token).toBe(held?.token);
        expect(await store.leases(LATER + 2 * DURATION)).toEqual([]);
      });

      it('are notices: newest first, replaced whole, each kind apart, gone once they expire', async () => {
        const notice = (id: string, at: number, n: number, kind: 'node' | 'alarm' = 'node') => ({
          kind,
          id,
          value: { n, text: 'naïve \u{1F4C4}' },
          at,
          expiresAt: at + DURATION,
        });
        const shown = ({ expiresAt: _, ...rest }: ReturnType<typeof notice>) => rest;
        await store.writeNotices([notice('a', 1_000, 1), notice('b', 2_000, 2), notice('a', 1_000, 9, 'alarm')]);
        await other.writeNotices([notice('a', 3_000, 3)]);
        expect(await store.notices('node', 4_000)).toEqual([notice('a', 3_000, 3), notice('b', 2_000, 2)].map(shown));
        expect(await other.notices('alarm', 4_000)).toEqual([shown(notice('a', 1_000, 9, 'alarm'))]);
        expect(await store.notices('node', 2_000 + DURATION)).toEqual([shown(notice('a', 3_000, 3))]);
        expect(await store.notices('node', 3_000 + DURATION)).toEqual([]);
      });

      it('are bounded: of each kind the newest stay', async () => {
        const at = 10 * LATER;
        const written = (first: number, count: number) =>
          Array.from({ length: count }, (_, index) => ({
            kind: 'alarm' as const,
            id: `bounded ${first + index}`,
            value: {},
            at: at + first + index,
            expiresAt: at + DURATION,
          }));
        await store.writeNotices(written(0, MOST_NOTICES));
        await store.writeNotices(written(MOST_NOTICES, 2));
        const ids = (await other.notices('alarm', at)).map(({ id }) => id);
        expect(ids).toHaveLength(MOST_NOTICES);
        expect([ids.at(0), ids.at(-1)]).toEqual([`bounded ${MOST_NOTICES + 1}`, 'bounded 2']);
      });

      it('written by many at the same time are whole', async () => {
        const at = 20 * LATER;
        const writing = Array.from({ length: 10 }, (_, n) =>
          (n % 2 ? store : other).writeNotices([
            { kind: 'node', id: 'one', value: { n }, at, expiresAt: at + DURATION },
          ]),
        );
        await Promise.all(writing);
        expect(await store.notices('node', at)).toHaveLength(1);
      });
    });

    describe('counters', () => {
      const WINDOW = 60 * MICROS_PER_SECOND;

      it('count up to their limit, and what does not fit does not count', async () => {
        const id = randomUUID();
        expect(await store.increment(id, 3, 5, 1000, WINDOW)).toEqual({
          count: 3,
          allowed: true,
          resetsAt: 1000 + WINDOW,
        });
        expect(await other.increment(id, 3, 5, 2000, WINDOW)).toEqual({
          count: 3,
          allowed: false,
          resetsAt: 1000 + WINDOW,
        });
        expect(await store.increment(id, 2, 5, 3000, WINDOW)).toEqual({
          count: 5,
          allowed: true,
          resetsAt: 1000 + WINDOW,
        });
        expect(await store.increment(id, 1, 5, 3000, WINDOW)).toMatchObject({ count: 5, allowed: false });
      });

      it('start again when their window has ended', async () => {
        const id = randomUUID();
        await store.increment(id, 5, 5, 1000, WINDOW);
        expect(await store.increment(id, 1, 5, 999 + WINDOW, WINDOW)).toMatchObject({ count: 5, allowed: false });
        const next = { count: 1, allowed: true, resetsAt: 1000 + 2 * WINDOW };
        expect(await store.increment(id, 1, 5, 1000 + WINDOW, WINDOW)).toEqual(next);
      });

      it('can be read, and can be given back', async () => {
        const id = randomUUID();
        expect(await store.increment(id, 0, 5, 500, WINDOW)).toMatchObject({ count: 0, allowed: true });
        await store.increment(id, 4, 5, 1000, WINDOW);
        expect(await store.increment(id, 0, 5, 2000, WINDOW)).toEqual({
          count: 4,
          allowed: true,
          resetsAt: 1000 + WINDOW,
        });
        expect(await store.increment(id, -3, 5, 2000, WINDOW)).toMatchObject({ count: 1, allowed: true });
        expect(await store.increment(id, -3, 5, 2000, WINDOW)).toMatchObject({ count: 0, allowed: true });
        await store.increment(id, -3, 5, 2000 + WINDOW, WINDOW);
        const started = await store.increment(id, 1, 5, 3000 + WINDOW, WINDOW);
        expect(started).toEqual({ count: 1, allowed: true, resetsAt: 3000 + 2 * WINDOW });
      });

      it('refuse the first increment that is over the limit by itself', async () => {
        const id = randomUUID();
        expect(await store.increment(id, 6, 5, 1000, WINDOW)).toMatchObject({ count: 0, allowed: false });
        expect(await store.increment(id, 5, 5, 9000, WINDOW)).toEqual({
          count: 5,
          allowed: true,
          resetsAt: 9000 + WINDOW,
        });
      });

      it('end no later than a window that begins now, when the clock was set back', async () => {
        const DAY = 86_400 * MICROS_PER_SECOND;
        const [full, begun] = [randomUUID(), randomUUID()];
        await store.increment(full, 5, 5, DAY, WINDOW);
        await store.increment(begun, 1, 5, DAY, WINDOW);
        const refused = { count: 5, allowed: false, resetsAt: 1000 + WINDOW };
        expect(await store.increment(full, 1, 5, 1000, WINDOW)).toEqual(refused);
        expect(await other.increment(full, 0, 5, 2000, WINDOW)).toEqual({ ...refused, allowed: true });
        expect(await other.increment(full, 1, 5, 2000, WINDOW)).toEqual(refused);
        expect(await store.increment(full, 1, 5, 1000 + WINDOW, WINDOW)).toMatchObject({ count: 1, allowed: true });
        const counted = { count: 2, allowed: true, resetsAt: 1000 + WINDOW };
        expect(await store.increment(begun, 1, 5, 1000, WINDOW)).toEqual(counted);
        expect(await store.increment(begun, -1, 5, 2000, WINDOW)).toEqual({ ...counted, count: 1 });
      });

      it('count in turn up to the first that does not fit', async () => {
        const [minute, day] = [randomUUID(), randomUUID()];
        const both = (now: number) => [
          { id: minute, amount: 1, limit: 2, now, windowMicros: WINDOW },
          { id: day, amount: 1, limit: 9, now, windowMicros: 10 * WINDOW },
        ];
        expect(await store.incrementInTurn(both(1000))).toEqual([
          { count: 1, allowed: true, resetsAt: 1000 + WINDOW },
          { count: 1, allowed: true, resetsAt: 1000 + 10 * WINDOW },
        ]);
        await other.incrementInTurn(both(2000));
        // The first refuses, so the second is not touched.
        expect(await store.incrementInTurn(both(3000))).toEqual([
          { count: 2, allowed: false, resetsAt: 1000 + WINDOW },
        ]);
        expect((await store.increment(day, 0, 9, 3000, WINDOW * 10)).count).toBe(2);
        // The second refuses, and what the first has counted stands.
        const reversed = both(4000).toReversed();
        expect((await other.incrementInTurn(reversed)).map(({ allowed }) => allowed)).toEqual([true, false]);
        expect((await store.increment(day, 0, 9, 4000, WINDOW * 10)).count).toBe(3);
        expect(await store.incrementInTurn([])).toEqual([]);
      });

      it('start a new window at 0, where that is asked, and keep an open one otherwise', async () => {
        const id = randomUUID();
        const add = async (amount: number, now: number, limit = 2) => {
          const [counted] = await store.incrementInTurn([
            { id, amount, limit, now, windowMicros: WINDOW, restartsAtZero: true },
          ]);
          return counted;
        };
        expect(await add(1, 1000)).toEqual({ count: 1, allowed: true, resetsAt: 1000 + WINDOW });
        expect(await add(1, 2000)).toEqual({ count: 2, allowed: true, resetsAt: 1000 + WINDOW });
        expect(await add(1, 3000)).toEqual({ count: 2, allowed: false, resetsAt: 1000 + WINDOW });
        await store.increment(id, -2, 2, 4000, WINDOW);
        expect(await store.increment(id, 0, 2, 4500, WINDOW)).toMatchObject({ count: 0 });
        expect(await add(3, 4600)).toMatchObject({ count: 0, allowed: false });
        expect(await add(1, 5000)).toEqual({ count: 1, allowed: true, resetsAt: 5000 + WINDOW });
        expect(await add(1, 5000 + WINDOW)).toEqual({ count: 1, allowed: true, resetsAt: 5000 + 2 * WINDOW });
      });

      it('are exact for many that start a window at 0 at the same time', async () => {
        const id = randomUUID();
        await store.increment(id, 1, 9, 1000, WINDOW);
        await store.increment(id, -1, 9, 1000, WINDOW);
        const asked = Array.from({ length: 40 }, (_, index) =>
          (index % 2 ? store : other).incrementInTurn([
            { id, amount: 1, limit: 25, now: 2000, windowMicros: WINDOW, restartsAtZero: true },
          ]),
        );
        const counted = (await Promise.all(asked)).flat();
        expect(counted.filter(({ allowed }) => allowed)).toHaveLength(25);
        expect(await store.increment(id, 0, 25, 2000, WINDOW)).toMatchObject({ count: 25, resetsAt: 2000 + WINDOW });
      });

      it('are exact in turn for many at the same time', async () => {
        const [first, second] = [randomUUID(), randomUUID()];
        const asked = Array.from({ length: 60 }, (_, index) =>
          (index % 2 ? store : other).incrementInTurn([
            { id: first, amount: 1, limit: 40, now: 1000, windowMicros: WINDOW },
            { id: second, amount: 1, limit: 30, now: 1000, windowMicros: WINDOW },
          ]),
        );
        const fitted = (await Promise.all(asked)).map((counted) => counted.filter(({ allowed }) => allowed).length);
        expect(fitted.filter((count) => count >= 1)).toHaveLength(40);
        expect(fitted.filter((count) => count === 2)).toHaveLength(30);
      });

      it('are exact for many at the same time', async () => {
        const id = randomUUID();
        const asked = Array.from({ length: 90 }, (_, index) =>
          (index % 2 ? store : other).increment(id, 1, 60, 1000, WINDOW),
        );
        const counted = await Promise.all(asked);
        expect(counted.filter(({ allowed }) => allowed)).toHaveLength(60);
        expect((await store.increment(id, 0, 60, 1000, WINDOW)).count).toBe(60);
      });
    });

    it('belongs to the log that is named first', async () => {
      expect([null, 'this log']).toContain(await store.logId());
      expect(await store.belongTo('this log')).toBe('this log');
      expect(await other.belongTo('another log')).toBe('this log');
      expect(await other.logId()).toBe('this log');
    });

    it('answers a check', async () => {
      await store.check();
    });
  });
}
