/**
 * Given a budget of rolling windows that apply together, when nodes whose clocks differ take from it in any order, then no
 * window of true time ever holds more requests than it may, and what is refused is allowed when that was promised.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MICROS_PER_SECOND, type Micros } from '../../src/runtime/instant.ts';
import type { Rate } from '../../src/sources/budget.ts';
import {
  type BudgetState,
  FIRST_LOOK,
  holdUntil,
  MARGIN,
  mostFor,
  standingOf,
  takeFrom,
  UNSPENT,
} from '../../src/sources/budget-windows.ts';
import { readRates } from '../../src/sources/settings.ts';
import { readState, writeState } from '../../src/sources/shared-budget.ts';
import { PRIORITIES, type Priority } from '../../src/sources/source.ts';

const START = 1_767_225_600_000_000;
const seconds = (count: number): Micros => Math.round(count * MICROS_PER_SECOND);
const rates = (text: string): readonly Rate[] => readRates(text) ?? [];

const budgets = fc
  .constantFrom('5/min,50/hour,125/day', '2/min,6/hour', '3/hour', '1/min', '4/min,4/hour,9/day')
  .map(rates);
/** Nodes' clocks differ by at most the margin. */
const offsets = fc.array(fc.integer({ min: 0, max: MARGIN }), { minLength: 1, maxLength: 4 });
const takes = fc.array(
  fc.record({
    node: fc.nat(3),
    /** Mostly close together; sometimes a long pause. */
    after: fc.oneof(fc.nat(2_000_000), fc.nat(70_000_000), fc.nat(3_700_000_000)),
    priority: fc.constantFrom<Priority>(...PRIORITIES),
  }),
  { minLength: 1, maxLength: 200 },
);

interface TakenAt {
  readonly at: Micros;
  readonly priority: Priority;
}

/** The most requests in any period of true time as long as the window. */
const fullest = (taken: readonly TakenAt[], { micros }: Rate): number =>
  Math.max(0, ...taken.map(({ at }, index) => taken.slice(index).filter((one) => one.at < at + micros).length));

describe('a budget', () => {
  it('is never exceeded in any window, by any nodes', () => {
    fc.assert(
      fc.property(budgets, offsets, takes, (windows, nodes, history) => {
        let state = UNSPENT;
        let time = START;
        const taken: TakenAt[] = [];
        for (const { node, after, priority } of history) {
          time += after;
          const now = time + (nodes[node % nodes.length] ?? 0);
          const before = state.times.at(-1) ?? 0;
          const outcome = takeFrom(readState(writeState(state)), windows, now, priority);
          if (!outcome.taken) continue;
          expect(outcome.state.times.at(-1)).toBeGreaterThanOrEqual(before);
          state = outcome.state;
          taken.push({ at: time, priority });
        }
        for (const window of windows) expect(fullest(taken, window)).toBeLessThanOrEqual(window.requests);
      }),
      { numRuns: 300 },
    );
  });

  it('promises a time at which a refused request is allowed, and none before', () => {
    fc.assert(
      fc.property(budgets, takes, fc.constantFrom<Priority>(...PRIORITIES), (windows, history, asked) => {
        let state: BudgetState = UNSPENT;
        let now = START;
        for (const { after, priority } of history) {
          now += after;
          const outcome = takeFrom(state, windows, now, priority);
          if (outcome.taken) state = outcome.state;
        }
        const refused = takeFrom(state, windows, now, asked);
        if (refused.taken) return;
        expect(refused.retryAt).toBeGreaterThan(now);
        expect(takeFrom(state, windows, refused.retryAt, asked).taken).toBe(true);
        expect(takeFrom(state, windows, refused.retryAt - 1_000, asked).taken).toBe(false);
      }),
      { numRuns: 300 },
    );
  });

  it('is used in full by a node that asks whenever it may', () => {
    const windows = rates('5/min,50/hour,125/day');
    let state = UNSPENT;
    let now = START;
    let requests = 0;
    while (now < START + seconds(86_400)) {
      const outcome = takeFrom(state, windows, now, 'paid');
      if (outcome.taken) {
        state = outcome.state;
        requests++;
      } else now = outcome.retryAt;
    }
    expect(requests).toBe(125);
  });
});

