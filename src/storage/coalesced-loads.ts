/**
 * Merges loads that are requested at the same moment, so that a batch of queries reads the store a few times instead of
 * fifty. It also yields to the event loop before each search, so that a batch delays others no longer than a single
 * query does.
 */
import { nextTurn } from '../runtime/next-turn.ts';
import type { QueryStore, Stored } from './read-store.ts';

interface Waiting {
  readonly ids: Set<string>;
  readonly loaded: Promise<ReadonlyMap<string, Stored<unknown>>>;
}

/**
 * A view of a read store whose `load` waits until everything else that is ready has made its request too. It caches
 * nothing: a later request reads again.
 */
export function coalescedLoads(store: QueryStore): QueryStore {
  const waiting = new Map<string, Waiting>();
  return {
    async find(query, generation) {
      // An embedded store answers without yielding the thread.
      await nextTurn();
      return store.find(query, generation);
    },
    count: (query, generation) => store.count(query, generation),
    cell: (id) => store.cell(id),
    compareAndSet: (id, version, value) => store.compareAndSet(id, version, value),
    activeGeneration: (projection) => store.activeGeneration(projection),
    async load<Document>(collection: string, ids: readonly string[], generation?: number) {
      const key = `${generation ?? 'active'} ${collection}`;
      const round = waiting.get(key) ?? open(key, (all) => store.load<unknown>(collection, all, generation));
      for (const id of ids) round.ids.add(id);
      const loaded = await round.loaded;
      const own = new Map<string, Stored<Document>>();
      for (const id of ids) {
        const stored = loaded.get(id);
        if (stored) own.set(id, stored as Stored<Document>);
      }
      return own;
    },
  };

  function open(key: string, load: (ids: readonly string[]) => Promise<ReadonlyMap<string, Stored<unknown>>>): Waiting {
    const ids = new Set<string>();
    const loaded = nextTurn().then(() => {
      waiting.delete(key);
      return load([...ids]);
    });
    const round = { ids, loaded };
    waiting.set(key, round);
    return round;
  }
}
