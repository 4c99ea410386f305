/** Some hours at the courts, simulated with the smallest budget; `day.full.test.ts` has more, the benchmark `sources-day` all. */
import { describe, expect, it } from 'vitest';
import { ratesOf, simulateDay } from './day.ts';
import { HOUR, MINUTE } from './day-plan.ts';

describe('six simulated hours', () => {
  it('keep to the budget and to the courts’ interval, and miss no entry', { timeout: 60_000 }, async () => {
    const report = await simulateDay({
      ...{ cases: 9, feeds: 3, entriesPerCase: 2, otherEntries: 4, pastEntries: 3, micros: 6 * HOUR, seed: 7 },
      ...{ paidPerHour: 0.5, rates: ratesOf('5/min,50/hour,125/day') },
    });
    expect(report).toMatchObject({ watched: 9, feeds: 3, missing: [], doubled: 0, refused: 0 });
    expect(report.entries).toBeGreaterThan(8);
    expect(report.requests).toBeGreaterThan(20);
    expect(report.requests).toBeLessThanOrEqual(125);
    expect(report.shortestPoll).toBeGreaterThanOrEqual(5 * MINUTE);
    expect(report.delay.most).toBeLessThan(6 * MINUTE);
  });
});
