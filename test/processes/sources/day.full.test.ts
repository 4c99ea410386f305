/** Half a day at the courts, simulated: the rules that the benchmark `sources-day` measures at full size. */
import { describe, expect, it } from 'vitest';
import { ratesOf, simulateDay } from './day.ts';
import { HOUR, MINUTE } from './day-plan.ts';

const SMALL = {
  ...{ cases: 15, feeds: 3, entriesPerCase: 2, otherEntries: 6, pastEntries: 6, micros: 12 * HOUR, seed: 7 },
  paidPerHour: 0.5,
};

describe('a simulated day', () => {
  it('keeps to the smallest budget, and misses no entry', { timeout: 120_000 }, async () => {
    const report = await simulateDay({ ...SMALL, rates: ratesOf('5/min,50/hour,125/day') });
    expect(report).toMatchObject({ watched: 15, feeds: 3, missing: [], doubled: 0, refused: 0 });
    expect(report.entries).toBeGreaterThan(15);
    expect(report.requests).toBeGreaterThan(50);
    expect(report.requests).toBeLessThanOrEqual(125);
    expect(report.shortestPoll).toBeGreaterThanOrEqual(5 * MINUTE);
    expect(report.delay.most).toBeLessThan(6 * MINUTE);
  });

  it('with the largest budget has all texts within a few hours as well', { timeout: 120_000 }, async () => {
    const report = await simulateDay({ ...SMALL, rates: ratesOf('25/min,300/hour,1400/day') });
    expect(report).toMatchObject({ missing: [], doubled: 0, refused: 0, paidRefused: 0 });
    expect(report.texts).toBeGreaterThan(2);
    expect(report.textsServed).toBeGreaterThan(report.texts / 2);
    expect(report.plan?.cannotBeKept).toBe(0);
  });
});
