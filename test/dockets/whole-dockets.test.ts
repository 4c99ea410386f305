/**
 * Whole dockets. Given a docket in a shape that courts have, when it is imported, twice or in a shorter report, then
 * nothing of it is lost, nothing is announced twice, and no address is served.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { toInstant } from '../../src/runtime/instant.ts';
import { readJuriscraperDocket } from '../../src/sources/juriscraper/juriscraper.ts';
import { ADDRESS, fullSheet, ONLY_IN_FULL, SHEETS, shortReport } from './sheets.ts';
import { bodyOf, openWorld, type World } from './world.ts';

let world: World;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.close());

it.each(Object.entries(SHEETS))('%s: imports with nothing lost', async (_shape, sheet) => {
  const askedAt = toInstant(world.clock.now());
  const parsed = readJuriscraperDocket(sheet, { askedAt, complete: true, source: 'file' });
  if ('refused' in parsed) throw new Error(parsed.refused);
  expect(parsed.skipped).toEqual([]);
  const report = await world.ingest(sheet);
  expect(report.baselineFilings + report.duplicates).toBe(sheet.docket_entries.length);

  const answer = await world.ask(sheet.court_id, sheet.docket_number, { context: 'full' });
  const { case: served } = bodyOf(answer);
  expect(served.filing_count).toBe(report.baselineFilings);
  expect(served.docket_history).toHaveLength(report.baselineFilings);
  expect(served.parties).toHaveLength((sheet.parties ?? []).length);
  const texts = new Set(served.docket_history.map((filing: { description: string }) => filing.description));
  for (const entry of parsed.snapshot.entries) expect(texts).toContain(entry.description || entry.shortDescription);
  expect(JSON.stringify(answer.body)).not.toContain(ADDRESS);

  const again = await world.ingest(sheet);
  expect(again).toMatchObject({ newFilings: 0, baselineFilings: 0, revised: 0, merged: 0, sealed: 0 });
  expect(again.unchanged + again.duplicates).toBe(sheet.docket_entries.length);
});

describe('a short report and the full sheet of a case', () => {
  const { court_id, docket_number } = fullSheet;
  const ask = (more: object = {}) => world.ask(court_id, docket_number, more);

  it('announce the ten filings that only the sheet has, once, however often each comes', async () => {
    await world.ingest(shortReport);
    const first = await ask();
    expect(await world.ingest(fullSheet)).toMatchObject({
      newFilings: ONLY_IN_FULL.length,
      baselineFilings: 0,
      revised: shortReport.docket_entries.length,
      merged: 0,
    });
    const second = await ask({ lastChecked: first.queriedAt });
    const { delta } = bodyOf(second);
    expect(delta.new_filings.map((filing: { entry_number: number | null }) => filing.entry_number)).toEqual(
      ONLY_IN_FULL,
    );
    expect(delta.change_count).toBe(10);

    const history = bodyOf(await ask({ context: 'full' })).case.docket_history;
    for (const raw of [shortReport, fullSheet, shortReport]) {
      expect(await world.ingest(raw)).toMatchObject({ newFilings: 0, baselineFilings: 0 });
    }
    const third = bodyOf(await ask({ lastChecked: second.queriedAt, context: 'full' }));
    expect(third.delta).toMatchObject({ changed: false, change_count: 0 });
    expect(third.case.docket_history.map((one: { description: string }) => one.description)).toEqual(
      history.map((one: { description: string }) => one.description),
    );
  });

  it('announce nothing and lose no text if the sheet comes first', async () => {
    await world.ingest(fullSheet);
    const first = await ask({ context: 'full' });
    expect(await world.ingest(shortReport)).toMatchObject({ newFilings: 0, baselineFilings: 0, unchanged: 17 });
    const second = bodyOf(await ask({ context: 'full', lastChecked: first.queriedAt }));
    expect(second.delta).toMatchObject({ changed: false, updated_filings: [] });
    expect(second.case.docket_history).toEqual(bodyOf(first).case.docket_history);
  });
});
