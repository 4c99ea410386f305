/**
 * Dockets of which CourtListener has a head and no entries (docs/design/sources.md#courtlistener).
 * Given such a docket, when it is asked for, then nothing is sold of it; and when somebody brings its sheet there, then its old
 * entries are no news.
 */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ingestDocket } from '../../../src/commands/docket/ingest.ts';
import { docketStream } from '../../../src/events/docket.ts';
import { standingOf } from '../../../src/queries/case-standing.ts';
import { readJuriscraperDocket } from '../../../src/sources/juriscraper/juriscraper.ts';
import { bodyOf, court } from '../../dockets/world.ts';
import { type AskingWorld, openAsking } from './asking.ts';

const NUMBER = '1:26-cv-02417';
const STREAM = docketStream('ilnd', NUMBER);
const HOUR = 3_600_000;
const NO_ENTRIES = { look: 'failed', because: { fault: 'no_entries' } };

let world: AskingWorld;
let docket: number;
beforeEach(async () => {
  world = await openAsking();
  // From a list of the courts' statistics: nobody has bought its sheet.
  docket = world.site.addDocket({
    court: 'ilnd',
    number: NUMBER,
    fields: { source: 8, date_last_filing: '2026-11-20', assigned_to_str: 'Robin Sample' },
  });
  world.site.addParty(docket, { name: 'Harrowgate Tile Works, LLC' });
  world.clock.advance(HOUR);
});
afterEach(() => world.close());

const types = async () => (await world.world.storage.log.read(STREAM)).map(({ type }) => type);
const answer = (lastChecked: string | null = null) =>
  world.world.queries.answerCase({
    court: court('ilnd'),
    courtCode: 'ilnd',
    caseId: NUMBER,
    lastChecked,
    since: lastChecked,
    context: 'full',
    language: null,
    filingTypes: null,
  });

function upload(entries: number): void {
  for (let number = 1; number <= entries; number++)
    world.site.addEntry(docket, { number, description: `NOTICE ${number}`, dateFiled: `2026-01-0${number}` });
}

describe('a docket without entries', () => {
  it('is not whole and not sold; its head is kept, with two requests', async () => {
    expect(await world.ask('ilnd', NUMBER)).toMatchObject(NO_ENTRIES);
    expect(world.site.requests.map(({ url }) => url.split('/')[0])).toEqual(['dockets', 'docket-entries']);
    expect(await types()).toContain('DocketDetailsChanged');
    expect(await types()).not.toContain('BaselineCompleted');
    expect(await world.checks(STREAM)).toMatchObject([{ complete: false, outcome: 'partial' }]);
    expect(await answer()).toMatchObject({ problem: 'court_unavailable', details: { retry_after: 3_600 } });
    const query = { court: court('ilnd'), caseId: NUMBER, lastChecked: null, filingTypes: null };
    expect(await world.world.queries.answerMonitor(query)).toMatchObject({ problem: 'court_unavailable' });
    const { storage, freshness, clock } = world.world;
    const ports = { readStore: storage.readStore, freshness, clock, sourceOf: () => 'courtlistener' };
    // Before anybody pays.
    expect(await standingOf(ports, court('ilnd'), NUMBER)).toMatchObject({ known: false, source: 'courtlistener' });
  });

  it('is not whole whatever else its head says, and stays so', async () => {
    world.site.changeDocket(docket, { source: 1, date_last_filing: null });
    expect(await world.ask('ilnd', NUMBER)).toMatchObject(NO_ENTRIES);
    const before = await types();
    world.clock.advance(HOUR);
    expect(await world.ask('ilnd', NUMBER, { stream: STREAM })).toMatchObject(NO_ENTRIES);
    expect(await types()).toEqual(before);
  });

  it('gets a baseline once somebody brings its sheet: only what comes after an answer is news', async () => {
    await world.ask('ilnd', NUMBER);
    await answer();
    upload(5);
    world.clock.advance(HOUR);
    expect(await world.ask('ilnd', NUMBER, { stream: STREAM })).toMatchObject({ look: 'complete' });
    const filings = await world.filings(STREAM);
    expect(filings.map(({ availableAt, backfilled }) => [availableAt.slice(0, 8), backfilled])).toEqual(
      Array(5).fill(['2026-01-', false]),
    );
    const first = await answer();
    expect(first).toMatchObject({ coverageStatus: 'full', body: { case: { filing_count: 5 } } });
    if (!('queriedAt' in first)) throw new Error('no answer');
    world.clock.advance(HOUR);
    world.site.addEntry(docket, { number: 6, description: 'ORDER', dateFiled: '2026-03-01' });
    await world.ask('ilnd', NUMBER, { stream: STREAM });
    const { delta } = bodyOf((await answer(first.queriedAt)) as never);
    expect(delta.new_filings.map((filing: { entry_number: number }) => filing.entry_number)).toEqual([6]);
  });

  it('says nothing of a case that another source has shown', async () => {
    const entry = { document_number: 4, date_filed: '2026-01-04', description: 'MOTION of a feed' };
    const raw = { court_id: 'ilnd', docket_number: NUMBER, case_name: 'A v. B', docket_entries: [entry] };
    const askedAt = '2026-02-01T00:00:00.000000Z';
    const read = readJuriscraperDocket(raw, { askedAt, complete: false, source: 'file' });
    if ('refused' in read) throw new Error(read.refused);
    const id = randomUUID();
    const context = { commandId: id, requestId: null, correlationId: id, causationId: null, actor: 'test' };
    await ingestDocket(world.world.ports, read.snapshot, context);
    const before = await types();
    expect(await world.ask('ilnd', NUMBER, { stream: STREAM })).toMatchObject(NO_ENTRIES);
    expect(await types()).toEqual(before);
    expect(await answer()).toMatchObject({ coverageStatus: 'partial', dataAsOf: askedAt });
  });

  it('of two dockets does not make the case empty', async () => {
    const other = world.site.addDocket({ court: 'ilnd', number: NUMBER, pacerCaseId: '489904' });
    world.site.addEntry(other, { number: 1, description: 'COMPLAINT' });
    expect(await world.ask('ilnd', NUMBER)).toMatchObject({ look: 'complete' });
    expect(await world.filings(STREAM)).toHaveLength(1);
  });
});

it('a head is not sold either where the account may see neither entries nor parties of a docket', async () => {
  world.site.health.entriesGranted = false;
  for (const path of ['parties/', 'attorneys/'])
    world.site.failNext({ path, status: 403, body: { detail: 'You do not have permission to perform this action.' } });
  expect(await world.ask('ilnd', NUMBER)).toMatchObject({ look: 'failed', because: { fault: 'no_entries' } });
  expect(await answer()).toMatchObject({ problem: 'court_unavailable' });
});
