import type { FastifyRequest } from 'fastify';
import type { Problem } from '../../errors.ts';
import type { Micros } from '../../instant.ts';
import { CASE_QUERY_PARAMETERS, type CaseQueryParameters, checkCaseQuery } from './case-query.ts';
import { echo, type Issue, refuseFor } from './issues.ts';
import { readRequestParameters, sandboxMissing } from './request-parameters.ts';

/**
 * Reads `GET /v2/case`: steps 2 and 3 of the order of checks. Every fault is listed at once, before any payment is
 * asked for, and a request for the sandbox is never asked to pay.
 */
export function readCaseRequest(request: FastifyRequest, now: Micros): CaseQueryParameters | Problem {
  const { values, sandbox, issues } = readRequestParameters(request, [...CASE_QUERY_PARAMETERS, 'callback_url']);
  const faulty = new Set(issues.map(({ parameter }) => parameter));
  const checked = checkCaseQuery(values, now, faulty);
  const [first, ...others] = [...issues, ...callbackIssues(values), ...checked.issues];
  if (first) return refuseFor([first, ...others]);
  // Without an issue there is a query, or else nothing says why.
  if (checked.query === null) throw new Error('a case query was refused without an issue');
  return sandbox ? sandboxMissing() : checked.query;
}

/** A callback that is never delivered would be a promise broken, and paid for. */
function callbackIssues(values: ReadonlyMap<string, string>): Issue[] {
  const received = values.get('callback_url');
  if (received === undefined) return [];
  return [
    {
      parameter: 'callback_url',
      code: 'invalid_parameter',
      received: echo(received),
      rule: 'This release delivers no callbacks; leave callback_url out.',
      example: null,
    },
  ];
}
