/** Real dockets, if they are present next to the checkout; the other tests use the project's own synthetic ones. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { toInstant } from '../../src/runtime/instant.ts';
import { readJuriscraperDocket } from '../../src/sources/juriscraper/juriscraper.ts';
import { bodyOf, openWorld, type World } from './world.ts';

const FOLDER = join(import.meta.dirname, '../../../shared/data/dockets');
const there = existsSync(FOLDER);
const files = there ? readdirSync(FOLDER).filter((name) => name.endsWith('.json')) : [];
const read = (name: string) => JSON.parse(readFileSync(join(FOLDER, name), 'utf8'));

describe.skipIf(!there)('real dockets (skipped if ../shared is not present)', () => {
  let world: World;
  beforeEach(async () => {
    world = await openWorld();
  });
  afterEach(() => world.close());

  it.each(files)('%s imports with nothing silently lost', async (name) => {
    const raw = read(name);
    const askedAt = toInstant(world.clock.now());
    const parsed = readJuriscraperDocket(raw, { askedAt, complete: true, source: 'file' });
    if ('refused' in parsed) throw new Error(parsed.refused);
    const report = await world.ingest(raw);
    const skipped = parsed.skipped.filter(({ where }) => where.startsWith('docket_entries')).length;
    expect(report.baselineFilings + report.duplicates + skipped).toBe(raw.docket_entries.length);
    expect(skipped).toBe(0);

    const answer = await world.ask(raw.court_id, raw.docket_number, { context: 'full' });
    const { case: served } = bodyOf(answer);
    expect(served.filing_count).toBe(report.baselineFilings);
    expect(served.docket_history).toHaveLength(report.baselineFilings);
    expect(served.parties).toHaveLength((raw.parties ?? []).length);
    const texts = new Set(served.docket_history.map((filing: { description: string }) => filing.description));
    for (const entry of parsed.snapshot.entries) expect(texts).toContain(entry.description || entry.shortDescription);
    expect(JSON.stringify(answer.body)).not.toContain('1 Main Street');

    const again = await world.ingest(raw);
    expect(again).toMatchObject({ newFilings: 0, baselineFilings: 0, revised: 0, merged: 0, sealed: 0 });
    expect(again.unchanged + again.duplicates).toBe(raw.docket_entries.length);
  });

  it('announces ten new filings once, regardless of repeated imports', async () => {
    const before = read('district-before.json');
    const after = read('district-after.json');
    await world.ingest(before);
    const first = await world.ask('casd', '3:18-cr-03298');
    const report = await world.ingest(after);
    expect(report).toMatchObject({ newFilings: 10, baselineFilings: 0, merged: 0 });
    expect(report.revised).toBeLessThanOrEqual(17);
    const second = await world.ask('casd', '3:18-cr-03298', { lastChecked: first.queriedAt });
    const numbers = bodyOf(second).delta.new_filings.map(
      (filing: { entry_number: number | null }) => filing.entry_number,
    );
    expect(numbers).toEqual([null, 6, null, 11, 15, 19, 21, 22, 23, 25]);
    expect(bodyOf(second).delta.change_count).toBe(10);

    const history = bodyOf(await world.ask('casd', '3:18-cr-03298', { context: 'full' })).case.docket_history;
    for (const raw of [before, after, before]) {
      expect(await world.ingest(raw)).toMatchObject({ newFilings: 0, baselineFilings: 0 });
    }
    const third = await world.ask('casd', '3:18-cr-03298', { lastChecked: second.queriedAt, context: 'full' });
    expect(bodyOf(third).delta).toMatchObject({ changed: false, change_count: 0 });
    expect(bodyOf(third).case.docket_history.map((one: { description: string }) => one.description)).toEqual(
      history.map((one: { description: string }) => one.description),
    );
  });

  it('announces nothing and loses no text when the fuller report came first', async () => {
    await world.ingest(read('district-after.json'));
    const first = await world.ask('casd', '3:18-cr-03298', { context: 'full' });
    const report = await world.ingest(read('district-before.json'));
    expect(report).toMatchObject({ newFilings: 0, baselineFilings: 0, unchanged: 17 });
    const second = await world.ask('casd', '3:18-cr-03298', { context: 'full', lastChecked: first.queriedAt });
    expect(bodyOf(second).delta).toMatchObject({ changed: false, updated_filings: [] });
    expect(bodyOf(second).case.docket_history).toEqual(bodyOf(first).case.docket_history);
  });
});
