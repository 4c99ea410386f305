/**
 * One generation of a read model for all reads of one answer. The pointer may move between two of them, and the new
 * generation may be a moment behind: an answer made of both would miss what only one of them shows.
 */
import type { QueryStore } from './read-store.ts';

export const pinnedTo = (store: QueryStore, generation: number): QueryStore => ({
  load: (collection, ids) => store.load(collection, ids, generation),
  find: (query) => store.find(query, generation),
  count: (query) => store.count(query, generation),
  cell: (id) => store.cell(id),
  compareAndSet: (id, version, value) => store.compareAndSet(id, version, value),
  activeGeneration: async () => generation,
});
