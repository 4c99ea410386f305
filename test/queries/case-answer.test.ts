import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_RESULT_BYTES } from '../../src/queries/case-answer.ts';
import { rawDocket, rawEntry } from '../dockets/raw-docket.ts';
import { bodyOf, court, openWorld, type World } from '../dockets/world.ts';
import { SMALL_ONLY } from '../support/storage.ts';

const LONG_AGO = '2000-01-01T00:00:00.000000Z';
const entries = [
  rawEntry(1, '2024-02-05', 'COMPLAINT against Example Corporation filed by Sample Person.', {
    attachments: [
      { attachment_number: 1, description: 'Civil Cover Sheet', pacer_doc_id: '035010012345', page_count: 2 },
    ],
  }),
  rawEntry(2, '2024-02-07', 'SUMMONS ISSUED as to Example Corporation.'),
  rawEntry(
    3,
    '2024-03-19',
    'MOTION to Dismiss. SSN 123-45-6789, telephone (202) 555-0143, 12 Secret Street, Hiddenville, CA 94100',
  ),
  rawEntry(4, '2024-04-02', 'ORDER granting 3 MOTION to Dismiss. Signed by Judge Robin Judge.'),
];

let world: World;
beforeAll(async () => {
  world = await openWorld();
  await world.ingest(rawDocket(entries));
});
afterAll(() => world.close());

const ask = (more: Parameters<World['ask']>[2] = {}) => world.ask('cand', '3:24-cv-01234', more);

