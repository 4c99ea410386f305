/** Given what is remembered of a feed, when it is polled next, whether it is silent, and what it may have lost. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FeedMemory, NO_MEMORY, readMemory, remember, writeMemory } from '../../../src/sources/rss/feed-memory.ts';
import { gapOf, INTERVAL, isRebuilt, isSilent, nextPoll } from '../../../src/sources/rss/feed-rules.ts';

const at = (text: string): number => Date.parse(text) * 1_000;
const MINUTE = 60_000_000;
const HOUR = 60 * MINUTE;

describe('the next poll of a court', () => {
  it('is never within five minutes, whatever happened', () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 2 ** 50 }),
        fc.nat(),
        fc.option(fc.integer({ min: -(2 ** 52), max: 2 ** 52 })),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (now, failures, retryAt, random) => {
          const next = nextPoll(now, failures, retryAt, random) - now;
          expect(next).toBeGreaterThanOrEqual(INTERVAL);
          expect(next).toBeLessThanOrEqual(25 * HOUR);
        },
      ),
    );
  });

  it('comes later with every failure, up to two hours, and when the court says', () => {
    const waits = [0, 1, 2, 3, 4, 5, 6, 20].map((failures) => nextPoll(0, failures, null, 0) / MINUTE);
    expect(waits).toEqual([5, 5, 10, 20, 40, 80, 120, 120]);
    expect(nextPoll(0, 1, 15 * MINUTE, 0)).toBe(15 * MINUTE);
    expect(nextPoll(0, 1, 1_000 * HOUR, 0)).toBe(24 * HOUR);
  });
});

describe('a feed', () => {
  const CHICAGO = 'America/Chicago';
  it.each([
    ['two hours of a working day', '2026-06-18T15:00:00Z', '2026-06-18T17:00:00Z', true],
    ['less', '2026-06-18T15:00:01Z', '2026-06-18T17:00:00Z', false],
    ['a Saturday', '2026-06-20T10:00:00Z', '2026-06-20T22:00:00Z', false],
    [
      'Friday night into Saturday of the court, which is still Friday',
      '2026-06-20T01:00:00Z',
      '2026-06-20T04:00:00Z',
      true,
    ],
    ['the same an hour later, when it is Saturday there', '2026-06-20T01:00:00Z', '2026-06-20T05:00:00Z', false],
    ['a weekend, until two on Monday', '2026-06-19T20:00:00Z', '2026-06-22T06:59:59Z', false],
    ['a weekend, and two hours of Monday', '2026-06-19T20:00:00Z', '2026-06-22T07:00:00Z', true],
    [
      'a weekend without two o’clock, in which summer time begins',
      '2026-03-06T20:00:00Z',
      '2026-03-09T06:59:59Z',
      false,
    ],
    ['the same, two hours into Monday', '2026-03-06T20:00:00Z', '2026-03-09T07:00:00Z', true],
    ['a weekend in which summer time ends', '2026-10-30T20:00:00Z', '2026-11-02T07:59:59Z', false],
    ['the same, two hours into Monday', '2026-10-30T20:00:00Z', '2026-11-02T08:00:00Z', true],
  ])('that did not move for %s', (_, movedAt, now, silent) => {
    expect(isSilent(CHICAGO, at(movedAt), at(now))).toBe(silent);
  });

  it('is built anew if its time differs by more than it wobbles', () => {
    expect([isRebuilt(null, 0), isRebuilt(0, MINUTE), isRebuilt(0, 5 * MINUTE), isRebuilt(0, null)]).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });

  const now = 100 * HOUR;
  const gap = (memory: Partial<FeedMemory>, oldestAt: number | null, count: number) =>
    gapOf({ ...NO_MEMORY, ...memory }, { oldestAt, count }, now);
  it.each([
    ['the first look', {}, now - HOUR, 3, null],
    ['an item from before the last look', { lookedAt: now - 5 * HOUR }, now - 6 * HOUR, 3, null],
    [
      'five hours of silence, two of which the feed has',
      { lookedAt: now - 5 * HOUR, window: 2 * HOUR },
      now - 2 * HOUR,
      4,
      3,
    ],
    ['nothing in it after five hours', { lookedAt: now - 5 * HOUR, window: 2 * HOUR }, null, 0, 5],
    [
      'a quiet court, whose last item is a day old',
      { lookedAt: now - 5 * MINUTE, window: 24 * HOUR },
      now - MINUTE,
      1,
      null,
    ],
    [
      'a quiet court, whose only item left as another came',
      { lookedAt: now - 5 * MINUTE, window: 24 * HOUR },
      now - MINUTE,
      1,
      null,
    ],
    ['a court without items', { lookedAt: now - 5 * MINUTE }, now - MINUTE, 2, null],
    ['a burst that pushed all others out', { lookedAt: now - HOUR / 2, window: 9 * HOUR }, now - HOUR / 4, 100, 0.25],
    ['a burst in a court without items', { lookedAt: now - HOUR / 2 }, now - HOUR / 4, 25, 0.25],
  ] as const)('with %s', (_, memory, oldestAt, count, hours) => {
    const found = gap(memory, oldestAt, count);
    expect(found && (found.to - found.from) / HOUR).toBe(hours);
  });
});

describe('what is remembered of a feed', () => {
  it('survives its cell', async () => {
    let cell = { version: 0, value: null as never };
    const store = {
      cell: async () => cell,
      compareAndSet: async (_id: string, version: number, value: unknown) => {
        cell = { version: version + 1, value: structuredClone(value) as never };
        return true;
      },
    };
    const memory: FeedMemory = {
      nextAt: 1,
      decidedAt: 1,
      lookedAt: 2,
      movedAt: null,
      builtAt: 3,
      types: 'all',
      etag: '"x"',
      lastModified: null,
      failures: 4,
      fault: 'timeout: no answer',
      window: 5,
      count: 6,
      done: new Map([
        ['aaaaaaaaaa', 7],
        ['bbbbbbbbbb', 8],
        ['cccccccccc', 7],
      ]),
      passed: new Map([['dddddddddd', 8]]),
    };
    expect((await readMemory(store, 'ilnd')).memory).toEqual(NO_MEMORY);
    await writeMemory(store, 'ilnd', 0, memory);
    expect(await readMemory(store, 'ilnd')).toEqual({ version: 1, memory });
    cell = { version: 2, value: { nextAt: 'x', done: [1], passed: { 5: 6 } } as never };
    expect((await readMemory(store, 'ilnd')).memory).toEqual(NO_MEMORY);
  });

  it('is forgotten two days after it was last in the feed', () => {
    const first = remember(new Map(), ['a', 'b'], 0);
    const later = remember(first, ['b'], 40 * HOUR);
    expect([...later.keys()]).toEqual(['a', 'b']);
    expect([...remember(later, [], 49 * HOUR).keys()]).toEqual(['b']);
    expect(remember(later, [], 89 * HOUR).size).toBe(0);
  });

  it('has a limit', () => {
    const keys = Array.from({ length: 50_000 }, (_, index) => `${index}`);
    const kept = remember(new Map(), keys, 0);
    expect(kept.size).toBe(40_000);
    expect(kept.has('49999')).toBe(true);
  });
});
