import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isProblem, type Problem } from '../../../src/errors.ts';
import { type BatchRequest, readBatchRequest } from '../../../src/http/parameters/batch-request.ts';
import { toMicros } from '../../../src/runtime/instant.ts';

const now = toMicros('2026-11-27T12:00:00.000000Z');
const CASE = { case_id: '3:24-cv-01234', court_code: 'cand' };

const readText = (body: string | Buffer, url = '/v2/cases/batch', headers = {}) =>
  readBatchRequest({ url, headers, body: Buffer.from(body) }, now);
const read = (body: unknown, url?: string, headers?: object) => readText(JSON.stringify(body), url, headers);

function accepted(outcome: BatchRequest | Problem): BatchRequest {
  if (isProblem(outcome)) throw new Error(JSON.stringify(outcome));
  return outcome;
}
function refused(outcome: BatchRequest | Problem): Problem {
  if (!isProblem(outcome)) throw new Error('not refused');
  return outcome;
}
interface ListedIssue {
  readonly parameter: string;
  readonly code: string;
  readonly received: string | null;
  readonly rule: string;
  readonly example: string | null;
}
const issuesOf = ({ details }: Problem) => details.issues as unknown as ListedIssue[];
const faultsOf = (outcome: BatchRequest | Problem) =>
  issuesOf(refused(outcome)).map(({ parameter, code }) => `${parameter}: ${code}`);

describe('a batch reads its queries', () => {
  it('in order, with every member of a case query and a callback each', () => {
    const { queries, sandbox } = accepted(
      read({
        queries: [
          { ...CASE, last_checked: '2024-03-01T02:00:00+02:00', context: 'full', filing_types: 'motion, order' },
          { case_id: '24-10123', court_code: 'DEB', language: 'fr', callback_url: 'https://agent.example/hook' },
        ],
      }),
    );
    expect(sandbox).toBe(false);
    expect(queries).toMatchObject([
      {
        caseId: '3:24-cv-01234',
        courtCode: 'cand',
        lastChecked: { at: '2024-03-01T00:00:00.000000Z' },
        context: 'full',
        filingTypes: ['motion', 'order'],
        callbackUrl: null,
        named: { caseNumber: { canonical: '3:24-cv-01234' } },
      },
      {
        courtCode: 'DEB',
        context: 'basic',
        language: 'fr',
        callbackUrl: 'https://agent.example/hook',
        named: { court: { code: 'deb' } },
      },
    ]);
  });

  it('with null as no value', () => {
    const query = {
      ...CASE,
      last_checked: null,
      context: null,
      language: null,
      filing_types: null,
      callback_url: null,
    };
    expect(accepted(read({ queries: [query] })).queries).toEqual(accepted(read({ queries: [CASE] })).queries);
    expect(faultsOf(read({ queries: [{ ...CASE, case_id: null }] }))).toEqual([
      'queries[0].case_id: missing_required_parameter',
    ]);
  });

  it('also from an already parsed value', () => {
    const outcome = readBatchRequest({ url: '/', headers: {}, body: { queries: [CASE] } }, now);
    expect(accepted(outcome).queries).toHaveLength(1);
  });

  it.each([
    ['an unknown court', { case_id: '1', court_code: 'nowhere' }, 'court_not_covered'],
    ['a planned court', { case_id: '500-17-123456-241', court_code: 'qc_cs' }, 'court_not_covered'],
    ['a number that the court does not write', { ...CASE, case_id: 'nothing!' }, 'invalid_case_id'],
  ])('and keeps the others if one has %s', (_, query, code) => {
    const { queries } = accepted(read({ queries: [CASE, query, CASE] }));
    expect(queries.map(({ named }) => isProblem(named) && named.problem)).toEqual([false, code, false]);
  });

  it('suggesting courts for a few codes, and for the same one again', () => {
    const codes = ['cnd', 'nysdd', 'deb1', 'txsx', 'ca99', 'okk', 'cnd'];
    const { queries } = accepted(read({ queries: codes.map((court_code) => ({ case_id: '1', court_code })) }));
    const counts = queries.map(({ named }) => (isProblem(named) ? (named.details.suggestions as string[]).length : -1));
    expect(counts.slice(0, 5).every((count) => count > 0)).toBe(true);
    expect(counts[5]).toBe(0);
    expect(counts[6]).toBe(counts[0]);
  });
});

