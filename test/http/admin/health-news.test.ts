import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PartStatus } from '../../../src/http/admin/health.ts';
import { HealthNews, LOOKS_TO_TELL_BETTER } from '../../../src/http/admin/health.ts';

/** What is told of a part that is found like this, look after look. */
const toldOf = (found: readonly PartStatus[]): PartStatus[] => {
  const news = new HealthNews();
  return found.filter((status) => news.isNews(status));
};
const times = (count: number, ...statuses: PartStatus[]): PartStatus[] =>
  Array.from({ length: count }, () => statuses).flat();

describe('what operators are told of a part', () => {
  it('is nothing while all is well', () => {
    expect(toldOf(times(100, 'nominal'))).toEqual([]);
  });

  it('is at once, and once, that it is worse', () => {
    expect(toldOf(['degraded', 'degraded', 'down', 'down'])).toEqual(['degraded', 'down']);
    expect(toldOf(['down', 'degraded', 'down'])).toEqual(['down']);
  });

  it('is that it is better when it has stayed so', () => {
    expect(toldOf(['down', ...times(LOOKS_TO_TELL_BETTER - 1, 'nominal')])).toEqual(['down']);
    expect(toldOf(['down', ...times(LOOKS_TO_TELL_BETTER, 'nominal')])).toEqual(['down', 'nominal']);
    expect(
      toldOf(['down', ...times(LOOKS_TO_TELL_BETTER, 'degraded'), ...times(LOOKS_TO_TELL_BETTER, 'nominal')]),
    ).toEqual(['down', 'degraded', 'nominal']);
  });

  it('is how it has been for long, whatever was between', () => {
    expect(toldOf(['down', 'degraded', ...times(LOOKS_TO_TELL_BETTER, 'nominal')])).toEqual(['down', 'nominal']);
  });

  it('is one alarm where it goes back and forth', () => {
    expect(toldOf(times(500, 'nominal', 'degraded'))).toEqual(['degraded']);
    expect(toldOf(times(500, 'down', 'degraded', 'nominal'))).toEqual(['down']);
    expect(toldOf(['down', ...times(500, 'degraded', 'nominal')])).toEqual(['down', 'degraded']);
  });

  it('is never behind on what is worse, and right in the end', () => {
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
