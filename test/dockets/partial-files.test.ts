/** A file that does not list a docket's entries is a partial docket, says so, and never ends its baseline. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { importItems } from '../../src/commands/docket/import.ts';
import { toInstant } from '../../src/runtime/instant.ts';
import type { RawDocketItem } from '../../src/sources/files/docket-files.ts';
import { readDocket } from '../../src/sources/files/read-docket.ts';
import { rawDocket, rawEntry } from './raw-docket.ts';
import { bodyOf, contextOf, openWorld, type World } from './world.ts';

const HEAD = { ...rawDocket([]), docket_entries: undefined };
const OWN = { format: 'docket-monitor/1', court_code: 'cand', case_number: '3:24-cv-01234' };
const ENTRIES = [1, 2, 3].map((number) => rawEntry(number, `2024-03-0${number}`, `NOTICE ${number}`));
const PARTIAL: readonly (readonly [string, object])[] = [
  ['a case query', { ...HEAD, parties: undefined, date_last_filing: '2024-04-02' }],
  ['a docket whose list of entries is null', { ...HEAD, docket_entries: null }],
  ['a case query that lists no entries of those there are', rawDocket([], { date_last_filing: '2024-04-02' })],
  ['a claims register', { ...HEAD, claims: [{ claim_number: '1', history: [] }] }],
  ['a claims register with an empty list of entries', rawDocket([], { claims: [] })],
  ['a line of our own without entries', OWN],
];
const WHOLE: readonly (readonly [string, object])[] = [
  ['a docket report', rawDocket(ENTRIES)],
  ['a docket history', rawDocket(ENTRIES, { date_last_filing: '2024-03-03' })],
  ['the report of a docket without entries', rawDocket([])],
  ['a line of our own whose list is empty', { ...OWN, entries: [] }],
];

const options = { askedAt: '2026-03-01T12:00:00.000000Z', complete: true, source: 'file' };
const read = (value: object) => {
  const outcome = readDocket(JSON.parse(JSON.stringify(value)), options);
  if ('refused' in outcome) throw new Error(outcome.refused);
  return outcome;
};

describe('reading', () => {
  it.each(PARTIAL)('%s gives a partial docket, with a note', (_name, value) => {
    const { snapshot, remarks } = read(value);
    expect(snapshot.complete).toBe(false);
    expect(remarks.map(({ why }) => why).join()).toMatch(/--partial/);
  });

  it.each(WHOLE)('%s gives the whole docket', (_name, value) => {
    const { snapshot, remarks } = read(value);
    expect([snapshot.complete, remarks]).toEqual([true, []]);
  });

  it.each([...PARTIAL, ...WHOLE])('%s with --partial gives a partial docket, without a note', (_name, value) => {
    const outcome = readDocket(JSON.parse(JSON.stringify(value)), { ...options, complete: false });
    expect(outcome).toMatchObject({ snapshot: { complete: false }, remarks: [] });
  });
});

describe('importing', () => {
  let world: World;
  beforeEach(async () => {
    world = await openWorld();
  });
  afterEach(() => world.close());

  it.each(PARTIAL)('%s, then the docket: its entries are the baseline, and none is new', async (_name, value) => {
    async function* items(): AsyncGenerator<RawDocketItem> {
      for (const [index, one] of [value, rawDocket(ENTRIES)].entries())
        yield { where: String(index), value: JSON.parse(JSON.stringify(one)), hash: `hash ${index}`, bytes: 100 };
    }
    const reports: { baselineFilings: number; newFilings: number }[] = [];
    const now = { ...options, askedAt: toInstant(world.clock.now()) };
    await importItems(world.ports, items(), now, contextOf(), (item) => {
      if (item.outcome !== 'imported') throw new Error(JSON.stringify(item));
      reports.push(item.report);
    });
    expect(reports).toMatchObject([
      { baselineFilings: 0, newFilings: 0 },
      { baselineFilings: 3, newFilings: 0 },
    ]);
    const answer = bodyOf(await world.ask('cand', '3:24-cv-01234', { lastChecked: '2026-02-28T00:00:00.000000Z' }));
    expect(answer.delta).toMatchObject({ changed: false, new_filings: [] });
  });
});
