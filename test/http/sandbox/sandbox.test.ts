import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseCaseNumber } from '../../../src/courts/case-number.ts';
import { courts, findCourt, isLive } from '../../../src/courts/registry.ts';
import { FILING_TYPES } from '../../../src/dockets/filing-type.ts';
import type { CaseQueryParameters } from '../../../src/http/parameters/case-query.ts';
import { type FixtureName, fixtureFor } from '../../../src/http/sandbox/fixture-choice.ts';
import { snapshotOf } from '../../../src/http/sandbox/fixture-docket.ts';
import { FIXTURES } from '../../../src/http/sandbox/fixtures.ts';
import { createSandbox } from '../../../src/http/sandbox/sandbox.ts';
import { MAX_RESULT_BYTES } from '../../../src/queries/case-answer.ts';
import { bodyOf, openWorld, TestClock, type World } from '../../dockets/world.ts';

const call = { requestId: 'a3c1b5d0-4f6e-4c0a-9c4e-2f0d6a1b7c8d', tag: 'agent "7"' };
const NAMES = Object.keys(FIXTURES) as FixtureName[];

function queryOf(code: string, caseId: string, more: Partial<CaseQueryParameters> = {}): CaseQueryParameters {
  const court = findCourt(code)!;
  return {
    caseId,
    courtCode: code,
    court,
    caseNumber: parseCaseNumber(court, caseId)!,
    lastChecked: null,
    context: 'basic',
    language: null,
    filingTypes: null,
    callbackUrl: null,
    ...more,
  };
}
const since = { sent: '2024-03-01T00:00:00Z', at: '2024-03-01T00:00:00.000000Z' };

describe('the docket that the sandbox shows', () => {
  it.each([
    ['cand', '3:24-cv-01234', 'civil'],
    ['nysd', '1:23-cr-00350', 'criminal'],
    ['nysd', '1:23-mj-00350', 'criminal'],
    ['deb', '24-10123', 'bankruptcy'],
    ['ca9', '24-1234', 'appellate'],
    ['scotus', '23-719', 'appellate'],
    ['fct', 'T-1234-24', 'bilingual'],
    ['paed', '2:16-md-02724', 'large'],
    ['jpml', 'MDL No. 2724', 'large'],
    ['ok_tulsa', 'CJ-2024-1234', 'civil'],
    ['ok_tulsa', 'CF-2024-1234', 'criminal'],
    ['wv_kanawha', 'CC-20-2024-F-123', 'criminal'],
    ['tax', '12345-24', 'civil'],
  ])('%s %s: %s', (code, typed, name) => {
    const court = findCourt(code)!;
    expect(fixtureFor(court, parseCaseNumber(court, typed)!)).toBe(name);
  });
});

describe('the dockets of the sandbox', () => {
  it.each(NAMES)('%s is synthetic, and says so', (name) => {
    const { header } = FIXTURES[name];
    expect(header.caseName).toContain('(synthetic)');
    const text = JSON.stringify(snapshotOf(FIXTURES[name]));
    expect(text).not.toMatch(/uscourts|@|\b\d{3}[-. ]\d{3}[-. ]\d{4}\b/);
    for (const [, url] of text.matchAll(/"externalUrl":"([^"]+)"/g)) {
      expect(new URL(url!).hostname).toMatch(/\.example$/);
    }
  });

  it('show most filing types, a sealed entry, one without a number, attachments and a second name', async () => {
    const sandbox = createSandbox(new TestClock());
    const shown = await Promise.all(
      NAMES.filter((name) => name !== 'large').map(async (name) => {
        const { court, caseNumber } = FIXTURES[name];
        return JSON.parse((await sandbox.answerCase(queryOf(court, caseNumber, { context: 'full' })))(call)).case;
      }),
    );
    const filings = shown.flatMap(({ docket_history: history }) => history);
    expect(filings.filter(({ sealed }) => sealed)).toHaveLength(1);
    expect(filings.some(({ entry_number: number }) => number === null)).toBe(true);
    expect(filings.some(({ attachments }) => attachments.length > 1)).toBe(true);
    expect(new Set(filings.map(({ filing_type: type }) => type)).size).toBeGreaterThan(FILING_TYPES.length / 2);
    expect(new Set(shown.map(({ case_type: type }) => type))).toEqual(
      new Set(['civil', 'criminal', 'bankruptcy', 'appellate']),
    );
  });
});

