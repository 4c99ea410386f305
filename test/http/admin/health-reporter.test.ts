import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PartStatus } from '../../../src/http/admin/health.ts';
import { CHECKS_BEFORE_RECOVERY, HealthReporter } from '../../../src/http/admin/health.ts';

/** What is reported for a part with these results, check after check. */
const reportedOf = (found: readonly PartStatus[]): PartStatus[] => {
  const reporter = new HealthReporter();
  return found.filter((status) => reporter.shouldReport(status));
};
const times = (count: number, ...statuses: PartStatus[]): PartStatus[] =>
  Array.from({ length: count }, () => statuses).flat();

describe('what is reported about a part', () => {
  it('is nothing while it is nominal', () => {
    expect(reportedOf(times(100, 'nominal'))).toEqual([]);
  });

  it('is a worse status, at once and only once', () => {
    expect(reportedOf(['degraded', 'degraded', 'down', 'down'])).toEqual(['degraded', 'down']);
    expect(reportedOf(['down', 'degraded', 'down'])).toEqual(['down']);
  });

  it('is an improvement once it has lasted', () => {
    expect(reportedOf(['down', ...times(CHECKS_BEFORE_RECOVERY - 1, 'nominal')])).toEqual(['down']);
    expect(reportedOf(['down', ...times(CHECKS_BEFORE_RECOVERY, 'nominal')])).toEqual(['down', 'nominal']);
    expect(
      reportedOf(['down', ...times(CHECKS_BEFORE_RECOVERY, 'degraded'), ...times(CHECKS_BEFORE_RECOVERY, 'nominal')]),
    ).toEqual(['down', 'degraded', 'nominal']);
  });

  it('is the lasting status, whatever happened in between', () => {
    expect(reportedOf(['down', 'degraded', ...times(CHECKS_BEFORE_RECOVERY, 'nominal')])).toEqual(['down', 'nominal']);
  });

  it('is one alarm if it flaps', () => {
    expect(reportedOf(times(500, 'nominal', 'degraded'))).toEqual(['degraded']);
    expect(reportedOf(times(500, 'down', 'degraded', 'nominal'))).toEqual(['down']);
    expect(reportedOf(['down', ...times(500, 'degraded', 'nominal')])).toEqual(['down', 'degraded']);
  });

  it('never lags for a worse status, and is right in the end', () => {
    const status = fc.constantFrom<PartStatus>('nominal', 'degraded', 'down');
    fc.assert(
      fc.property(fc.array(status, { maxLength: 100 }), status, (before, last) => {
        const reporter = new HealthReporter();
        let reported: PartStatus = 'nominal';
        const look = (found: PartStatus) => {
          if (reporter.shouldReport(found)) reported = found;
          expect(found === 'down' && reported !== 'down').toBe(false);
          expect(found === 'degraded' && reported === 'nominal').toBe(false);
        };
        for (const found of [...before, ...times(CHECKS_BEFORE_RECOVERY, last)]) look(found);
        expect(reported).toBe(last);
      }),
    );
  });
});