describe('what is less urgent', () => {
  const windows = rates('10/min');
  const spent = (count: number): BudgetState => ({ ...UNSPENT, times: Array(count).fill(START) });

  it.each<[Priority, number]>([
    ['paid', 10],
    ['unknown_case', 9],
    ['watched', 8],
    ['wanted', 5],
    ['backfill', 5],
  ])('%s takes up to %i of ten', (priority, most) => {
    expect(takeFrom(spent(most - 1), windows, START, priority).taken).toBe(true);
    expect(takeFrom(spent(most), windows, START, priority).taken).toBe(false);
    expect(mostFor({ requests: 1, micros: 1 }, priority)).toBe(1);
  });
});

describe('looks at unknown cases', () => {
  const takeAll = (state: BudgetState, windows: readonly Rate[], now: Micros, priority: Priority) => {
    let count = 0;
    for (let next = takeFrom(state, windows, now, priority); next.taken; count++) {
      state = next.state;
      next = takeFrom(state, windows, now, priority);
    }
    return { state, count };
  };

  it('fill half of a window at most, whichever wallets ask, and leave the rest to known cases', () => {
    const windows = rates('100/hour');
    const unknown = takeAll(UNSPENT, windows, START, 'unknown_case');
    expect(unknown.count).toBe(50);
    const watched = takeAll(unknown.state, windows, START, 'watched');
    expect(watched.count).toBe(30);
    expect(takeAll(watched.state, windows, START, 'paid').count).toBe(20);
  });
  it('are not closed by what the watch takes, nor do they take the last requests', () => {
    const windows = rates('100/hour');
    const watched = takeAll(UNSPENT, windows, START, 'watched');
    const unknown = takeAll(watched.state, windows, START, 'unknown_case');
    expect([watched.count, unknown.count]).toEqual([80, 10]);
    expect(takeAll(unknown.state, windows, START, 'paid').count).toBe(10);
  });
  it('are repeated by the watch with half of that share', () => {
    const windows = rates('100/hour');
    const wanted = takeAll(UNSPENT, windows, START, 'wanted');
    expect(wanted.count).toBe(25);
    const queries = takeAll(wanted.state, windows, START, 'unknown_case');
    expect(queries.count).toBe(25);
    expect(takeAll(queries.state, windows, START, 'watched').count).toBe(30);
  });
  it('have room for one first look in a small window', () => {
    expect(takeAll(UNSPENT, rates('10/min'), START, 'unknown_case').count).toBe(FIRST_LOOK);
    expect(takeAll(UNSPENT, rates('5/min'), START, 'unknown_case').count).toBe(4);
  });
  it('leave a free account more than half of its day, however often and by whomever they are asked for', () => {
    const windows = rates('5/min,50/hour,125/day');
    let state = UNSPENT;
    let unknown = 0;
    let now = START;
    while (now < START + seconds(86_000)) {
      const outcome = takeFrom(readState(writeState(state)), windows, now, 'unknown_case');
      if (outcome.taken) {
        state = outcome.state;
        unknown++;
      } else now = outcome.retryAt;
    }
    expect(unknown).toBe(62);
    expect(standingOf(state, windows, START + seconds(86_000)).rates.at(-1)).toMatchObject({ used: 62 });
  });
  it('get their share again once their requests have left the window', () => {
    const windows = rates('20/min');
    const { state } = takeAll(UNSPENT, windows, START, 'unknown_case');
    const refused = takeFrom(state, windows, START, 'unknown_case');
    if (refused.taken) throw new Error('more than its share');
    expect(takeAll(state, windows, refused.retryAt, 'unknown_case').count).toBe(10);
  });
});

