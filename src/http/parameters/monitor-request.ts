import type { Problem } from '../../errors.ts';
import type { Instant, Micros } from '../../runtime/instant.ts';
import { CASE_QUERY_PARAMETERS, type CaseQueryParameters, checkCaseQuery, missing } from './case-query.ts';
import { faultyOf } from './case-request.ts';
import { PARAMETERS } from './described-parameters.ts';
import { echo, type Issue, refuseFor } from './issues.ts';
import { readRequestParameters, type SentRequest } from './request-parameters.ts';

export interface MonitorRequest extends Pick<CaseQueryParameters, 'caseId' | 'courtCode' | 'court' | 'caseNumber'> {
  readonly lastChecked: Instant;
  /** Whether the sandbox is asked for, which is free. */
  readonly sandbox: boolean;
}

const MONITOR_PARAMETERS = ['case_id', 'court_code', 'last_checked'] as const;

/** Reads `GET /v2/monitor`, where `last_checked` is required (docs/design/interface.md#4.2), with every issue at once. */
export function readMonitorRequest(request: SentRequest, now: Micros): MonitorRequest | Problem {
  const { values, sandbox, issues } = readRequestParameters(request, [...MONITOR_PARAMETERS, 'callback_url']);
  const found = issues.map(withPlaceHint);
  const faulty = faultyOf(issues);
  const blank = (values.get('last_checked') ?? '').trim() === '';
  if (blank && !faulty.has('last_checked')) {
    found.push(missing('last_checked', values.get('last_checked') ?? null, PARAMETERS.last_checked.example));
  }
  const own = without(values, blank ? ['last_checked', 'callback_url'] : ['callback_url']);
  const checked = checkCaseQuery(own, now, faulty);
  const [first, ...others] = [...found, ...callbackIssues(values), ...checked.issues];
  if (first) return refuseFor([first, ...others]);
  const { query } = checked;
  // A query without an issue exists and has a last_checked.
  if (query === null || query.lastChecked === null) throw new Error('a monitor query was rejected without an issue');
  const { caseId, courtCode, court, caseNumber } = query;
  return { caseId, courtCode, court, caseNumber, lastChecked: query.lastChecked.at, sandbox };
}

const ELSEWHERE: ReadonlySet<string> = new Set(
  CASE_QUERY_PARAMETERS.filter((name) => !MONITOR_PARAMETERS.some((own) => own === name)),
);

/** A parameter of the case query is not a typo, even if a parameter here has a similar name. */
const withPlaceHint = (issue: Issue): Issue =>
  ELSEWHERE.has(issue.parameter)
    ? {
        ...issue,
        rule: `GET /v2/monitor has no ${issue.parameter}: it says whether anything is new; GET /v2/case says what.`,
        example: null,
      }
    : issue;

/** The callback would be paid for but never sent, so it is an error. */
function callbackIssues(values: ReadonlyMap<string, string>): Issue[] {
  const received = values.get('callback_url');
  if (received === undefined) return [];
  const rule = 'GET /v2/monitor has no callbacks; use GET /v2/case for one.';
  return [{ parameter: 'callback_url', code: 'invalid_parameter', received: echo(received), rule, example: null }];
}

function without(values: ReadonlyMap<string, string>, names: readonly string[]): ReadonlyMap<string, string> {
  return new Map([...values].filter(([name]) => !names.includes(name)));
}
