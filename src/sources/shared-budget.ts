/** A source's budget that all nodes share: one cell of the read store, changed by compare-and-set. */
import type { JsonObject } from '../events/event.ts';
import { type Clock, MICROS_PER_MS, type Micros } from '../runtime/instant.ts';
import type { ReadStore } from '../storage/read-store.ts';
import type { Rate, SourceBudget, Take } from './budget.ts';
import { type BudgetState, holdUntil, standingOf, takeFrom, UNSPENT } from './budget-windows.ts';

export interface SharedBudgetOptions {
  readonly readStore: Pick<ReadStore, 'cell' | 'compareAndSet'>;
  readonly clock: Clock;
  /** Of the source, in the name of the cell. */
  readonly name: string;
  readonly rates: readonly Rate[];
}

const budgetCell = (name: string): string => `source-budget-${name}`;

/** Takes of one process come one after the other, so that they do not compete with each other. */
export function createSharedBudget({ readStore, clock, name, rates }: SharedBudgetOptions): SourceBudget {
  const id = budgetCell(name);
  let previous: Promise<unknown> = Promise.resolve();

  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const next = previous.then(work, work);
    previous = next.catch(() => undefined);
    return next;
  }

  /** Repeats until no other node was first. */
  async function change<Result>(
    decide: (state: BudgetState, now: Micros) => { readonly state: BudgetState | null; readonly result: Result },
  ): Promise<Result> {
    for (;;) {
      const { version, value } = await readStore.cell(id);
      const { state, result } = decide(readState(value), clock.now());
      if (state === null || (await readStore.compareAndSet(id, version, writeState(state)))) return result;
    }
  }

  return {
    take: (priority) =>
      inTurn(() =>
        change<Take>((before, now) => {
          const taken = takeFrom(before, rates, now, priority);
          return taken.taken
            ? { state: taken.state, result: { taken: true } }
            : { state: null, result: { taken: false, retryAt: taken.retryAt } };
        }),
      ),
    hold: (until) =>
      inTurn(() => change((before, now) => ({ state: holdUntil(before, rates, now, until), result: undefined }))),
    standing: async () => standingOf(readState((await readStore.cell(id)).value), rates, clock.now()),
  };
}

const DIGITS = 36;

/**
 * The first time in milliseconds, then the differences, in base 36: 1,400 requests of a day take some 6 KB, not 24.
 */
export const writeState = ({ times, unknownCases, heldUntil }: BudgetState): JsonObject => ({
  times: writeTimes(times),
  unknownCases: writeTimes(unknownCases),
  heldUntil,
});

/** An unreadable cell counts as an unspent budget: the source itself refuses too many requests. */
export function readState(value: JsonObject | null): BudgetState {
  const { heldUntil } = value ?? {};
  const times = readTimes(value?.times);
  if (times === null) return UNSPENT;
  return {
    times,
    unknownCases: readTimes(value?.unknownCases) ?? [],
    heldUntil: typeof heldUntil === 'number' ? heldUntil : null,
  };
}

function writeTimes(times: readonly Micros[]): string {
  let before = 0;
  const differences = times.map((time) => {
    const ms = time / MICROS_PER_MS;
    const difference = ms - before;
    before = ms;
    return difference.toString(DIGITS);
  });
  return differences.join(' ');
}

function readTimes(written: unknown): readonly Micros[] | null {
  if (typeof written !== 'string') return null;
  let ms = 0;
  const read: Micros[] = [];
  for (const difference of written === '' ? [] : written.split(' ')) {
    const step = Number.parseInt(difference, DIGITS);
    if (!(step >= 0)) return null;
    ms += step;
    read.push(ms * MICROS_PER_MS);
  }
  return read;
}