describe('answers of the sandbox', () => {
  const clock = new TestClock();
  const sandbox = createSandbox(clock);
  const ask = async (...args: Parameters<typeof queryOf>) =>
    JSON.parse((await sandbox.answerCase(queryOf(...args)))(call));

  it('echo the request and name its court, even an unlisted one', async () => {
    for (const court of courts.filter((one) => isLive(one) && one.example !== null)) {
      const body = await ask(court.code, court.example!, { courtCode: court.code.toUpperCase() });
      expect([body.case_id, body.court_code]).toEqual([court.example, court.code.toUpperCase()]);
      expect(body.case).toMatchObject({
        case_number: parseCaseNumber(court, court.example!)?.canonical,
        court_name: court.name,
        jurisdiction_country: court.country,
        language: court.language,
      });
      expect(body.meta.coverage_status).toBe(court.coverage);
    }
  });

  it('are free, have the current time, and carry the tag', async () => {
    const { meta } = await ask('cand', '3:24-cv-01234');
    expect(meta).toMatchObject({
      request_id: call.requestId,
      query_cost_usd: 0,
      sandbox: true,
      cache_age_seconds: 0,
      context_delivered: 'basic',
      language_delivered: 'en',
      truncated: false,
      tag: 'agent "7"',
    });
    clock.advance(60_000);
    const later = (await ask('cand', '3:24-cv-01234')).meta;
    expect(Date.parse(later.queried_at) - Date.parse(meta.queried_at)).toBeGreaterThanOrEqual(60_000);
    expect(later.data_as_of).toBe(later.queried_at);
  });

  it('never report anything new, and have a delta only on request', async () => {
    expect(await ask('cand', '3:24-cv-01234')).not.toHaveProperty('delta');
    const early = { sent: '0001-01-01T00:00:00Z', at: '0001-01-01T00:00:00.000000Z' };
    for (const lastChecked of [since, early]) {
      expect((await ask('cand', '3:24-cv-01234', { lastChecked, filingTypes: ['order'] })).delta).toEqual({
        changed: false,
        since: lastChecked.sent,
        change_count: 0,
        new_filings: [],
        updated_filings: [],
      });
    }
  });

  it("have every day in the court's own zone", async () => {
    const filedIn = async (code: string, number: string) => (await ask(code, number)).case.filed_at;
    expect(await filedIn('cand', '3:24-cv-01234')).toBe('2024-02-05T00:00:00-08:00');
    expect(await filedIn('nysd', '1:24-cv-01234')).toBe('2024-02-05T00:00:00-05:00');
  });

  it('are in French on request, if both names exist', async () => {
    const names = async (language: 'en' | 'fr' | null) => {
      const { case: shown, meta } = await ask('fct', 'T-1234-24', { language });
      return [meta.language_delivered, shown.case_name.slice(0, 6), shown.case_name_secondary_language];
    };
    expect(await names(null)).toEqual(['bilingual', 'Sample', 'fr']);
    expect(await names('fr')).toEqual(['fr', 'Sociét', 'en']);
    expect((await ask('cand', '3:24-cv-01234', { language: 'fr' })).meta.language_delivered).toBe('en');
  });

  it('show truncation on the docket of 6,000 entries, within 2 MiB', async () => {
    const query = queryOf('paed', '2:16-md-02724', { context: 'full', lastChecked: since });
    const text = (await sandbox.answerCase(query))(call);
    const { meta, case: shown } = JSON.parse(text);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_RESULT_BYTES);
    expect(shown.filing_count).toBe(6_000);
    expect(meta.truncated).toBe(true);
    expect(meta.truncation_details).toMatchObject({
      omitted_fields: ['case.docket_history'],
      total_entries: 6_000,
      entries_included: shown.docket_history.length,
    });
    expect(shown.docket_history.at(-1).entry_number).toBe(6_000);
    expect(shown.docket_history[0].entry_number).toBeGreaterThan(1);
    expect((await ask('paed', '2:16-md-02724')).meta).toMatchObject({ truncated: false });
  });

  it('are ready from the second call on', async () => {
    const query = queryOf('waed', '2:24-cv-00001', { context: 'full' });
    const first = sandbox.answerCase(query);
    expect(first).toBeInstanceOf(Promise);
    await first;
    expect(typeof sandbox.answerCase(query)).toBe('function');
  });

  it('of the monitor report no change', async () => {
    const { caseId, courtCode, court, caseNumber } = queryOf('cand', '3:24-cv-01234');
    const request = { caseId, courtCode, court, caseNumber, lastChecked: since.at, sandbox: true };
    const body = JSON.parse((await sandbox.answerMonitor(request))(call));
    expect(body).toMatchObject({
      case_id: '3:24-cv-01234',
      court_code: 'cand',
      changed: false,
      change_count: 0,
      latest_activity_at: null,
      meta: { sandbox: true, query_cost_usd: 0, tag: 'agent "7"', request_id: call.requestId },
    });
  });
});