describe('a batch is rejected as a whole', () => {
  it.each([
    ['without a body', '', /JSON/],
    ['broken', '{"queries":[', /JSON/],
    ['of bytes that are not UTF-8', Buffer.from('7b2271ff227d', 'hex'), /UTF-8/],
    ['null', 'null', /object/],
    ['a text', '"x"', /object/],
    ['a number', '1', /object/],
    ['a bare array', JSON.stringify([CASE]), /member `queries`/],
    ['an object without queries', '{}', /1 to 50/],
    ['without an array', '{"queries":"x"}', /1 to 50/],
    ['with an object for an array', '{"queries":{"0":{}}}', /1 to 50/],
    ['with no queries', '{"queries":[]}', /1 to 50/],
    [
      'with queries of a prototype',
      '{"__proto__":{"queries":[{"case_id":"1","court_code":"cand"}]}}',
      /Unknown member|1 to 50/,
    ],
    ['nested too deeply', `{"queries":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, /levels/],
  ])('%s', (_, body, rule) => {
    const refusal = refused(readText(body));
    expect(refusal.problem).toBe('invalid_batch_request');
    expect(issuesOf(refusal)[0]?.rule).toMatch(rule);
    expect(Object.hasOwn(Object.prototype, 'queries')).toBe(false);
  });

  it('with an empty body', () => {
    expect(refused(readBatchRequest({ url: '/', headers: {} }, now)).problem).toBe('invalid_batch_request');
  });

  it('with more than 50 queries, whatever they are', () => {
    const refusal = refused(read({ queries: Array(51).fill({}) }));
    expect(refusal).toMatchObject({ problem: 'batch_too_large', details: { limit: 50 } });
    expect(accepted(read({ queries: Array(50).fill(CASE) })).queries).toHaveLength(50);
  });

  it('listing every error of every query, with its place', () => {
    const refusal = refused(
      read({
        queries: [
          CASE,
          { court_code: 'cand', last_cheked: '2024-03-01T00:00:00Z' },
          'x',
          { ...CASE, last_checked: '2024-03-01' },
          { ...CASE, last_checked: '2099-03-01T00:00:00Z', context: 'huge', language: 'de', filing_types: 'motions' },
          { ...CASE, filing_types: ['motion', 'order'], callback_url: '' },
          { ...CASE, case_id: 7, court_code: { code: 'cand' } },
          [],
          { ...CASE, case_id: 'a\u0000b', court_code: '\ud800' },
        ],
        querys: [],
      }),
    );
    expect(refusal.problem).toBe('invalid_batch_request');
    expect(
      issuesOf(refusal)
        .map(({ parameter, code }) => `${parameter}: ${code}`)
        .sort(),
    ).toEqual([
      'queries[1].case_id: missing_required_parameter',
      'queries[1].last_cheked: invalid_parameter',
      'queries[2]: invalid_parameter',
      'queries[3].last_checked: invalid_timestamp',
      'queries[4].context: invalid_parameter',
      'queries[4].filing_types: invalid_parameter',
      'queries[4].language: invalid_parameter',
      'queries[4].last_checked: last_checked_in_future',
      'queries[5].callback_url: invalid_parameter',
      'queries[5].filing_types: invalid_parameter',
      'queries[6].case_id: invalid_parameter',
      'queries[6].court_code: invalid_parameter',
      'queries[7]: invalid_parameter',
      'queries[8].case_id: invalid_parameter',
      'queries[8].court_code: invalid_parameter',
      'querys: invalid_batch_request',
    ]);
    const byName = new Map(issuesOf(refusal).map((issue) => [issue.parameter, issue]));
    expect(byName.get('queries[1].last_cheked')).toMatchObject({
      example: 'last_checked',
      rule: expect.stringMatching(/Did you mean/),
    });
    expect(byName.get('queries[5].filing_types')).toMatchObject({
      example: 'motion,order',
      rule: expect.stringMatching(/commas/),
    });
    expect(byName.get('querys')).toMatchObject({ example: 'queries' });
  });

  it.each([
    ['in a query', '{"queries":[{"case_id":"1","court_code":"cand","case_id":"2"}]}', 'queries[0].case_id'],
    [
      'written in two ways',
      '{"queries":[{"case_id":"1","court_code":"cand","case\\u005fid":"2"}]}',
      'queries[0].case_id',
    ],
    ['of the body', '{"queries":[],"queries":[{"case_id":"1","court_code":"cand"}]}', 'queries'],
  ])('with a repeated member %s', (_, body, parameter) => {
    expect(faultsOf(readText(body))).toEqual([`${parameter}: invalid_batch_request`]);
  });

  it('with text that looks like JSON in place of members', () => {
    const query = { ...CASE, callback_url: '{"a":1,"a":[",","\\"' };
    expect(accepted(readText(JSON.stringify({ queries: [query, query] }))).queries).toHaveLength(2);
  });

  it('under the code of an error outside the body, with every error listed', () => {
    const refusal = refused(read({ queries: [] }, '/v2/cases/batch?tests=1'));
    expect(refusal.problem).toBe('invalid_parameter');
    expect(issuesOf(refusal).map(({ parameter }) => parameter)).toEqual(['tests', 'queries']);
  });

  it('in the sandbox too', () => {
    expect(faultsOf(read({ queries: [{ ...CASE, context: 'huge' }] }, '/v2/cases/batch?test=1'))).toEqual([
      'queries[0].context: invalid_parameter',
    ]);
    expect(accepted(read({ queries: [CASE] }, '/', { 'x-service-test': '1' })).sandbox).toBe(true);
  });

  it.each([
    [
      'types',
      { queries: [{ ...CASE, filing_types: Array.from({ length: 40_000 }, (_, i) => i.toString(36)).join() }] },
    ],
    ['courts', { queries: Array.from({ length: 50 }, (_, i) => ({ case_id: '1', court_code: `zz${i}` })) }],
    ['numbers', { queries: [{ ...CASE, case_id: '1-'.repeat(120_000) }] }],
  ])('without spending too much time on it: 250 KB of %s', (_, body) => {
    read(body);
    const began = process.cpuUsage();
    read(body);
    const { user, system } = process.cpuUsage(began);
    // Some 20 ms of processor time, regardless of other work on the machine; the first of these took a second.
    expect((user + system) / 1000).toBeLessThan(500);
  });

  it('with an error of limited size', () => {
    const query = Object.fromEntries(Array.from({ length: 90 }, (_, i) => [`member${i}`, 'x'.repeat(20)]));
    const refusal = refused(read({ queries: Array(50).fill(query) }));
    expect(issuesOf(refusal)).toHaveLength(101);
    expect(issuesOf(refusal).at(-1)?.rule).toMatch(/more errors/);
    expect(JSON.stringify(refusal).length).toBeLessThan(50_000);
  });
});

describe('any JSON', () => {
  const value = fc.oneof(
    { weight: 3, arbitrary: fc.string({ unit: 'grapheme' }) },
    fc.jsonValue({ maxDepth: 3 }),
    fc.constantFrom('cand', '3:24-cv-01234', 'full', '2024-03-01T00:00:00Z', null),
  );
  const name = fc.oneof(
    fc.constantFrom('case_id', 'court_code', 'last_checked', 'context', 'language', 'filing_types', 'callback_url'),
    fc.constantFrom('__proto__', 'constructor', 'toString', 'case_Id', ''),
    fc.string(),
  );
  const query = fc.oneof({ weight: 5, arbitrary: fc.dictionary(name, value) }, fc.jsonValue());
  const body = fc.oneof(
    { weight: 5, arbitrary: fc.record({ queries: fc.array(query, { maxLength: 55 }) }) },
    fc.jsonValue(),
  );

  it('is read or rejected with issues, and queries that are read stay in order', () => {
    fc.assert(
      fc.property(body, (sent) => {
        const outcome = read(sent);
        if (isProblem(outcome)) {
          expect(['invalid_batch_request', 'batch_too_large']).toContain(outcome.problem);
          expect(issuesOf(outcome).length).toBeGreaterThan(0);
          return;
        }
        const { queries } = sent as { queries: { case_id: string; court_code: string }[] };
        expect(outcome.queries.map(({ caseId, courtCode }) => [caseId, courtCode])).toEqual(
          queries.map(({ case_id, court_code }) => [case_id, court_code]),
        );
      }),
    );
  });

  it('and text that is not JSON', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.uint8Array().map((bytes) => Buffer.from(bytes)),
        ),
        (text) => {
          const outcome = readText(text);
          if (!isProblem(outcome)) throw new Error('a batch was read from noise');
          expect(outcome.problem).toBe('invalid_batch_request');
        },
      ),
    );
  });
});
