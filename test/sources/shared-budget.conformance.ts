/**
 * Given nodes that share a read store, when all of them take from the budget of a source at the same time, then exactly as
 * many requests are taken as its windows allow, and a hold of one node holds all.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/events/event.ts';
import { MICROS_PER_SECOND } from '../../src/runtime/instant.ts';
import { readRates } from '../../src/sources/settings.ts';
import { createSharedBudget, type SharedBudgetOptions } from '../../src/sources/shared-budget.ts';
import type { Priority } from '../../src/sources/source.ts';
import { openTestStorage, type TestStorage } from '../support/storage.ts';

type Cells = SharedBudgetOptions['readStore'];

/** Cells in memory that let other takes in between a read and its write. */
function memoryCells(): Cells {
  const cells = new Map<string, { version: number; value: JsonObject }>();
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  return {
    async cell(id) {
      await turn();
      return cells.get(id) ?? { version: 0, value: null };
    },
    async compareAndSet(id, version, value) {
      await turn();
      if ((cells.get(id)?.version ?? 0) !== version) return false;
      cells.set(id, { version: version + 1, value });
      return true;
    },
  };
}

/** Runs on memory, and on the storage of the run: embedded, or the engines. */
export function sharedBudgetConformance(): void {
  const directory = mkdtempSync(join(tmpdir(), 'budget-'));
  let storage: TestStorage;
  beforeAll(async () => {
    storage = await openTestStorage(directory);
  });
  afterAll(async () => {
    await storage.close();
    rmSync(directory, { recursive: true });
  });

  describe.each<[string, () => Cells]>([
    ['memory', memoryCells],
    ['the storage of this run', () => storage.readStore],
  ])('a budget in %s', (name, open) => {
    let now = 1_767_225_600_000_000;
    const clock = { now: () => now };
    const nodesOf = (budget: string, rates: string, cells: Cells) =>
      [1, 2, 3].map(() =>
        createSharedBudget({ readStore: cells, clock, name: `${name} ${budget}`, rates: readRates(rates) ?? [] }),
      );

    it('is spent exactly, by all nodes together and in the order of priority', async () => {
      const nodes = nodesOf('spent', '10/min,15/hour', open());
      const taken = async (priority: Priority): Promise<number> => {
        const outcomes = await Promise.all(
          nodes.flatMap((node) => Array.from({ length: 6 }, () => node.take(priority))),
        );
        return outcomes.filter((outcome) => outcome.taken).length;
      };
      expect(await taken('backfill')).toBe(5);
      expect(await taken('watched')).toBe(3);
      expect(await taken('paid')).toBe(2);
      now += 64 * MICROS_PER_SECOND;
      expect(await taken('backfill')).toBe(0);
      expect(await taken('paid')).toBe(5);
      expect(await nodes[0]?.standing()).toMatchObject({ rates: [{ used: 5 }, { used: 15 }], heldUntil: null });
    });

    it('gives looks at unknown cases no more than their share, on all nodes together', async () => {
      const nodes = nodesOf('unknown', '20/min', open());
      const taken = async (priority: Priority): Promise<number> => {
        const outcomes = await Promise.all(
          nodes.flatMap((node) => Array.from({ length: 8 }, () => node.take(priority))),
        );
        return outcomes.filter((outcome) => outcome.taken).length;
      };
      expect(await taken('unknown_case')).toBe(10);
      expect(await taken('paid')).toBe(10);
    });

    it('is held for all nodes once one of them was refused', async () => {
      const [one, other] = nodesOf('held', '10/min', open());
      const until = now + 30 * MICROS_PER_SECOND;
      await one?.hold(until);
      expect(await other?.take('paid')).toEqual({ taken: false, retryAt: until });
      now = until;
      expect(await other?.take('paid')).toEqual({ taken: true });
    });
  });
}
