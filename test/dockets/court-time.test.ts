import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareSnapshot } from '../../src/commands/docket/compare.ts';
import { decideSnapshot } from '../../src/commands/docket/decide.ts';
import { NEW_DOCKET } from '../../src/commands/docket/fold.ts';
import { isDay } from '../../src/dockets/court-time.ts';
import { encodeEvent } from '../../src/events/codec.ts';
import { Instant, toMicros } from '../../src/runtime/instant.ts';
import { readJuriscraperDocket } from '../../src/sources/juriscraper/juriscraper.ts';
import { rawDocket, rawEntry } from './raw-docket.ts';

const NOON = '2026-03-01T12:00:00.000000Z';
const CASE_NUMBER = '3:24-cv-01234';

/** Days and moments of any four-digit year, with the extremes more often than others. */
const year = fc.oneof(
  fc.constantFrom(0, 1, 1600, 1683, 1684, 1700, 2249, 2255, 9999),
  fc.integer({ min: 0, max: 9999 }),
);
const date = fc
  .tuple(
    year,
    fc.constantFrom('01-01', '01-02', '06-15', '12-31'),
    fc.constantFrom('', 'T00:00:01', 'T23:59:59', 'T23:59:59-12:00', 'T00:30:00+14:00'),
  )
  .map(([y, day, time]) => `${String(y).padStart(4, '0')}-${day}${time}`);

describe('dates of a docket', () => {
  it('of any year can be imported, with unique times that can be recorded', () => {
    fc.assert(
      fc.property(date, date, date, (filed, entered, head) => {
        const fields = { date_entered: entered };
        const entries = [1, 2, 3].map((number) => rawEntry(number, filed, `ORDER number ${number}`, fields));
        const read = readJuriscraperDocket(rawDocket(entries, { date_filed: head, date_terminated: filed }), {
          askedAt: NOON,
          complete: true,
          source: 'test',
        });
        if ('refused' in read) throw new Error(read.refused);
        const contents = { filings: new Map(), details: null };
        const comparison = compareSnapshot(NEW_DOCKET, contents, read.snapshot, CASE_NUMBER);
        const drafts = decideSnapshot(NEW_DOCKET, comparison, read.snapshot, {
          stream: `docket-cand-${CASE_NUMBER}`,
          caseNumber: CASE_NUMBER,
          ingestId: 'ingest',
          now: toMicros(NOON),
          clockTime: null,
          oldestAsked: null,
        });
        const events = drafts.map((draft) => draft.event('0'.repeat(64)));
        for (const event of events) encodeEvent(event);
        const times = events.flatMap((event) =>
          event.type === 'FilingsRecorded' ? event.data.filings.map(({ availableAt }) => availableAt) : [],
        );
        expect(new Set(times).size).toBe(3);
        for (const time of times) expect(Instant.safeParse(time).success).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('are dropped if microseconds cannot represent their year', () => {
    expect(['1699-12-31', '1700-01-01', '2249-12-31', '2250-01-01', '9999-12-31'].map(isDay)).toEqual([
      false,
      true,
      true,
      false,
      false,
    ]);
  });
});