describe('a source that refuses although the budget is not spent', () => {
  const windows = rates('5/min,50/hour');
  const now = START + seconds(10);

  it('is not asked before the time that it said, and then by one request after the other', () => {
    const held = holdUntil({ ...UNSPENT, times: [START] }, windows, now, now + seconds(20));
    expect(takeFrom(held, windows, now + seconds(19), 'paid')).toEqual({ taken: false, retryAt: now + seconds(20) });
    const first = takeFrom(held, windows, now + seconds(20), 'paid');
    if (!first.taken) throw new Error('the hold has not ended');
    expect(takeFrom(first.state, windows, now + seconds(20), 'paid').taken).toBe(false);
    expect(standingOf(held, windows, now)).toEqual({
      rates: [
        { requests: 5, micros: seconds(60), used: 5 },
        { requests: 50, micros: seconds(3_600), used: 5 },
      ],
      heldUntil: now + seconds(20),
    });
  });

  it('fills the shortest window that can explain it, and no longer one the second time', () => {
    const hour = holdUntil(UNSPENT, windows, now, now + seconds(600));
    expect(standingOf(hour, windows, now).rates.map(({ used }) => used)).toEqual([expect.any(Number), 50]);
    const minute = holdUntil(holdUntil(UNSPENT, windows, now, now + seconds(7)), windows, now, now + seconds(7));
    expect(standingOf(minute, windows, now).rates.map(({ used }) => used)).toEqual([5, 5]);
  });

  it('never has a window exceeded by what follows', () => {
    fc.assert(
      fc.property(budgets, takes, fc.nat(200), fc.nat(90_000), (windows, history, when, wait) => {
        let state = UNSPENT;
        let time = START;
        const taken: TakenAt[] = [];
        history.forEach(({ after, priority }, index) => {
          time += after;
          if (index === when) state = holdUntil(state, windows, time, time + seconds(wait));
          const outcome = takeFrom(state, windows, time, priority);
          if (!outcome.taken) return;
          state = outcome.state;
          taken.push({ at: time, priority });
        });
        for (const window of windows) expect(fullest(taken, window)).toBeLessThanOrEqual(window.requests);
      }),
    );
  });

  it('stops requests for a day at most, whatever it says', () => {
    const held = holdUntil(UNSPENT, windows, now, Number.MAX_SAFE_INTEGER);
    expect(takeFrom(held, windows, now + seconds(86_400) + MARGIN, 'paid').taken).toBe(true);
  });
});

describe('a clock that was wrong', () => {
  const windows = rates('2/min');

  it('by an hour does not close the budget for an hour', () => {
    const ahead = [START + seconds(3_600)];
    const state = { ...UNSPENT, times: ahead, unknownCases: ahead };
    const outcome = takeFrom(state, windows, START, 'paid');
    if (!outcome.taken) throw new Error('closed');
    // The earlier request counts as one of now.
    expect(outcome.state.unknownCases).toEqual([START]);
    expect(takeFrom(outcome.state, windows, START + seconds(62), 'paid').taken).toBe(false);
    expect(takeFrom(outcome.state, windows, START + seconds(63), 'paid').taken).toBe(true);
  });
});

describe('the cell', () => {
  it('holds a day of 1,400 requests in 10 KB', () => {
    const times = Array.from({ length: 1_400 }, (_, index) => START + index * seconds(61.234));
    const value = writeState({ ...UNSPENT, times });
    expect(JSON.stringify(value).length).toBeLessThan(10_000);
    expect(readState(value)).toEqual({ ...UNSPENT, times });
  });

  it('keeps which requests were for unknown cases, and reads a cell that does not say so', () => {
    const state = { times: [START, START + seconds(1)], unknownCases: [START + seconds(1)], heldUntil: null };
    const written = writeState(state);
    expect(readState(written)).toEqual(state);
    const { unknownCases: _, ...before } = written;
    expect(readState(before)).toEqual({ ...state, unknownCases: [] });
  });

  it('of another form counts as unspent', () => {
    expect(readState({ times: 'x y !' })).toEqual(UNSPENT);
    expect(readState(null)).toEqual(UNSPENT);
  });
});
