import fc from 'fast-check';
import type { FastifyRequest } from 'fastify';
import { describe, expect, it } from 'vitest';
import { ERROR_CATALOGUE, type ErrorCode, isProblem, type Problem, statusOf } from '../../../src/errors.ts';
import { readCaseRequest } from '../../../src/http/parameters/case-request.ts';
import { toMicros } from '../../../src/runtime/instant.ts';

const now = toMicros('2026-11-27T12:00:00.000000Z');
const CODES = Object.keys(ERROR_CATALOGUE) as ErrorCode[];

const read = (query: string, headers: Record<string, string> = {}) =>
  readCaseRequest({ url: `/v2/case${query}`, headers } as unknown as FastifyRequest, now);
const refused = (query: string, headers?: Record<string, string>): Problem => {
  const outcome = read(query, headers);
  if (!isProblem(outcome)) throw new Error(`not refused: ${query}`);
  return outcome;
};
const issuesOf = ({ details }: Problem) =>
  details.issues as unknown as { parameter: string; code: ErrorCode; rule: string }[];

describe('GET /v2/case reads its request', () => {
  it('completely', () => {
    const outcome = read(
      '?court_code=CAND&case_id=3:24-cv-01234&last_checked=2024-03-01T02:00:00+02:00&context=full&test=0',
    );
    expect(outcome).toMatchObject({
      courtCode: 'CAND',
      caseId: '3:24-cv-01234',
      lastChecked: { at: '2024-03-01T00:00:00.000000Z' },
      context: 'full',
    });
  });

  it('lists errors of names, repetitions, values, the tag and missing parameters in one answer', () => {
    const problem = refused('?court_code=cand&court_code=nysd&last_cheked=x&context=huge', {
      'x-service-tag': 'x'.repeat(300),
    });
    expect(problem.problem).toBe('missing_required_parameter');
    expect(
      issuesOf(problem)
        .map(({ parameter }) => parameter)
        .sort(),
    ).toEqual(['X-Service-Tag', 'case_id', 'context', 'court_code', 'last_cheked']);
  });

  it.each([
    ['https://agent.example/hook?secret=1', 'https%3A%2F%2Fagent.example%2Fhook%3Fsecret%3D1'],
    ['no url at all', 'no+url+at+all'],
    ['http://127.0.0.1:1/', 'http://127.0.0.1:1/'],
    ['javascript:alert(1)', 'javascript:alert(1)'],
    ['é'.repeat(2_048), encodeURIComponent('é'.repeat(2_048))],
    ['😀'.repeat(2_048), encodeURIComponent('😀'.repeat(2_048))],
  ])('accepts any text as callback_url, unparsed: %.30s', (text, sent) => {
    expect(read(`?court_code=cand&case_id=3:24-cv-01234&callback_url=${sent}`)).toMatchObject({ callbackUrl: text });
  });

  it.each([
    ['empty', '', /Omit/],
    ['blank', '%20', /Omit/],
    ['2,049 characters', 'x'.repeat(2_049), /2048/],
    ['2,049 characters of two code units', encodeURIComponent('😀'.repeat(2_049)), /2048/],
  ])('rejects a callback_url that is %s', (_, sent, rule) => {
    const problem = refused(`?court_code=cand&case_id=3:24-cv-01234&callback_url=${sent}`);
    expect(problem.problem).toBe('invalid_parameter');
    expect(issuesOf(problem)).toMatchObject([{ parameter: 'callback_url', rule: expect.stringMatching(rule) }]);
  });

  it('distinguishes the sandbox from a real call; validation runs in both', () => {
    const sound = 'court_code=cand&case_id=3:24-cv-01234';
    expect(read(`?${sound}`)).toMatchObject({ sandbox: false });
    expect(read(`?${sound}&test=1`)).toMatchObject({ sandbox: true });
    expect(read(`?${sound}`, { 'x-service-test': '1' })).toMatchObject({ sandbox: true });
    expect(refused(`?${sound}&test=1&context=huge`).problem).toBe('invalid_parameter');
    expect(refused('?court_code=qc_ca&case_id=500-09-031234-241&test=1').problem).toBe('court_not_covered');
    expect(refused('?test=1').problem).toBe('missing_required_parameter');
  });

  /** Ways to send each parameter, and the error code of each way. */
  const ways: Record<string, [string | null, ErrorCode | null][]> = {
    case_id: [
      ['3:24-cv-01234', null],
      [null, 'missing_required_parameter'],
      ['%20', 'missing_required_parameter'],
      ['no-number-of-a-court!', 'invalid_case_id'],
      ['%ff', 'invalid_parameter'],
      ['1&case_id=2', 'invalid_parameter'],
    ],
    last_checked: [
      [null, null],
      ['2024-03-01T00:00:00%2B02:00', null],
      ['2024-03-01T00:00:00+02:00', null],
      ['', 'invalid_timestamp'],
      ['2024-03-01', 'invalid_timestamp'],
      ['2099-03-01T00:00:00Z', 'last_checked_in_future'],
      ['%00', 'invalid_parameter'],
    ],
    context: [
      [null, null],
      ['full', null],
      ['Full', 'invalid_parameter'],
      ['full&context=full', 'invalid_parameter'],
    ],
    language: [
      [null, null],
      ['fr', null],
      ['de', 'invalid_parameter'],
    ],
    filing_types: [
      [null, null],
      ['motion,order', null],
      ['motion,%20order', null],
      ['motions', 'invalid_parameter'],
    ],
    callback_url: [
      [null, null],
      ['https%3A%2F%2Fexample.com', null],
      ['', 'invalid_parameter'],
    ],
    test: [
      [null, null],
      ['0', null],
      ['0&test=0', 'invalid_parameter'],
    ],
    unknown: [
      [null, null],
      ['1', 'invalid_parameter'],
    ],
  };
  const courtWays: [string | null, ErrorCode | null][] = [
    ['cand', null],
    ['CAND', null],
    [null, 'missing_required_parameter'],
    ['nowhere_at_all', 'court_not_covered'],
    ['tx_supreme', 'court_not_covered'],
  ];

  it('lists exactly the errors of any combination', () => {
    const choices = fc.record({
      court_code: fc.constantFrom(...courtWays),
      ...Object.fromEntries(Object.entries(ways).map(([name, list]) => [name, fc.constantFrom(...list)])),
    });
    fc.assert(
      fc.property(choices, fc.boolean(), (chosen, longTag) => {
        const pairs = Object.entries(chosen as Record<string, [string | null, ErrorCode | null]>);
        const query = pairs.flatMap(([name, [value]]) => (value === null ? [] : `${name}=${value}`)).join('&');
        const courtIsSound = chosen.court_code[1] === null;
        const expected = pairs
          // Without the court it is unknown which numbers the court writes.
          .filter(([, [, code]]) => code !== null && (code !== 'invalid_case_id' || courtIsSound))
          .map(([name, [, code]]) => `${name}: ${code}`);
        if (longTag) expected.push('X-Service-Tag: invalid_parameter');
        const outcome = read(`?${query}`, longTag ? { 'x-service-tag': 'x'.repeat(257) } : {});
        const found = isProblem(outcome) ? issuesOf(outcome) : [];
        expect(found.map(({ parameter, code }) => `${parameter}: ${code}`).sort()).toEqual(expected.sort());
        if (!isProblem(outcome)) return;
        const first = Math.min(...found.map(({ code }) => CODES.indexOf(code)));
        expect(outcome.problem).toBe(CODES[first]);
        const known = new Set(Object.keys(ERROR_CATALOGUE[outcome.problem].details));
        expect(Object.keys(outcome.details).filter((key) => !known.has(key))).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });

  it('never throws and always returns a 4xx code, for any input', () => {
    const name = fc.oneof(
      fc.constantFrom('case_id', 'court_code', 'last_checked', 'filing_types', 'test'),
      fc.string(),
    );
    const value = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        'cand',
        '3:24-cv-01234',
        '%',
        '%00',
        '%ff',
        '1'.repeat(5_000),
        '2024-03-01T00:00:00Z',
        '__proto__',
      ),
    );
    const query = fc.oneof(
      fc.array(fc.tuple(name, value)).map((pairs) => pairs.map(([key, text]) => `${key}=${text}`).join('&')),
      fc.webQueryParameters(),
      fc.string({ unit: 'binary', maxLength: 200 }),
    );
    fc.assert(
      fc.property(query, (text) => {
        const outcome = read(`?${text}`);
        if (!isProblem(outcome)) return;
        const status = statusOf(outcome.problem);
        expect(status >= 400 && status < 500).toBe(true);
        expect(issuesOf(outcome).length).toBeGreaterThan(0);
        expect(JSON.stringify(outcome).length).toBeLessThan(40_000);
      }),
      { numRuns: 2_000 },
    );
  });
});
