import { describe, expect, it } from 'vitest';
import { isProblem, type Problem } from '../../../src/errors.ts';
import { readMonitorRequest } from '../../../src/http/parameters/monitor-request.ts';
import { toMicros } from '../../../src/runtime/instant.ts';

const now = toMicros('2026-11-27T12:00:00.000000Z');
const CASE = 'court_code=cand&case_id=3:24-cv-01234';
const SINCE = 'last_checked=2024-03-01T00:00:00Z';

const read = (query: string, headers: Record<string, string> = {}) =>
  readMonitorRequest({ url: `/v2/monitor?${query}`, headers }, now);
const refused = (query: string): Problem => {
  const outcome = read(query);
  if (!isProblem(outcome)) throw new Error(`not refused: ${query}`);
  return outcome;
};
const issuesOf = ({ details }: Problem) =>
  details.issues as unknown as { parameter: string; code: string; rule: string }[];

describe('GET /v2/monitor reads its request', () => {
  it('completely', () => {
    expect(read(`${CASE}&${SINCE}`)).toMatchObject({
      courtCode: 'cand',
      caseId: '3:24-cv-01234',
      lastChecked: '2024-03-01T00:00:00.000000Z',
      sandbox: false,
    });
    expect(read(`${CASE}&${SINCE}&test=1`)).toMatchObject({ sandbox: true });
    expect(read(`${CASE}&${SINCE}`, { 'x-service-test': '1' })).toMatchObject({ sandbox: true });
  });

  it.each([CASE, `${CASE}&last_checked=`, `${CASE}&last_checked=%20`])('and needs last_checked: %s', (query) => {
    const problem = refused(query);
    expect(problem).toMatchObject({
      problem: 'missing_required_parameter',
      details: { parameters: ['last_checked'] },
    });
    expect(issuesOf(problem)).toHaveLength(1);
  });

  it('lists a repeated last_checked once, and not as missing', () => {
    const problem = refused(`${CASE}&${SINCE}&${SINCE}`);
    expect(issuesOf(problem).map(({ parameter, code }) => [parameter, code])).toEqual([
      ['last_checked', 'invalid_parameter'],
    ]);
  });

  it('rejects a callback, and says which endpoint has them', () => {
    const problem = refused(`${CASE}&${SINCE}&callback_url=https://example.com/`);
    expect(problem.problem).toBe('invalid_parameter');
    expect(issuesOf(problem)[0]?.rule).toContain('/v2/case');
  });

  it.each(['context=full', 'language=fr', 'filing_types=motion'])('and says where %s belongs', (extra) => {
    const [issue, ...others] = issuesOf(refused(`${CASE}&${SINCE}&${extra}`));
    expect(others).toEqual([]);
    expect(issue).toMatchObject({ code: 'invalid_parameter', rule: expect.stringContaining('GET /v2/case') });
  });

  it('lists every error at once', () => {
    const problem = refused('court_code=zz&case_idd=1&context=full&callback_url=x');
    expect(
      issuesOf(problem)
        .map(({ parameter }) => parameter)
        .sort(),
    ).toEqual(['callback_url', 'case_id', 'case_idd', 'context', 'court_code', 'last_checked']);
    expect(problem.problem).toBe('missing_required_parameter');
  });
});
