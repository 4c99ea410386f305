import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FILING_TYPES } from '../../../src/dockets/filing-type.ts';
import { isProblem } from '../../../src/errors.ts';
import { readV1CaseRequest, readV1MonitorRequest } from '../../../src/http/v1/parameters.ts';
import { toMicros } from '../../../src/runtime/instant.ts';

const NOW = toMicros('2026-11-28T12:00:00.000000Z');
const CASE = 'court_code=cand&case_id=4:25-cv-00777';

const read = (query: string, headers = {}) => readV1CaseRequest({ url: `/v1/case?${query}`, headers }, NOW);
function accepted(query: string) {
  const request = read(query);
  if (isProblem(request)) throw new Error(JSON.stringify(request));
  return request;
}
function issuesOf(query: string, headers = {}) {
  const request = read(query, headers);
  if (!isProblem(request)) throw new Error('it was accepted');
  return request.details.issues as { parameter: string; code: string; received: string; rule: string; own?: object }[];
}

describe('the parameters of GET /v1/case', () => {
  it('need only two names, and then all filings are included', () => {
    expect(accepted(CASE)).toMatchObject({ caseId: '4:25-cv-00777', lastChecked: null, filingTypes: null });
  });

  it.each([
    ['one type', 'filing_types=motion', ['motion']],
    ['repeated', 'filing_types=motion&filing_types=order', ['motion', 'order']],
    ['a JSON array', `filing_types=${encodeURIComponent('["motion","order"]')}`, ['motion', 'order']],
    ['a JSON array and one more', 'filing_types=["motion"]&filing_types=order', ['motion', 'order']],
    ['by the other name', 'document_types=["motion"]', ['motion']],
    ['by both names', 'document_types=motion&filing_types=["order","motion"]', ['order', 'motion']],
  ])('accept a list of types: %s', (_how, query, types) => {
    expect(accepted(`${CASE}&${query}`).filingTypes).toEqual(types);
  });

  it('read any list of types in each of its forms as the same set', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.constantFrom(...FILING_TYPES), { minLength: 1 }), fc.boolean(), (types, twice) => {
        const names = twice ? ['filing_types', 'document_types'] : ['filing_types'];
        const array = names.map((name) => `${name}=${encodeURIComponent(JSON.stringify(types))}`).join('&');
        const repeated = types.map((type) => `${names.at(-1)}=${type}`).join('&');
        expect(new Set(accepted(`${CASE}&${array}`).filingTypes)).toEqual(new Set(types));
        expect(new Set(accepted(`${CASE}&${repeated}`).filingTypes)).toEqual(new Set(types));
      }),
    );
  });

  it.each([
    ['as version 2 writes it', 'filing_types=motion,order'],
    ['of nothing', 'filing_types=[]'],
    ['that is empty', 'filing_types='],
    ['with an unknown type', 'filing_types=["motion","moton"]'],
    ['of numbers', 'filing_types=[1,null]'],
    ['that is not JSON', 'filing_types=["motion"'],
    ['nested beyond reason', `filing_types=${'['.repeat(8_000)}${']'.repeat(8_000)}`],
    ['that is not UTF-8', 'filing_types=%ff'],
  ])('reject a list %s, and show a valid one', (_what, query) => {
    const [issue, ...others] = issuesOf(`${CASE}&${query}`);
    expect(others).toEqual([]);
    expect(issue).toMatchObject({ parameter: 'filing_types', code: 'invalid_parameter' });
    expect(JSON.stringify(issue).length).toBeLessThan(6_000);
  });

  it('have no sandbox: a caller who asks for it gets a pointer to it and pays nothing', () => {
    for (const [query, headers, parameter] of [
      [`${CASE}&test=1`, {}, 'test'],
      [`${CASE}&test=0`, {}, 'test'],
      [CASE, { 'x-service-test': '1' }, 'X-Service-Test'],
      [CASE, { 'x-service-test': '0, 1' }, 'X-Service-Test'],
    ] as const) {
      const [issue] = issuesOf(query, headers);
      expect(issue).toMatchObject({ parameter, code: 'invalid_parameter' });
      expect(issue?.rule).toContain('/v2/case?test=1');
    }
    expect(read(CASE, { 'x-service-test': 'true' })).toMatchObject({ caseId: '4:25-cv-00777' });
  });

  it.each(['context=full', 'language=fr', 'callback_url=https://example.com/'])('say which version has %s', (query) => {
    const [issue] = issuesOf(`${CASE}&${query}`);
    expect(issue?.rule).toContain('GET /v2/case has');
  });

  it('list every error at once', () => {
    const issues = issuesOf('court_code=nowhere&filing_types=x&last_checked=yesterday&contxt=1&test=1');
    expect(issues.map(({ parameter }) => parameter).toSorted()).toEqual(
      ['case_id', 'contxt', 'court_code', 'filing_types', 'last_checked', 'test'].toSorted(),
    );
  });
});

describe('the parameters of GET /v1/monitor', () => {
  const readMonitor = (query: string) => readV1MonitorRequest({ url: `/v1/monitor?${query}`, headers: {} }, NOW);

  it('make last_checked optional, and have no list', () => {
    expect(readMonitor(CASE)).toMatchObject({ lastChecked: null });
    expect(readMonitor(`${CASE}&last_checked=2026-03-01T00:00:00Z`)).toMatchObject({
      lastChecked: '2026-03-01T00:00:00.000000Z',
    });
    expect(readMonitor(`${CASE}&filing_types=motion`)).toMatchObject({ problem: 'invalid_parameter' });
  });
});
