/** Given what is recorded of live sources, when health is checked, then the part says what an operator should do first. */
import { describe, expect, it } from 'vitest';
import type { SourceRecord } from '../../src/projections/source-records.ts';
import { sourcesFinding } from '../../src/service/sources-finding.ts';

const record = (part: Partial<SourceRecord>) => ({ paused: null, standing: null, ...part }) as SourceRecord;
const standing = (is: 'working' | 'degraded' | 'failing' | 'misconfigured', why: string | null = null) =>
  record({ standing: { standing: is, why, since: '2026-03-02T10:00:00.000000Z' } });
const paused = record({ paused: { since: '2026-03-02T10:00:00.000000Z', by: 'Ann Lee', reason: 'ticket 4711' } });
const found = (records: Readonly<Record<string, SourceRecord>>) => sourcesFinding(new Map(Object.entries(records)));

describe('the part sources', () => {
  it('is nominal while every source works, or none is used', () => {
    expect(found({})).toEqual({ status: 'nominal', reason: null });
    expect(found({ rss: standing('working'), scotus: record({}) })).toEqual({ status: 'nominal', reason: null });
  });

  it.each([
    ['failing', 'timeout', 'source_failing', /sources show rss/],
    ['misconfigured', 'unauthorised', 'source_misconfigured', /docs\/sources.md/],
    ['degraded', 'silent', 'source_degraded', /sources show rss/],
  ] as const)('is degraded, never down, while a source is %s', (is, why, code, hint) => {
    const finding = found({ rss: standing(is, why) });
    expect(finding).toMatchObject({ status: 'degraded', code, reason: expect.stringContaining(why) });
    expect(finding.hint).toMatch(hint);
  });

  it('says who paused a source, and how to resume it', () => {
    const finding = found({ scotus: paused });
    expect(finding).toMatchObject({ status: 'degraded', code: 'source_paused' });
    expect(finding.reason).toContain('Ann Lee: ticket 4711');
    expect(finding.hint).toContain('docket sources resume scotus');
  });

  it('names all of them, and first what needs an operator', () => {
    const finding = found({
      scotus: paused,
      rss: standing('failing', 'timeout'),
      courtlistener: standing('misconfigured'),
    });
    expect(finding.code).toBe('source_misconfigured');
    expect(finding.reason).toMatch(/courtlistener.*; rss.*; scotus/);
  });
});
