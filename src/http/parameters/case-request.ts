import type { Problem } from '../../errors.ts';
import type { Micros } from '../../runtime/instant.ts';
import { CASE_QUERY_PARAMETERS, type CaseQueryParameters, checkCaseQuery } from './case-query.ts';
import { type Issue, refuseFor } from './issues.ts';
import { readRequestParameters, type SentRequest } from './request-parameters.ts';

export interface CaseRequest extends CaseQueryParameters {
  /** Whether the sandbox is asked for, which is free. */
  readonly sandbox: boolean;
}

/**
 * Reads `GET /v2/case`: steps 2 and 3 of the order of checks. Every issue is listed at once before payment is requested,
 * also in the sandbox.
 */
export function readCaseRequest(request: SentRequest, now: Micros): CaseRequest | Problem {
  const { values, sandbox, issues } = readRequestParameters(request, [...CASE_QUERY_PARAMETERS, 'callback_url']);
  const checked = checkCaseQuery(values, now, faultyOf(issues));
  const [first, ...others] = [...issues, ...checked.issues];
  if (first) return refuseFor([first, ...others]);
  // A missing query always comes with an issue.
  if (checked.query === null) throw new Error('a case query was rejected without an issue');
  return { ...checked.query, sandbox };
}

/** Names that already have an issue. */
export const faultyOf = (issues: readonly Issue[]): ReadonlySet<string> =>
  new Set(issues.map(({ parameter }) => parameter));