describe('an answer of the sandbox and a real one', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld();
  });
  afterAll(() => world.close());

  /** Every path to an existing value, with the elements of a list as one. */
  const pathsOf = (value: unknown, path = ''): string[] => {
    if (Array.isArray(value)) return value.flatMap((element) => pathsOf(element, `${path}[]`));
    if (typeof value !== 'object' || value === null) return [path];
    return Object.entries(value).flatMap(([key, part]) => [`${path}.${key}`, ...pathsOf(part, `${path}.${key}`)]);
  };
  const shapeOf = (value: unknown): string[] => [...new Set(pathsOf(value))].sort();

  it.each(['basic', 'full'] as const)('have one shape in the %s context', async (context) => {
    await world.ingest({
      court_id: 'cand',
      docket_number: '3:24-cv-00077',
      case_name: 'Larch v. Alder',
      date_filed: '2024-02-05',
      mdl_status: 'MDL 2999',
      parties: [{ name: 'Larch', type: 'Plaintiff', attorneys: [{ name: 'Pine', roles: [], contact: '' }] }],
      docket_entries: [
        {
          date_filed: '2024-02-05',
          document_number: '1',
          description: 'COMPLAINT',
          pacer_doc_id: '035099041007',
          attachments: [{ attachment_number: 1, description: 'Cover Sheet', pacer_doc_id: '035099141008' }],
        },
      ],
    });
    const real = await world.ask('cand', '3:24-cv-00077', { context, lastChecked: since.at });
    const query = queryOf('cand', '3:24-cv-00077', { context, lastChecked: since });
    const { meta: _, ...rehearsed } = JSON.parse((await createSandbox(world.clock).answerCase(query))(call));
    const { delta: realDelta, ...realBody } = bodyOf(real);
    const { delta, ...body } = rehearsed;
    expect(shapeOf(body)).toEqual(shapeOf(realBody));
    expect(Object.keys(delta)).toEqual(Object.keys(realDelta));
  });
});

describe('a repeated answer', () => {
  let now = 1_772_366_400_000_000;
  const sandbox = createSandbox({ now: () => now });
  const untagged = { ...call, tag: null };

  it('has the same bytes as a freshly written one', async () => {
    for (const [name, more] of [
      ['civil', {}],
      ['civil', { lastChecked: since }],
      ['bilingual', { context: 'full', language: 'fr', lastChecked: since }],
      ['appellate', { context: 'full', caseId: 'n° 24-1234 “é”' }],
    ] as const) {
      const { court, caseNumber } = FIXTURES[name];
      const answer = await sandbox.answerCase({ ...queryOf(court, caseNumber), ...more } as CaseQueryParameters);
      for (let time = 0; time < 2; time++) {
        now += 1_234_567;
        expect(answer.untagged?.(call.requestId)?.toString()).toBe(answer(untagged));
      }
      const other = '00000000-0000-4000-8000-000000000000';
      expect(JSON.parse(String(answer.untagged?.(other))).meta.request_id).toBe(other);
    }
    const { court, caseNumber } = FIXTURES.large;
    const large = await sandbox.answerCase(queryOf(court, caseNumber, { context: 'full' }));
    expect(large.untagged?.(call.requestId)).toBeNull();
  });
});