describe('the answer to a case query (docs/design/interface.md#2.3)', () => {
  it('has the case as its source describes it', async () => {
    const answer = await ask();
    expect(bodyOf(answer)).toEqual({
      case_id: '3:24-cv-01234',
      court_code: 'cand',
      case: {
        case_number: '3:24-cv-01234',
        case_name: 'Sample Person v. Example Corporation',
        case_name_secondary: null,
        case_name_secondary_language: null,
        case_type: 'civil',
        case_status: 'open',
        court_name: court('cand').name,
        jurisdiction_country: 'US',
        language: 'en',
        nature_of_proceeding: '440 Civil Rights: Other',
        cause: '28:1331 Federal Question',
        assigned_judge: 'Robin Judge',
        referred_judge: null,
        filed_at: '2024-02-01T00:00:00-08:00',
        closed_at: null,
        filing_count: 4,
        latest_activity_at: '2024-04-03T06:59:59.999999Z',
        primary_parties: [
          { name: 'Sample Person', role: 'Plaintiff' },
          { name: 'Example Corporation', role: 'Defendant' },
        ],
      },
    });
    expect(answer).toMatchObject({
      coverageStatus: 'full',
      contextDelivered: 'basic',
      languageDelivered: 'en',
      truncated: false,
      truncationDetails: null,
    });
    expect(answer.cacheAgeSeconds).toBeGreaterThanOrEqual(0);
  });

  it('adds parties, cross-references and the whole history with context=full', async () => {
    const { case: served } = bodyOf(await ask({ context: 'full' }));
    expect(served.parties[0]).toEqual({
      name: 'Sample Person',
      role: 'Plaintiff',
      terminated_at: null,
      attorneys: [{ name: 'Sam Solicitor', role: 'Lead attorney; Attorney to be noticed', firm: null }],
    });
    expect(served.cross_references).toEqual([]);
    expect(served.docket_history.map((one: { entry_number: number }) => one.entry_number)).toEqual([1, 2, 3, 4]);
    expect(served.docket_history[0]).toEqual({
      filing_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      entry_number: 1,
      filed_at: '2024-02-05T00:00:00-08:00',
      filed_at_precision: 'day',
      entered_at: null,
      available_at: '2024-02-06T07:59:59.999999Z',
      backfilled: false,
      revised_at: null,
      filing_type: 'complaint',
      filing_types: ['complaint'],
      filed_by: 'Sample Person',
      description: 'COMPLAINT against Example Corporation filed by Sample Person.',
      document_identifier: '03500010001',
      document_identifier_type: 'pacer_doc_id',
      external_url: 'https://ecf.cand.uscourts.gov/doc1/03500010001',
      attachments: [
        { attachment_number: 1, description: 'Civil Cover Sheet', document_identifier: '035010012345', page_count: 2 },
      ],
      sealed: false,
    });
  });

  it('adds only cross-references for version 1', async () => {
    const { case: full } = bodyOf(await ask({ context: 'full' }));
    const { case: basic } = bodyOf(await ask());
    const { case: asked } = bodyOf(await ask({ crossReferences: true }));
    expect(asked).toEqual({ ...basic, cross_references: full.cross_references });
  });

  it('uses days in the court’s own time zone, in summer and winter', async () => {
    const { docket_history: history } = bodyOf(await ask({ context: 'full' })).case;
    expect(history[3].filed_at).toBe('2024-04-02T00:00:00-07:00');
    expect(history[1].filed_at).toBe('2024-02-07T00:00:00-08:00');
  });

  it('contains no contact details', async () => {
    const text = JSON.stringify((await ask({ context: 'full', lastChecked: LONG_AGO })).body);
    for (const secret of ['Secret Street', '415-555-0199', 'hidden@example.com', '123-45-6789', '555-0143']) {
      expect(text).not.toContain(secret);
    }
  });

  it('has a delta only on request, oldest first, with the time sent', async () => {
    expect(bodyOf(await ask())).not.toHaveProperty('delta');
    const { delta } = bodyOf(
      await ask({ lastChecked: '2024-02-06T08:00:00.000000Z', since: '2024-02-06T00:00:00-08:00' }),
    );
    expect(delta).toMatchObject({
      changed: true,
      since: '2024-02-06T00:00:00-08:00',
      change_count: 3,
      updated_filings: [],
    });
    expect(delta.new_filings.map((one: { entry_number: number }) => one.entry_number)).toEqual([2, 3, 4]);
  });

  it('counts from the moment after last_checked', async () => {
    const at = '2024-02-06T07:59:59.999999Z';
    expect(bodyOf(await ask({ lastChecked: at })).delta.change_count).toBe(3);
    expect(bodyOf(await ask({ lastChecked: '2024-02-06T07:59:59.999998Z' })).delta.change_count).toBe(4);
  });

  it('filters only the delta by filing types', async () => {
    const { delta, case: served } = bodyOf(
      await ask({ lastChecked: LONG_AGO, filingTypes: ['order', 'complaint'], context: 'full' }),
    );
    expect(delta.change_count).toBe(2);
    expect(served.docket_history).toHaveLength(4);
  });

  it('uses the same rule for the monitor', async () => {
    const monitor = (lastChecked: string) =>
      world.queries.answerMonitor({ court: court('cand'), caseId: '3:24-cv-01234', filingTypes: null, lastChecked });
    expect(await monitor('2024-03-31T00:00:00.000000Z')).toMatchObject({
      changed: true,
      changeCount: 1,
      latestActivityAt: '2024-04-03T06:59:59.999999Z',
    });
    expect(await monitor('2026-01-01T00:00:00.000000Z')).toMatchObject({
      changed: false,
      changeCount: 0,
      latestActivityAt: null,
    });
  });

  it('finds a case in any form of its number', async () => {
    for (const typed of ['3:24-CV-1234', '24-cv-01234', 'Case No. 3:24-cv-01234-RJ', '3:2024-cv-01234']) {
      expect(bodyOf(await world.ask('cand', typed)).case.case_number).toBe('3:24-cv-01234');
    }
  });

  it('says what is unknown', async () => {
    const asked = {
      court: court('cand'),
      courtCode: 'cand',
      lastChecked: null,
      since: null,
      context: 'basic',
      language: null,
      filingTypes: null,
    } as const;
    expect(await world.queries.answerCase({ ...asked, caseId: '3:24-cv-99998' })).toMatchObject({
      problem: 'case_not_found',
      details: { enqueued: false, candidates: [] },
    });
    expect(await world.queries.answerCase({ ...asked, caseId: '5:24-cv-01234' })).toMatchObject({
      problem: 'case_not_found',
      details: { candidates: ['3:24-cv-01234'] },
    });
    expect(await world.queries.answerCase({ ...asked, caseId: 'nonsense' })).toMatchObject({
      problem: 'invalid_case_id',
    });
  });

  it('never has a time before its content, and never shows less the second time', async () => {
    let last = '';
    for (let round = 0; round < 20; round++) {
      const { queriedAt } = await ask();
      expect(queriedAt > last).toBe(true);
      last = queriedAt;
    }
    const answers = await Promise.all(Array.from({ length: 40 }, () => ask()));
    expect(answers.every(({ queriedAt }) => queriedAt > last)).toBe(true);
  });
});

