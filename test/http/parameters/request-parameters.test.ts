import type { FastifyRequest } from 'fastify';
import { describe, expect, it } from 'vitest';
import { CASE_QUERY_PARAMETERS } from '../../../src/http/parameters/case-query.ts';
import { isBareRequest, readRequestParameters } from '../../../src/http/parameters/request-parameters.ts';

const request = (query: string, headers: Record<string, string> = {}): FastifyRequest =>
  ({ url: `/v2/case${query}`, headers }) as unknown as FastifyRequest;
const read = (query: string, headers?: Record<string, string>) =>
  readRequestParameters(request(query, headers), CASE_QUERY_PARAMETERS);
const onlyIssue = (query: string, headers?: Record<string, string>) => {
  const { issues } = read(query, headers);
  expect(issues).toHaveLength(1);
  return issues[0]!;
};

describe('the parameters of a request', () => {
  it('are read by name, decoded', () => {
    const { values, issues } = read('?case_id=3%3A24-cv-01234&court_code=cand&&language=');
    expect(Object.fromEntries(values)).toEqual({ case_id: '3:24-cv-01234', court_code: 'cand', language: '' });
    expect(issues).toEqual([]);
  });

  it('end at a fragment', () => {
    expect(Object.fromEntries(read('?case_id=1#&court_code=cand').values)).toEqual({ case_id: '1' });
  });

  it.each([
    ['last_cheked', 'last_checked'],
    ['courtcode', 'court_code'],
    ['Case_Id', 'case_id'],
    ['filing_types[]', 'filing_types'],
    ['filing_types%5B0%5D', 'filing_types'],
    ['xyzzy', null],
  ])('reject the unknown name %s and suggest %s', (name, suggestion) => {
    const issue = onlyIssue(`?${name}=1`);
    expect(issue).toMatchObject({ code: 'invalid_parameter', received: '1', example: suggestion });
    expect(issue.rule).toContain(suggestion ?? 'Use one of');
  });

  it('reject a repeated name, even with equal values', () => {
    expect(onlyIssue('?case_id=1&case_id=1')).toMatchObject({
      parameter: 'case_id',
      code: 'invalid_parameter',
      received: 'case_id=1&case_id=1',
    });
    expect(onlyIssue('?filing_types=motion&filing_types=order').rule).toContain('by commas');
  });

  it.each(['case_id=%ff', 'case_id=%', 'case_id=%zz', 'case_id=%00', 'case_id=a%0d%0ab'])(
    'with the bytes of %s are rejected',
    (query) => {
      expect(onlyIssue(`?${query}`)).toMatchObject({ parameter: 'case_id', code: 'invalid_parameter' });
    },
  );

  it('do not answer thousands of names with megabytes', () => {
    const names = Array.from({ length: 5_000 }, (_, i) => `p${i}=`).join('&');
    const { issues } = read(`?${names}`);
    expect(issues).toHaveLength(21);
    expect(issues.at(-1)?.rule).toContain('4980 more');
  });

  it('include a tag of at most 256 characters, whatever their bytes', () => {
    const tag = (text: string) => ({ 'x-service-tag': Buffer.from(text).toString('latin1') });
    expect(read('', tag('agent, 7')).tag).toBe('agent, 7');
    expect(read('', tag('é'.repeat(256)))).toMatchObject({ tag: 'é'.repeat(256), issues: [] });
    expect(read('', { 'x-service-tag': 'caf\u00e9' }).tag).toBe('café');
    expect(read('').tag).toBeNull();
    expect(onlyIssue('', tag('x'.repeat(257)))).toMatchObject({
      parameter: 'X-Service-Tag',
      code: 'invalid_parameter',
    });
  });

  it('enable the sandbox only with the value 1', () => {
    expect(read('?test=1').sandbox).toBe(true);
    expect(read('', { 'x-service-test': '1' }).sandbox).toBe(true);
    expect(read('', { 'x-service-test': '1, 1' }).sandbox).toBe(true);
    for (const value of ['0', 'true', '', '11', 'false']) {
      expect(read(`?test=${value}`)).toMatchObject({ sandbox: false, issues: [] });
      expect(read('', { 'x-service-test': value }).sandbox).toBe(false);
    }
  });

  it('are absent in a bare request', () => {
    expect(isBareRequest(request(''))).toBe(true);
    expect(isBareRequest(request('?'))).toBe(true);
    expect(isBareRequest(request('?x'))).toBe(false);
    expect(isBareRequest(request('?test=0'))).toBe(false);
    expect(isBareRequest(request('', { 'x-service-test': '1' }))).toBe(false);
    expect(isBareRequest(request('', { 'x-service-test': '1, 1' }))).toBe(false);
    expect(isBareRequest(request('', { 'x-service-tag': 'mine' }))).toBe(true);
    expect(isBareRequest(request('', { 'x-service-tag': 'x'.repeat(257) }))).toBe(false);
    expect(isBareRequest(request('', { 'content-length': '2' }))).toBe(false);
    expect(isBareRequest(request('', { 'content-length': '0' }))).toBe(true);
  });
});
