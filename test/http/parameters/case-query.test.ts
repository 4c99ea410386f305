import { describe, expect, it } from 'vitest';
import { type CheckedCaseQuery, checkCaseQuery } from '../../../src/http/parameters/case-query.ts';
import { refuseFor } from '../../../src/http/parameters/issues.ts';
import { toMicros } from '../../../src/runtime/instant.ts';

const now = toMicros('2026-11-27T12:00:00.000000Z');
const sound = { case_id: '3:24-cv-01234', court_code: 'cand' };
const check = (values: Record<string, string>): CheckedCaseQuery =>
  checkCaseQuery(new Map(Object.entries(values)), now);
const read = (values: Record<string, string>) => {
  const { query, issues } = check({ ...sound, ...values });
  expect(issues).toEqual([]);
  return query!;
};
const refused = (values: Record<string, string>) => {
  const { query, issues } = check(values);
  expect(query).toBeNull();
  return refuseFor(issues as Parameters<typeof refuseFor>[0]);
};
const fault = (values: Record<string, string>) => {
  const { problem, details } = refused({ ...sound, ...values });
  expect(details.issues).toHaveLength(1);
  return { code: problem, details, issue: (details.issues as unknown as Record<string, unknown>[])[0]! };
};

describe('the parameters of a case query (docs/design/interface.md#2.1)', () => {
  it('have defaults', () => {
    expect(read({})).toMatchObject({
      caseId: '3:24-cv-01234',
      courtCode: 'cand',
      court: { code: 'cand' },
      caseNumber: { canonical: '3:24-cv-01234' },
      lastChecked: null,
      context: 'basic',
      language: null,
      filingTypes: null,
    });
  });

  it('keep the sent text and its meaning', () => {
    expect(read({ court_code: ' CAND', case_id: 'Case No. 3:24-CV-1234-RJ' })).toMatchObject({
      caseId: 'Case No. 3:24-CV-1234-RJ',
      courtCode: ' CAND',
      court: { code: 'cand' },
      caseNumber: { canonical: '3:24-cv-01234' },
    });
  });

  it('recognize aliases of a court', () => {
    expect(read({ court_code: 'cofc', case_id: '1:24-cv-00123' }).court.code).toBe('uscfc');
  });

  it.each(['', '   '])('are missing when empty: %j', (empty) => {
    expect(fault({ case_id: empty })).toMatchObject({
      code: 'missing_required_parameter',
      details: { parameters: ['case_id'] },
    });
  });

  it('list every missing name', () => {
    expect(refused({})).toMatchObject({
      problem: 'missing_required_parameter',
      details: { parameters: ['case_id', 'court_code'] },
    });
  });

  it('list every error at once, and the code is the first in the catalogue’s order', () => {
    const { problem, details, message } = refused({
      court_code: 'candd',
      context: 'huge',
      language: 'de',
      filing_types: 'nonsense',
      last_checked: 'yesterday',
    });
    expect(problem).toBe('missing_required_parameter');
    const issues = details.issues as unknown as { parameter: string; code: string }[];
    expect(issues.map(({ parameter, code }) => [parameter, code])).toEqual([
      ['case_id', 'missing_required_parameter'],
      ['context', 'invalid_parameter'],
      ['language', 'invalid_parameter'],
      ['filing_types', 'invalid_parameter'],
      ['last_checked', 'invalid_timestamp'],
      ['court_code', 'court_not_covered'],
    ]);
    expect(message).toContain('6 errors');
  });

  describe('last_checked', () => {
    it.each([
      ['2024-03-01T02:00:00+02:00', '2024-03-01T00:00:00.000000Z'],
      ['2024-03-01T02:00:00 02:00', '2024-03-01T00:00:00.000000Z'],
      ['2024-03-01T02:00:00 0200', '2024-03-01T00:00:00.000000Z'],
      ['2024-02-29T19:00:00.1234567-05:00', '2024-03-01T00:00:00.123456Z'],
      ['2026-11-27T12:04:59Z', '2026-11-27T12:04:59.000000Z'],
    ])('%s means %s', (sent, at) => {
      expect(read({ last_checked: sent }).lastChecked).toEqual({ sent: sent.replace(' ', '+'), at });
    });

    it.each([
      ['2024-03-01T00:00:00', '2024-03-01T00:00:00Z'],
      ['2024-03-01', '2024-03-01T00:00:00Z'],
      ['2024-03-01 08:00:00', '2024-03-01T08:00:00Z'],
      ['1709251200', '2024-03-01T00:00:00.000000Z'],
      ['1709251200000', '2024-03-01T00:00:00.000000Z'],
      ['2024-02-30T00:00:00Z', '2026-03-01T12:00:00Z'],
      ['', '2026-03-01T12:00:00Z'],
      ['2024-03-01T00:00:00 UTC', '2026-03-01T12:00:00Z'],
    ])('%j is rejected, with %s as example', (sent, example) => {
      expect(fault({ last_checked: sent })).toMatchObject({
        code: 'invalid_timestamp',
        details: { received: sent, example },
        issue: { parameter: 'last_checked', received: sent, example },
      });
    });

    it('may be at most 5 minutes ahead', () => {
      expect(fault({ last_checked: '2026-11-27T12:05:00.000001Z' }).code).toBe('last_checked_in_future');
    });
  });

  it.each([
    ['context', 'huge'],
    ['context', 'FULL'],
    ['context', ''],
    ['language', 'de'],
  ])('%s=%s is rejected', (parameter, received) => {
    expect(fault({ [parameter]: received })).toMatchObject({
      code: 'invalid_parameter',
      issue: { parameter, received },
    });
  });

  it('accept filing types separated by commas, with spaces around them', () => {
    expect(read({ filing_types: 'motion, order,motion,' }).filingTypes).toEqual(['motion', 'order']);
  });

  it.each(['motion,nonsense', '["motion"]', '', ',', 'Motion'])(
    'filing_types=%s is rejected with the allowed values',
    (sent) => {
      const { code, issue } = fault({ filing_types: sent });
      expect(code).toBe('invalid_parameter');
      expect(issue.allowed).toContain('minute_entry');
      expect(issue.rule).toContain('comma-separated');
    },
  );

  it('reject an impossible number of the court, with its pattern, an example and a suggestion', () => {
    const { code, details } = fault({ case_id: 'see 3:24-cv-O1234' });
    expect(code).toBe('invalid_case_id');
    expect(details).toMatchObject({ received: 'see 3:24-cv-O1234', suggestion: '3:24-cv-01234' });
    expect(new RegExp(`^(?:${details.pattern})$`).test(String(details.example))).toBe(true);
  });

  it('repeat only the beginning of a sent value', () => {
    const { code, details } = fault({ case_id: '1'.repeat(1_000) });
    expect(code).toBe('invalid_case_id');
    expect(String(details.received)).toHaveLength(201);
    const emoji = fault({ context: '💩'.repeat(500) });
    expect([...String(emoji.issue.received)]).toHaveLength(201);
    expect(JSON.stringify(emoji.details)).not.toContain('\\ud');
  });

  it('suggest the nearest courts for an unknown code', () => {
    expect(fault({ court_code: 'candd' })).toMatchObject({
      code: 'court_not_covered',
      details: { coverage: 'unknown', suggestions: expect.arrayContaining(['cand']) },
    });
  });

  it('reject a planned court with any number', () => {
    for (const case_id of ['500-09-031234-241', 'x']) {
      expect(fault({ court_code: 'qc_ca', case_id })).toMatchObject({
        code: 'court_not_covered',
        details: { coverage: 'planned' },
      });
    }
  });
});
