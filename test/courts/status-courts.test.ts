import { describe, expect, it } from 'vitest';
import { courts } from '../../src/courts/registry.ts';
import { courtNow, statusCourts } from '../../src/courts/status-courts.ts';

describe('the courts of the status answer (docs/design/interface.md#4.4)', () => {
  const status = statusCourts(courts, (court) => (court.code === 'cand' ? 'imported' : 'none'));
  const listed = new Map(status.courts.map((court) => [court.court_code, court]));

  it('lists every court once, in the registry’s order', () => {
    expect(status.courts.map((court) => court.court_code)).toEqual(courts.map((court) => court.code));
  });

  it('gives each court everything that a caller needs', () => {
    expect(listed.get('cand')).toEqual({
      court_code: 'cand',
      name: 'United States District Court for the Northern District of California',
      jurisdiction_country: 'US',
      region: 'CA',
      level: 'trial',
      language: 'en',
      status: 'live',
      coverage: 'full',
      case_id_format: { pattern: expect.any(String), example: '1:24-cv-01234' },
      source: 'imported',
      refresh_cadence_seconds: null,
      case_management_system: 'CM/ECF',
      notes: null,
    });
  });

  it('publishes a pattern for each, which matches its whole example', () => {
    for (const { case_id_format: format } of status.courts) {
      const pattern = new RegExp(`^(?:${format.pattern})$`);
      if (format.example !== null) expect(format.example).toMatch(pattern);
    }
  });

  it('accepts any number, and says so, if a court publishes no format', () => {
    const open = listed.get('tn_first');
    expect(open?.case_id_format).toEqual({ pattern: '^[A-Za-z0-9][A-Za-z0-9 .,:/()\\-]{0,63}$', example: null });
    expect(open?.notes).toContain('publishes no format');
  });

  it('marks planned courts', () => {
    expect(listed.get('qc_cs')).toMatchObject({ status: 'planned', coverage: 'planned', source: 'none' });
    expect(status.courts.filter((court) => court.status === 'planned')).toHaveLength(39);
  });

  it('counts by country and coverage', () => {
    expect(status.coverage_summary).toEqual({
      total: 2150,
      full: expect.any(Number),
      partial: expect.any(Number),
      planned: 39,
      by_country: {
        US: { total: 2099, full: expect.any(Number), partial: expect.any(Number), planned: 37 },
        CA: { total: 51, full: expect.any(Number), partial: expect.any(Number), planned: 2 },
      },
    });
    const { total, full, partial, planned, by_country: countries } = status.coverage_summary;
    expect(full + partial + planned).toBe(total);
    expect(countries.US.full + countries.CA.full).toBe(full);
  });

  it('says how often a court is checked if that is known', () => {
    const { courts: polled } = statusCourts(
      courts.slice(0, 2),
      () => 'imported',
      () => 300,
    );
    expect(polled.map((court) => court.refresh_cadence_seconds)).toEqual([300, 300]);
  });

  it('shows a live court as degraded, and never a planned one', () => {
    const { courts: both } = statusCourts(
      courts.filter(({ code }) => code === 'cand' || code === 'qc_cs'),
      ({ code }) => (code === 'cand' ? 'rss' : 'none'),
    );
    const shown = both.map((court) => courtNow(court, { degraded: true, pushedBy: 'county-scraper' }));
    expect(shown.map(({ status }) => status).sort()).toEqual(['degraded', 'planned']);
    // A live source shows more than a push, and a planned court has none.
    expect(shown.map(({ source }) => source).sort()).toEqual(['none', 'rss']);
    expect(courtNow(both[0]!, undefined)).toBe(both[0]);
  });
});
