/**
 * Given a case that readers see, when readers move to a generation that is behind between two reads of one answer, then
 * the answer is made of one generation alone: no filing is lost between a case and its filings.
 */
import { afterEach, expect, it } from 'vitest';
import { cases } from '../../src/projections/cases.ts';
import { createCaseQueries } from '../../src/queries/case-answer.ts';
import type { ReadStore } from '../../src/storage/read-store.ts';
import { rawDocket, rawEntry } from '../dockets/raw-docket.ts';
import { bodyOf, court, openWorld, type World } from '../dockets/world.ts';

let world: World;
afterEach(() => world.close());

it('loses no filing while readers move', async () => {
  world = await openWorld();
  await world.ingest(rawDocket([rawEntry(1, '2024-02-05', 'COMPLAINT'), rawEntry(2, '2024-02-07', 'SUMMONS')]));
  const { readStore } = world.storage;
  await readStore.prepare(cases.name, 2, cases.collections);
  let moves = 0;
  /** Moves readers once the case has been read. */
  const moving = new Proxy(readStore, {
    get: (store, name: keyof ReadStore) => {
      if (name !== 'find' && name !== 'load') return (store[name] as () => unknown).bind(store);
      return async (...args: unknown[]) => {
        const read = store[name] as (...all: unknown[]) => Promise<unknown>;
        const result = await read.apply(store, args);
        const isCase = args[0] === 'cases';
        if (isCase && moves++ === 0) {
          await store.movePointer(cases.name, { active: 1, next: null }, { active: 2, next: null });
        }
        return result;
      };
    },
  });
  const queries = createCaseQueries({ ...world, readStore: moving, patienceMs: 100 });
  const caseId = '3:24-cv-01234';
  const options = { since: null, context: 'full', language: null, filingTypes: null } as const;
  const lastChecked = '2000-01-01T00:00:00.000000Z';
  const answer = await queries.answerCase({ court: court('cand'), courtCode: 'cand', caseId, lastChecked, ...options });
  if ('problem' in answer) throw new Error(answer.problem);
  expect(moves).toBe(1);
  expect(await readStore.activeGeneration(cases.name)).toBe(2);
  expect(bodyOf(answer)).toMatchObject({ delta: { change_count: 2 }, case: { docket_history: { length: 2 } } });
});
