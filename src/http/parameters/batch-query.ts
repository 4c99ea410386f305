/** One query of a batch (docs/design/interface.md#2.5): the parameters of a case query as members of an object. */
import { isProblem, type Problem } from '../../errors.ts';
import type { Micros } from '../../runtime/instant.ts';
import { nearestName } from '../nearest-name.ts';
import {
  CASE_QUERY_PARAMETERS,
  type CaseIds,
  type CaseOptions,
  checkIds,
  checkOptions,
  checkPresence,
  type SuggestCourts,
  suggestCourts,
} from './case-query.ts';
import { PARAMETERS } from './described-parameters.ts';
import { echo, type Issue, refuseFor } from './issues.ts';

const BATCH_QUERY_MEMBERS = [...CASE_QUERY_PARAMETERS, 'callback_url'] as const;
type Member = (typeof BATCH_QUERY_MEMBERS)[number];

export interface BatchQuery extends CaseOptions {
  /** As sent; both are echoed. */
  readonly caseId: string;
  readonly courtCode: string;
  /** The case, or why there is none: then the query gets an error entry, but the batch is valid. */
  readonly named: CaseIds | Problem;
}

export interface ReadQuery {
  /** Null if the query has an error for which the whole batch is rejected. */
  readonly query: BatchQuery | null;
  readonly issues: readonly Issue[];
}

/** Comparing a code with every court takes milliseconds, so a batch of typos must not do it fifty times. */
const MAX_SUGGESTED_FOR = 5;
/** Most unknown members of one query that are listed. */
const MAX_UNKNOWN_LISTED = 5;

/** Suggests courts only for the first few unknown codes. */
export function suggestForFew(): SuggestCourts {
  const known = new Map<string, readonly string[]>();
  return (sent) => {
    const code = sent.trim().toLowerCase();
    const suggestions = known.get(code) ?? (known.size < MAX_SUGGESTED_FOR ? suggestCourts(sent) : []);
    if (known.size < MAX_SUGGESTED_FOR) known.set(code, suggestions);
    return suggestions;
  };
}

/** @param path of the query in the body, used in its error messages */
export function readBatchQuery(sent: unknown, path: string, now: Micros, suggest: SuggestCourts): ReadQuery {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) {
    const rule = 'An object with case_id and court_code.';
    const example = '{"case_id": "3:24-cv-01234", "court_code": "cand"}';
    return { query: null, issues: [fault(path, { received: typed(sent), rule, example })] };
  }
  const { values, issues: malformed } = readMembers(sent);
  const faulty = new Set(malformed.map(({ parameter }) => parameter));
  const { caseId, courtCode, issues: missing } = checkPresence(values, faulty);
  const { options, issues: optionIssues } = checkOptions(values, now);
  const issues = [...malformed, ...missing, ...optionIssues];
  if (issues.length || caseId === null || courtCode === null || options === null) {
    return { query: null, issues: issues.map((issue) => ({ ...issue, parameter: `${path}.${issue.parameter}` })) };
  }
  return { query: { ...options, caseId, courtCode, named: identified(caseId, courtCode, suggest) }, issues: [] };
}

function identified(caseId: string, courtCode: string, suggest: SuggestCourts): CaseIds | Problem {
  const { ids, issues } = checkIds(caseId, courtCode, suggest);
  if (ids !== null) return ids;
  const [first, ...others] = issues;
  // A missing query always comes with an issue.
  if (!first) throw new Error('a query of a batch was rejected without an issue');
  return refuseFor([first, ...others]);
}

/** Whether the query cannot be answered, regardless of which cases are known. */
export const cannotBe = ({ named }: BatchQuery): boolean => isProblem(named);

function readMembers(sent: object): { readonly values: ReadonlyMap<string, string>; readonly issues: Issue[] } {
  const values = new Map<string, string>();
  const issues: Issue[] = [];
  const unknown: string[] = [];
  for (const [name, value] of Object.entries(sent)) {
    if (!isMember(name)) {
      unknown.push(name);
    } else if (typeof value === 'string') {
      const rule = faultOfText(value);
      if (rule === null) values.set(name, value);
      else issues.push(fault(name, { received: echo(value), rule, example: PARAMETERS[name].example }));
    } else if (value !== null) {
      // Null counts as no value, as in every answer of the service.
      issues.push(wrongType(name, value));
    }
  }
  for (const name of unknown.slice(0, MAX_UNKNOWN_LISTED)) {
    const suggestion = nearestName(name, BATCH_QUERY_MEMBERS);
    const meant = suggestion === null ? `Use one of ${BATCH_QUERY_MEMBERS.join(', ')}.` : `Did you mean ${suggestion}?`;
    issues.push(fault(echo(name), { received: null, rule: `Unknown member. ${meant}`, example: suggestion }));
  }
  if (unknown.length > MAX_UNKNOWN_LISTED) {
    const rule = `${unknown.length - MAX_UNKNOWN_LISTED} more unknown members are not listed.`;
    issues.push(fault('…', { received: null, rule, example: null }));
  }
  return { values, issues };
}

const isMember = (name: string): name is Member => BATCH_QUERY_MEMBERS.some((member) => member === name);

function faultOfText(text: string): string | null {
  if (/\p{Cc}/u.test(text)) return 'No control characters.';
  return /\p{Cs}/u.test(text) ? 'No unpaired surrogates.' : null;
}

function wrongType(name: Member, value: unknown): Issue {
  const isList = name === 'filing_types' && Array.isArray(value);
  const rule = isList ? 'One string of types separated by commas, not a JSON array.' : 'A string.';
  const types = isList ? value.filter((type) => typeof type === 'string').join(',') : '';
  return fault(name, { received: typed(value), rule, example: types ? echo(types) : PARAMETERS[name].example });
}

/** Describes a value that is not a string. */
function typed(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return value === null ? 'null' : 'an object';
  return echo(String(value));
}

const fault = (parameter: string, rest: Pick<Issue, 'received' | 'rule' | 'example'>): Issue => ({
  parameter,
  code: 'invalid_parameter',
  ...rest,
});
