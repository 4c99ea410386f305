/**
 * The parameters of version 1: no sandbox, and lists as repeated parameters or JSON arrays
 * (docs/design/interface.md#v1).
 */
import { FILING_TYPES, FilingType } from '../../dockets/filing-type.ts';
import type { Problem } from '../../errors.ts';
import type { Instant, Micros } from '../../runtime/instant.ts';
import { type CaseQueryParameters, checkCaseQuery } from '../parameters/case-query.ts';
import { faultyOf } from '../parameters/case-request.ts';
import { echo, type Issue, refuseFor } from '../parameters/issues.ts';
import type { Query, QueryValue } from '../parameters/query-string.ts';
import {
  hasSandboxHeader,
  queryOf,
  readRequestParameters,
  type SentRequest,
} from '../parameters/request-parameters.ts';

export interface V1CaseRequest extends Pick<CaseQueryParameters, 'caseId' | 'courtCode' | 'court' | 'caseNumber'> {
  readonly lastChecked: Instant | null;
  /** Null: all. */
  readonly filingTypes: readonly FilingType[] | null;
}

const SHARED = ['case_id', 'court_code', 'last_checked'] as const;
/** Two names of one list: version 1 accepts both. */
const LISTS = ['filing_types', 'document_types'] as const;
const NEW_IN_V2: readonly string[] = ['context', 'language', 'callback_url'];
const LIST_RULE = 'A JSON array of types listed in allowed, or the parameter repeated for each type.';
const LIST_EXAMPLE = '["motion","order"]';

/** Reads `GET /v1/case`: lists every issue at once, before payment is requested. */
export function readV1CaseRequest(request: SentRequest, now: Micros): V1CaseRequest | Problem {
  return read(request, now, LISTS);
}

/** Reads `GET /v1/monitor`, where `last_checked` is optional. */
export function readV1MonitorRequest(request: SentRequest, now: Micros): V1CaseRequest | Problem {
  return read(request, now, []);
}

function read(
  request: SentRequest,
  now: Micros,
  listNames: readonly (typeof LISTS)[number][],
): V1CaseRequest | Problem {
  const { values, issues } = readRequestParameters(request, SHARED, { repeatable: listNames, sandbox: false });
  const found = issues.map(withPlaceHint);
  if (hasSandboxHeader(request)) found.push(noSandbox('X-Service-Test', '1'));
  const faulty = faultyOf(issues);
  const checked = checkCaseQuery(values, now, faulty);
  const lists = readLists(
    queryOf(request),
    listNames.filter((name) => !faulty.has(name)),
  );
  const [first, ...others] = [...found, ...checked.issues, ...lists.issues];
  if (first) return refuseFor([first, ...others]);
  // A missing query always comes with an issue.
  if (checked.query === null) throw new Error('a query of version 1 was rejected without an issue');
  const { caseId, courtCode, court, caseNumber, lastChecked } = checked.query;
  return { caseId, courtCode, court, caseNumber, lastChecked: lastChecked?.at ?? null, filingTypes: lists.types };
}

/** A caller who wants the sandbox must not be asked to pay. */
const noSandbox = (parameter: string, received: string | null): Issue => ({
  parameter,
  code: 'invalid_parameter',
  received,
  rule: 'Version 1 has no sandbox, so this call would be charged. Test for free with GET /v2/case?test=1.',
  example: null,
});

/** A parameter of version 2 is not a typo, even if a parameter here has a similar name. */
function withPlaceHint(issue: Issue): Issue {
  if (issue.parameter === 'test') return noSandbox('test', issue.received);
  if (!NEW_IN_V2.includes(issue.parameter)) return issue;
  return { ...issue, rule: `Version 1 has no ${issue.parameter}; GET /v2/case has.`, example: null };
}

function readLists(
  query: Query,
  names: readonly string[],
): { readonly types: readonly FilingType[] | null; readonly issues: readonly Issue[] } {
  const issues: Issue[] = [];
  const types = new Set<FilingType>();
  for (const name of names) {
    const sent = query.get(name);
    if (!sent) continue;
    const named = sent.flatMap(namesIn);
    const unknown: string[] = [];
    for (const each of named) {
      const { data } = FilingType.safeParse(each);
      if (data === undefined) unknown.push(each);
      else types.add(data);
    }
    if (named.length > 0 && unknown.length === 0) continue;
    issues.push({
      parameter: name,
      code: 'invalid_parameter',
      received: echo(sent.map(({ text }) => text).join('&')),
      rule: LIST_RULE,
      example: LIST_EXAMPLE,
      own: { unknown: unknown.map(echo).slice(0, 20), allowed: [...FILING_TYPES] },
    });
  }
  return { types: types.size === 0 ? null : [...types], issues };
}

/** The names in one value: its JSON array, or else the value itself. */
function namesIn({ text }: QueryValue): readonly string[] {
  const trimmed = text.trim();
  if (!trimmed.startsWith('[')) return trimmed === '' ? [] : [trimmed];
  try {
    const list: unknown = JSON.parse(trimmed);
    return Array.isArray(list)
      ? list.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)))
      : [trimmed];
  } catch {
    return [trimmed];
  }
}
