/** What every error of the public port has in common. */
import { expect } from 'vitest';
import { ERROR_CATALOGUE, type ErrorCode } from '../../src/errors.ts';
import type { RawAnswer } from './raw-request.ts';

/** Only this docket contains it, and no address, parameter or message: an answer that shows it leaked data. */
export const SECRET = 'Quillfeather';
export const SECRET_CASE_ID = '4:25-cv-00822';

export const SECRET_DOCKET = {
  court_id: 'cand',
  docket_number: SECRET_CASE_ID,
  case_name: `${SECRET} v. Harbour Lights`,
  date_filed: '2025-02-03',
  docket_entries: [{ document_number: 1, date_filed: '2025-02-03', description: `COMPLAINT filed by ${SECRET}.` }],
};

/**
 * Rejected with a code of the catalogue, in the envelope of the requested version, with nothing charged and nothing
 * revealed.
 */
export function isRefused({ status, json, text, headers }: RawAnswer, { v1 = false, bodiless = false } = {}) {
  expect(text).not.toContain(SECRET);
  expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('access-control-allow-origin')).toBe('*');
  expect(status).toBeGreaterThanOrEqual(400);
  expect(status).toBeLessThan(500);
  if (bodiless) return expect(text).toBe('');
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  const { code, details } = json.error;
  expect(ERROR_CATALOGUE[code as ErrorCode]?.status).toBe(status);
  expect(details.charged).toBe(false);
  expect(Object.keys(json.meta ?? {})).toEqual(v1 ? [] : ['request_id', 'queried_at']);
  return code;
}
