import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PartStatus } from '../../../src/http/admin/health.ts';
import { HealthNews, LOOKS_TO_TELL_BETTER } from '../../../src/http/admin/health.ts';

/** What is reported for a part with these results, check after check. */
const toldOf = (found: readonly PartStatus[]): PartStatus[] => {
  const news = new HealthNews();
  return found.filter((status) => news.isNews(status));
};
const times = (count: number, ...statuses: PartStatus[]): PartStatus[] =>
  Array.from({ length: count }, () => statuses).flat();

describe('what is reported about a part', () => {
  it('is nothing while it is nominal', () => {
    expect(toldOf(times(100, 'nominal'))).toEqual([]);
  });

  it('is a worse status, at once and only once', () => {
    expect(toldOf(['degraded', 'degraded', 'down', 'down'])).toEqual(['degraded', 'down']);
    expect(toldOf(['down', 'degraded', 'down'])).toEqual(['down']);
  });

  it('is an improvement once it has lasted', () => {
    expect(toldOf(['down', ...times(LOOKS_TO_TELL_BETTER - 1, 'nominal')])).toEqual(['down']);
    expect(toldOf(['down', ...times(LOOKS_TO_TELL_BETTER, 'nominal')])).toEqual(['down', 'nominal']);
    expect(
      toldOf(['down', ...times(LOOKS_TO_TELL_BETTER, 'degraded'), ...times(LOOKS_TO_TELL_BETTER, 'nominal')]),
    ).toEqual(['down', 'degraded', 'nominal']);
  });

  it('is the lasting status, whatever happened in between', () => {
    expect(toldOf(['down', 'degraded', ...times(LOOKS_TO_TELL_BETTER, 'nominal')])).toEqual(['down', 'nominal']);
  });

  it('is one alarm if it flaps', () => {
    expect(toldOf(times(500, 'nominal', 'degraded'))).toEqual(['degraded']);
    expect(toldOf(times(500, 'down', 'degraded', 'nominal'))).toEqual(['down']);
    expect(toldOf(['down', ...times(500, 'degraded', 'nominal')])).toEqual(['down', 'degraded']);
  });

  it('never lags for a worse status, and is right in the end', () => {
    const status = fc.constantFrom<PartStatus>('nominal', 'degraded', 'down');
    fc.assert(
      fc.property(fc.array(status, { maxLength: 100 }), status, (before, last) => {
        const news = new HealthNews();
        let told: PartStatus = 'nominal';
        const look = (found: PartStatus) => {
          if (news.isNews(found)) told = found;
          expect(found === 'down' && told !== 'down').toBe(false);
          expect(found === 'degraded' && told === 'nominal').toBe(false);
        };
        for (const found of [...before, ...times(LOOKS_TO_TELL_BETTER, last)]) look(found);
        expect(told).toBe(last);
      }),
    );
  });
});
