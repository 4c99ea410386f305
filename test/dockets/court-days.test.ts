/** Days are the court's: a moment with an offset belongs to the day on the court's own wall clock. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Court } from '../../src/courts/court.ts';
import { courts } from '../../src/courts/registry.ts';
import { toInstant } from '../../src/runtime/instant.ts';
import { readDocket } from '../../src/sources/files/read-docket.ts';
import { rawDocket } from './raw-docket.ts';
import { court } from './world.ts';

const options = { askedAt: '2026-03-01T12:00:00.000000Z', complete: true, source: 'file' };
const zones = new Map(courts.map((one): [string, Court] => [one.timeZone, one]));

function readOf(one: Court, date: string, head: object = {}) {
  const entry = { document_number: '1', description: 'NOTICE', date_filed: date, date_entered: date };
  const docket_number = one.example ?? '24-1';
  const read = readDocket(
    rawDocket([entry], { court_id: one.code, docket_number, federal_dn_office_code: null, ...head }),
    options,
  );
  if ('refused' in read) throw new Error(`${one.code}: ${read.refused}`);
  return read;
}
const entryOf = (one: Court, date: string) => readOf(one, date).snapshot.entries[0]!;

/** What the wall clock shows, by the runtime's own formatting and none of our code. */
const wallDay = (timeZone: string, ms: number): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }).format(ms);

const withOffset = (ms: number, minutes: number): string => {
  const wall = new Date(ms + minutes * 60_000).toISOString().slice(0, 19);
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  const two = (value: number) => String(value).padStart(2, '0');
  return minutes === 0 ? `${wall}Z` : `${wall}${minutes < 0 ? '-' : '+'}${two(hours)}:${two(rest)}`;
};

describe('days of a court', () => {
  it('are known for every time zone of a court of the registry', () => {
    const known = ['Pacific/Guam', 'America/Puerto_Rico', 'Pacific/Honolulu', 'America/St_Johns', 'America/Phoenix'];
    expect([...zones.keys()]).toEqual(expect.arrayContaining(known));
  });

  it.each([...zones])('in %s are those of its wall clock, regardless of the offset of a moment', (zone, one) => {
    const second = fc.integer({ min: Date.UTC(1990, 0) / 1000, max: Date.UTC(2035, 0) / 1000 });
    const minutes = fc.constantFrom(0, -240, -300, -480, -600, -210, 600, 60, 840, -720);
    fc.assert(
      fc.property(second, minutes, (seconds, offset) => {
        const ms = seconds * 1000;
        const { dateFiled, dateEntered, filedAt } = entryOf(one, withOffset(ms, offset));
        expect([dateFiled, dateEntered]).toEqual([wallDay(zone, ms), wallDay(zone, ms)]);
        if (filedAt !== null) expect(filedAt).toBe(toInstant(ms * 1000));
      }),
      { numRuns: 40 },
    );
  });

  it.each([
    // Summer time and standard time, an hour before and after the court's midnight.
    ['dcd', '2024-07-09T03:59:59+00:00', '2024-07-08'],
    ['dcd', '2024-07-09T04:00:01Z', '2024-07-09'],
    ['dcd', '2024-12-09T04:59:59Z', '2024-12-08'],
    ['dcd', '2024-12-09T05:00:01Z', '2024-12-09'],
    ['cand', '2024-11-03T06:30:00Z', '2024-11-02'],
    ['gud', '2024-07-08T14:30:00Z', '2024-07-09'],
    ['gud', '2024-07-08T09:30:00-05:00', '2024-07-09'],
    ['prd', '2024-07-09T03:30:00Z', '2024-07-08'],
    ['hid', '2024-07-09T09:59:00Z', '2024-07-08'],
    ['azd', '2024-07-09T06:59:00Z', '2024-07-08'],
    ['nmid', '2024-07-08T14:00:01+0000', '2024-07-09'],
  ])('in %s: %s is %s', (code, text, day) => {
    expect(entryOf(court(code), text)).toMatchObject({ dateFiled: day, dateEntered: day });
  });

  it('apply to the docket itself and its parties too', () => {
    const party = { name: 'Sample Person', type: 'Plaintiff', date_terminated: '2024-07-09T01:00:00Z' };
    const { snapshot } = readOf(court('dcd'), '2024-07-01', {
      date_filed: '2024-07-02T01:00:00+00:00',
      date_terminated: '2024-12-09T04:30:00Z',
      parties: [party],
    });
    expect(snapshot.header).toMatchObject({ dateFiled: '2024-07-01', dateClosed: '2024-12-08' });
    expect(snapshot.parties[0]?.terminatedAt).toBe('2024-07-08');
  });

  it('have no time if the moment is their very start', () => {
    expect(entryOf(court('dcd'), '2024-07-09T04:00:00Z')).toMatchObject({ dateFiled: '2024-07-09', filedAt: null });
    expect(entryOf(court('dcd'), '2024-07-09T00:00:00-04:00')).toMatchObject({
      dateFiled: '2024-07-09',
      filedAt: null,
    });
    expect(entryOf(court('dcd'), '2024-07-09T00:00:00')).toMatchObject({ dateFiled: '2024-07-09', filedAt: null });
  });

  it('are not read from an invalid offset', () => {
    const { snapshot, remarks } = readOf(court('dcd'), '2024-07-09T04:00:00+25:00');
    expect(snapshot.entries[0]).toMatchObject({ dateFiled: null, filedAt: null });
    expect(remarks.length).toBeGreaterThan(0);
  });
});