describe.skipIf(SMALL_ONLY)('an answer above 2 MiB', () => {
  const LARGE = '1:24-cv-00077';
  const long = Array.from({ length: 3_200 }, (_, index) =>
    rawEntry(
      index + 1,
      `2024-0${2 + Math.floor(index / 800)}-${String(1 + (index % 28)).padStart(2, '0')}`,
      `NOTICE ${index + 1} of filing. ${'Further particulars are stated here. '.repeat(18)}`,
    ),
  );
  beforeAll(async () => {
    await world.ingest(rawDocket(long, { court_id: 'dcd', docket_number: LARGE, federal_dn_office_code: '1' }));
  });
  const bytesOf = (answer: { readonly body: unknown }) => Buffer.byteLength(JSON.stringify(answer.body));

  it('keeps the newest history and says what was truncated', async () => {
    const answer = await world.ask('dcd', LARGE, { context: 'full' });
    const { case: served } = bodyOf(answer);
    expect(bytesOf(answer)).toBeLessThanOrEqual(MAX_RESULT_BYTES - 8 * 1024);
    expect(bytesOf(answer)).toBeGreaterThan(MAX_RESULT_BYTES * 0.95);
    expect(answer.truncated).toBe(true);
    expect(answer.truncationDetails).toMatchObject({
      omitted_fields: ['case.docket_history'],
      total_entries: 3_200,
      entries_included: served.docket_history.length,
    });
    const times = served.docket_history.map((one: { available_at: string }) => one.available_at);
    expect(times).toEqual([...times].sort());
    expect(served.parties).toHaveLength(2);
    expect((await world.ask('dcd', LARGE)).truncated).toBe(false);
  });

  it.each([
    ['from long ago', LONG_AGO],
    ['from the beginning, without a last_checked', null],
  ])('returns a large delta %s in parts that lose and repeat nothing', async (_from, first) => {
    const seen: number[] = [];
    let lastChecked: string | null = first;
    for (let poll = 0; poll < 10; poll++) {
      const answer = await world.ask('dcd', LARGE, { lastChecked, fromTheBeginning: true });
      const { delta } = bodyOf(answer);
      expect(delta.change_count).toBe(3_200 - seen.length);
      expect(bytesOf(answer)).toBeLessThanOrEqual(MAX_RESULT_BYTES);
      seen.push(...delta.new_filings.map((one: { entry_number: number }) => one.entry_number));
      if (delta.change_count > delta.new_filings.length) {
        expect(answer.truncated).toBe(true);
        expect(answer.queriedAt).toBe(delta.new_filings.at(-1).available_at);
      }
      lastChecked = answer.queriedAt;
      if (!answer.truncated) break;
    }
    expect(new Set(seen).size).toBe(3_200);
    expect(seen).toHaveLength(3_200);
  });

  it('counts all of a filtered delta that does not fit', async () => {
    const answer = await world.ask('dcd', LARGE, { lastChecked: LONG_AGO, filingTypes: ['notice'] });
    expect(bodyOf(answer).delta.change_count).toBe(3_200);
    expect(answer.truncated).toBe(true);
  });

  it('limits revisions in the same way', async () => {
    const first = await world.ask('dcd', LARGE);
    const edited = long.map((entry) => ({ ...entry, description: `${entry.description} Corrected.` }));
    await world.ingest(rawDocket(edited, { court_id: 'dcd', docket_number: LARGE, federal_dn_office_code: '1' }));
    const seen = new Set<string>();
    let lastChecked = first.queriedAt;
    for (let poll = 0; poll < 10; poll++) {
      const answer = await world.ask('dcd', LARGE, { lastChecked });
      const { delta } = bodyOf(answer);
      expect(delta.change_count).toBe(0);
      expect(bytesOf(answer)).toBeLessThanOrEqual(MAX_RESULT_BYTES);
      for (const one of delta.updated_filings) {
        expect(seen.has(one.filing_id)).toBe(false);
        seen.add(one.filing_id);
      }
      lastChecked = answer.queriedAt;
      if (!answer.truncated) break;
    }
    expect(seen.size).toBe(3_200);
  }, 60_000);

  it('truncates attorneys before parties', async () => {
    const parties = Array.from({ length: 4_000 }, (_, index) => ({
      name: `Party ${index} ${'of many '.repeat(20)}`,
      type: 'Claimant',
      attorneys: [{ name: `Attorney ${index} ${'of many '.repeat(60)}`, roles: [], contact: '' }],
    }));
    await world.ingest(rawDocket(entries, { docket_number: '3:24-cv-00088', parties }));
    const answer = await world.ask('cand', '3:24-cv-00088', { context: 'full' });
    const { case: served } = bodyOf(answer);
    expect(bytesOf(answer)).toBeLessThanOrEqual(MAX_RESULT_BYTES);
    expect(served.parties).toHaveLength(4_000);
    expect(served.parties.some((one: { attorneys: unknown[] }) => one.attorneys.length === 0)).toBe(true);
    expect(answer.truncationDetails?.omitted_fields).toEqual(['case.docket_history', 'case.parties.attorneys']);
  });
});

describe('a case that is partly known', () => {
  const NUMBER = '3:24-cv-00099';
  const part = (some: readonly unknown[]) => rawDocket(some, { docket_number: NUMBER });

  it('gets a partial answer, and its first complete report adds the missing filings', async () => {
    await world.ingest(part([entries[1]]), { complete: false });
    const first = await world.ask('cand', NUMBER, { lastChecked: '2024-03-01T00:00:00.000000Z' });
    expect(first.coverageStatus).toBe('partial');
    expect(bodyOf(first).delta.change_count).toBe(1);
    expect(await world.ingest(part(entries))).toMatchObject({ newFilings: 2, baselineFilings: 1 });
    const second = await world.ask('cand', NUMBER, { lastChecked: first.queriedAt });
    expect(second.coverageStatus).toBe('full');
    const { new_filings: news } = bodyOf(second).delta;
    expect(
      news.map((one: { entry_number: number; backfilled: boolean }) => [one.entry_number, one.backfilled]),
    ).toEqual([
      [3, true],
      [4, true],
    ]);
  });
});
