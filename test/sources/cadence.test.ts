/** How long a look stays fresh: the documented table, and that a case with less activity is never looked at more. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CourtLevel } from '../../src/courts/court.ts';
import { MICROS_PER_SECOND, toInstant, toMicros } from '../../src/runtime/instant.ts';
import { type CaseActivity, freshFor } from '../../src/sources/cadence.ts';

const NOW = toMicros('2026-03-20T12:00:00.000000Z');
const HOUR = 3_600 * MICROS_PER_SECOND;
const DAY = 24 * HOUR;
const trial = { level: 'trial' } as const;

const activity = (daysAgo: number | null, more: Partial<CaseActivity> = {}): CaseActivity => ({
  activeAt: daysAgo === null ? null : toInstant(NOW - Math.round(daysAgo * DAY)),
  closed: false,
  covered: false,
  ...more,
});
const hours = (court: { level: CourtLevel }, of: CaseActivity): number => freshFor(court, of, NOW) / HOUR;

describe('how long a look at a case stays fresh', () => {
  it.each<[string, number, CaseActivity]>([
    ['active this week', 1, activity(6.9)],
    ['active this month', 6, activity(7)],
    ['quiet for a month', 24, activity(30)],
    ['without any known activity', 24, activity(null)],
    ['closed, and still active', 24, activity(1, { closed: true })],
    ['closed and quiet', 168, activity(8, { closed: true })],
    ['active, with a feed that tells what is new', 24, activity(0, { covered: true })],
    ['active in a future that another clock wrote', 1, activity(-1)],
  ])('%s: %i h', (_, expected, of) => {
    expect(hours(trial, of)).toBe(expected);
  });

  it('is twice as long in a court of appeals, and a day at most', () => {
    expect(hours({ level: 'appellate' }, activity(1))).toBe(2);
    expect(hours({ level: 'supreme' }, activity(10))).toBe(12);
    expect(hours({ level: 'appellate' }, activity(100))).toBe(24);
  });

  it('never gets shorter with age, by closing, or by a feed', () => {
    const days = fc.option(fc.double({ min: -2, max: 4_000, noNaN: true }));
    const level = fc.constantFrom<CourtLevel>('supreme', 'appellate', 'trial', 'bankruptcy', 'special');
    fc.assert(
      fc.property(days, days, level, fc.boolean(), fc.boolean(), (one, other, court, closed, covered) => {
        const [younger, older] = [one, other].sort((a, b) => (a ?? Infinity) - (b ?? Infinity));
        const fresh = (age: number | null | undefined, more: Partial<CaseActivity>) =>
          freshFor({ level: court }, activity(age ?? null, more), NOW);
        expect(fresh(younger, { closed, covered })).toBeLessThanOrEqual(fresh(older, { closed, covered }));
        expect(fresh(one, { covered })).toBeLessThanOrEqual(fresh(one, { covered, closed: true }));
        expect(fresh(one, { closed })).toBeLessThanOrEqual(fresh(one, { closed, covered: true }));
        expect(fresh(one, { closed, covered })).toBeGreaterThanOrEqual(HOUR);
      }),
    );
  });
});
