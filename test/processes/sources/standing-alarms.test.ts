/** Given a standing that was recorded, when operators are told, then the line has the alarm that the page explains. */
import { describe, expect, it } from 'vitest';
import { reportStanding } from '../../../src/processes/sources/standing-alarms.ts';
import type { StandingReport } from '../../../src/processes/sources/standings.ts';

const linesOf = (report: StandingReport) => {
  const lines: unknown[] = [];
  const at = (level: string) => (facts: object) => lines.push({ level, ...facts });
  reportStanding({ info: at('info'), warn: at('warn'), error: at('error') } as never, report);
  return lines;
};

describe('the alarm of a standing', () => {
  it.each([
    [null, 'failing', 'timeout', 'warn', 'source_failing'],
    [null, 'misconfigured', 'unauthorised', 'error', 'source_misconfigured'],
    ['cand', 'degraded', 'silent', 'warn', 'court_feed_silent'],
    ['cand', 'failing', 'timeout', 'warn', 'court_feed_failing'],
  ] as const)('of court %s that is %s (%s) is a line of level %s: %s', (court, standing, why, level, alarm) => {
    const part = court === null ? 'rss' : 'rss cand';
    expect(linesOf({ source: 'rss', court, standing, why })).toEqual([{ level, part, reason: why, alarm }]);
  });

  it('is none once it works again', () => {
    expect(linesOf({ source: 'rss', court: null, standing: 'working', why: null })).toEqual([
      { level: 'info', part: 'rss' },
    ]);
  });
});
