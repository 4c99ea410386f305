/** Which watched case comes next, and which a budget cannot keep fresh. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MICROS_PER_SECOND, toInstant, toMicros } from '../../src/runtime/instant.ts';
import { readRates } from '../../src/sources/settings.ts';
import { dueAt, type PlannedCase, planDay, requestsPerDay, urgency } from '../../src/sources/watch-plan.ts';

const NOW = toMicros('2026-03-20T12:00:00.000000Z');
const MINUTE = 60 * MICROS_PER_SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const ago = (micros: number) => toInstant(NOW - micros);
const planned = (more: Partial<PlannedCase> = {}): PlannedCase => ({
  every: HOUR,
  completeAt: ago(30 * MINUTE),
  askedAt: ago(2 * DAY),
  stubsSince: null,
  ...more,
});
const rates = (text: string) => readRates(text) ?? [];

describe('the next look', () => {
  it('is due once the last complete one is older than its cadence', () => {
    expect(urgency(planned(), NOW)).toBe(0.5);
    expect(dueAt(planned())).toBe(NOW + 30 * MINUTE);
    expect(urgency(planned({ completeAt: ago(3 * HOUR) }), NOW)).toBe(3);
  });
  it('is due at once for a case that was never shown whole', () => {
    expect(urgency(planned({ completeAt: null, askedAt: ago(0) }), NOW)).toBe(1);
    expect(dueAt(planned({ completeAt: null, askedAt: ago(0) }))).toBe(NOW);
  });
  it('is due a quarter of an hour after a feed brought a filing without its text', () => {
    const waiting = planned({ every: DAY, stubsSince: ago(5 * MINUTE) });
    expect(urgency(waiting, NOW)).toBeLessThan(1);
    expect(dueAt(waiting)).toBe(NOW + 10 * MINUTE);
    expect(urgency(planned({ every: DAY, stubsSince: ago(30 * MINUTE) }), NOW)).toBe(2);
  });

  it('is due after ever longer pauses while the text does not come', () => {
    const looked = (minutes: number) =>
      planned({ every: DAY, stubsSince: ago(10 * HOUR), completeAt: ago(10 * HOUR - minutes * MINUTE) });
    expect(dueAt(looked(1)) - (NOW - 10 * HOUR)).toBe(15 * MINUTE);
    expect(dueAt(looked(15)) - (NOW - 10 * HOUR)).toBe(45 * MINUTE);
    expect(dueAt(looked(45)) - (NOW - 10 * HOUR)).toBe(135 * MINUTE);
  });

  const duration = fc.integer({ min: 0, max: 40 * DAY });
  const anyCase = fc.record({
    every: fc.integer({ min: HOUR, max: 7 * DAY }),
    completeAt: fc.option(duration.map(ago)),
    askedAt: duration.map(ago),
    stubsSince: fc.option(duration.map(ago)),
  });
  it('gets more urgent with time, and is due exactly from the moment that was computed', () => {
    fc.assert(
      fc.property(anyCase, duration, (one, later) => {
        expect(urgency(one, NOW + later)).toBeGreaterThanOrEqual(urgency(one, NOW));
        expect(urgency(one, Math.max(NOW, dueAt(one)))).toBeGreaterThanOrEqual(1);
        if (dueAt(one) > NOW) expect(urgency(one, NOW)).toBeLessThan(1);
      }),
    );
  });
});

describe('the report of what cannot be kept fresh', () => {
  const many = (count: number, more: Partial<PlannedCase> = {}) => Array.from({ length: count }, () => planned(more));

  it('knows what the rates allow in a day', () => {
    // A fifth is left to paid queries.
    expect(requestsPerDay(rates('5/min,50/hour,125/day'))).toBe(100);
    expect(requestsPerDay(rates('5/min,50/hour'))).toBe(960);
    expect(requestsPerDay([])).toBeNull();
  });
  it('is empty while the budget suffices', () => {
    expect(planDay(many(1), rates('125/day'), NOW)).toEqual({
      watched: 1,
      due: 0,
      overdue: 0,
      cannotBeKept: 0,
      short: [],
      requestsPerDayNeeded: 72,
      requestsPerDay: 100,
    });
  });
  it('names the cases before any of them is stale, and how often they can be looked at', () => {
    const plan = planDay([...many(4), ...many(6, { every: DAY })], rates('192/day'), NOW);
    expect(plan).toMatchObject({ due: 0, cannotBeKept: 10, requestsPerDayNeeded: 306 });
    expect(plan.short).toEqual([
      { every: HOUR, possible: 2 * HOUR, cases: 4 },
      { every: DAY, possible: 2 * DAY, cases: 6 },
    ]);
  });
  it('counts first looks, which need more requests', () => {
    expect(planDay(many(1, { completeAt: null, every: DAY }), rates('125/day'), NOW)).toMatchObject({
      due: 1,
      requestsPerDayNeeded: 10,
    });
  });
  it('never gets better with more cases or less budget', () => {
    fc.assert(
      fc.property(
        fc.nat(50),
        fc.nat(50),
        fc.integer({ min: 1, max: 2_000 }),
        fc.nat(2_000),
        (few, more, day, extra) => {
          const small = planDay(many(few), rates(`${day}/day`), NOW);
          expect(planDay(many(few + more), rates(`${day}/day`), NOW).cannotBeKept).toBeGreaterThanOrEqual(
            small.cannotBeKept,
          );
          expect(planDay(many(few), rates(`${day + extra}/day`), NOW).cannotBeKept).toBeLessThanOrEqual(
            small.cannotBeKept,
          );
        },
      ),
    );
  });
});
