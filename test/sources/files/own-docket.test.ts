import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { snapshotOf } from '../../../src/http/sandbox/fixture-docket.ts';
import { FIXTURES } from '../../../src/http/sandbox/fixtures.ts';
import { isOwnDocket, OWN_FORMAT, readOwnDocket, writeOwnDocket } from '../../../src/sources/files/own-docket.ts';
import { readDocket } from '../../../src/sources/files/read-docket.ts';

const options = { askedAt: '2026-03-01T00:00:00.000000Z', complete: true, source: 'file' };
const docket = (more: object = {}) => ({
  format: OWN_FORMAT,
  court_code: 'cand',
  case_number: '3:24-cv-01234',
  ...more,
});
const read = (value: unknown) => {
  const outcome = readDocket(value, options);
  if ('refused' in outcome) throw new Error(outcome.refused);
  return outcome;
};

describe("this service's own form of a docket", () => {
  it.each(Object.keys(FIXTURES) as (keyof typeof FIXTURES)[])('returns what was written: %s', (name) => {
    const snapshot = { ...snapshotOf(FIXTURES[name]), source: 'file' };
    const { snapshot: again, skipped } = read(JSON.parse(JSON.stringify(writeOwnDocket(snapshot))));
    expect(skipped).toEqual([]);
    expect(again).toEqual(snapshot);
  });

  it('needs a court and a number, and nothing else', () => {
    const { snapshot } = read(docket());
    expect(snapshot).toMatchObject({
      caseNumber: '3:24-cv-01234',
      entries: [],
      // Without a list of entries it cannot be complete.
      complete: false,
      askedAt: options.askedAt,
    });
  });

  it('keeps its own time, but never one after that of the import', () => {
    const askedAt = '2026-02-01T00:00:00.000000Z';
    expect(read(docket({ asked_at: askedAt })).snapshot.askedAt).toBe(askedAt);
    expect(read(docket({ asked_at: '2027-01-01T00:00:00.000000Z' })).snapshot.askedAt).toBe(options.askedAt);
  });

  it('is complete only if both the line and the import say so', () => {
    expect(read(docket({ complete: false })).snapshot.complete).toBe(false);
    const partial = readOwnDocket(docket(), { ...options, complete: false });
    expect('snapshot' in partial && partial.snapshot.complete).toBe(false);
  });

  it('skips only a bad entry, and names it', () => {
    const { snapshot, skipped } = read(
      docket({ entries: [{ description: 'ORDER' }, { date_filed: '2024-02-30' }, 7, { entry_number: 2 }] }),
    );
    expect(snapshot.entries).toHaveLength(2);
    expect(skipped.map(({ where }) => where)).toEqual(['docket_entries[1]', 'docket_entries[2]']);
  });

  it('masks the details in its texts', () => {
    const { snapshot } = read(
      docket({
        header: { assigned_judge: 'Judge, tel. 415-555-0123' },
        parties: [{ name: 'Sample (SSN 123-45-6789)' }],
        entries: [{ description: 'Mail to someone@example.com', attachments: [{ description: 'born 1/2/1980' }] }],
      }),
    );
    expect(JSON.stringify(snapshot)).not.toMatch(/555-0123|123-45-6789|someone@|1980/);
  });

  it.each([
    [docket({ format: 'docket-monitor/2' }), /form docket-monitor\/1/],
    [docket({ court_code: 'nowhere' }), /unknown court/],
    [docket({ case_number: 'x!' }), /not a case number of/],
    [docket({ entries: 'none' }), /entries/],
  ])('is rejected with the reason', (value, reason) => {
    const outcome = readDocket(value, options);
    expect('refused' in outcome && outcome.refused).toMatch(reason);
  });

  it('never throws, for any content of a line', () => {
    const anything = fc.oneof(fc.jsonValue(), fc.object());
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom('header', 'parties', 'entries', 'cross_references', 'aliases', 'asked_at', 'complete'),
          anything,
        ),
        (more) => {
          const value = docket(more);
          expect(isOwnDocket(value)).toBe(true);
          readOwnDocket(value, options);
        },
      ),
      { numRuns: 500 },
    );
  });
});
