/** The parameters of a query on one case (docs/design/interface.md#2.1), for every transport. */
import { parseCaseNumber } from '../../courts/case-number.ts';
import type { CaseNumber, Court } from '../../courts/court.ts';
import { numberInWords } from '../../courts/number-in-words.ts';
import { findCourt, isLive, nearestCourts } from '../../courts/registry.ts';
import { ANY_CASE_NUMBER } from '../../courts/status-courts.ts';
import { suggestCaseNumber } from '../../courts/suggest-case-number.ts';
import { FILING_TYPES, type FilingType } from '../../dockets/filing-type.ts';
import type { Instant, Micros } from '../../runtime/instant.ts';
import { MAX_CALLBACK_URL_LENGTH, PARAMETERS } from './described-parameters.ts';
import { echo, type Issue, soundInto } from './issues.ts';
import { checkTimestamp, meantTimestamp } from './timestamps.ts';

export const CASE_QUERY_PARAMETERS = [
  'case_id',
  'court_code',
  'last_checked',
  'context',
  'language',
  'filing_types',
] as const;

/** The case that is queried. */
export interface CaseIds {
  /** As sent; both are echoed. */
  readonly caseId: string;
  readonly courtCode: string;
  readonly court: Court;
  readonly caseNumber: CaseNumber;
}

/** What to return about the case. */
export interface CaseOptions {
  /** The text as sent, for `delta.since`, and the time that it means. */
  readonly lastChecked: { readonly sent: string; readonly at: Instant } | null;
  readonly context: 'basic' | 'full';
  /** Null: the case's own language. */
  readonly language: 'en' | 'fr' | null;
  /** Null: all. */
  readonly filingTypes: readonly FilingType[] | null;
  /**
   * Where the answer is also sent. It is not checked before the answer is paid for (docs/design/interface.md#4.1).
   */
  readonly callbackUrl: string | null;
}

export interface CaseQueryParameters extends CaseIds, CaseOptions {}

export type CheckedCaseQuery =
  | { readonly query: CaseQueryParameters; readonly issues: readonly [] }
  | { readonly query: null; readonly issues: readonly Issue[] };

/** How many courts an error suggests. */
const SUGGESTED_COURTS = 5;

/**
 * Checks every parameter and lists every issue.
 * @param faulty names that already have an issue: they are not checked again and do not count as missing
 */
export function checkCaseQuery(
  values: ReadonlyMap<string, string>,
  now: Micros,
  faulty: ReadonlySet<string> = new Set(),
): CheckedCaseQuery {
  const named = checkPresence(values, faulty);
  const ids = checkIds(named.caseId, named.courtCode);
  const { options, issues: optionIssues } = checkOptions(values, now);
  const issues = [...named.issues, ...ids.issues, ...optionIssues];
  if (issues.length || ids.ids === null || options === null) return { query: null, issues };
  return { query: { ...ids.ids, ...options }, issues: [] };
}

export interface NamedCase {
  /** Null if missing or invalid. */
  readonly caseId: string | null;
  readonly courtCode: string | null;
  readonly issues: readonly Issue[];
}

/** Checks that a case is named. @param faulty names that already have an issue */
export function checkPresence(values: ReadonlyMap<string, string>, faulty: ReadonlySet<string>): NamedCase {
  const issues: Issue[] = [];
  const required = (name: 'case_id' | 'court_code'): string | null => {
    const value = values.get(name) ?? '';
    if (value.trim() !== '') return value;
    if (!faulty.has(name)) {
      issues.push(missing(name, values.has(name) ? value : null, PARAMETERS[name].example));
    }
    return null;
  };
  return { caseId: required('case_id'), courtCode: required('court_code'), issues };
}

/** Codes of courts that a caller may have meant by an unknown code. */
export type SuggestCourts = (sent: string) => readonly string[];

export const suggestCourts: SuggestCourts = (sent) => nearestCourts(sent, SUGGESTED_COURTS).map(({ code }) => code);

/** Whether the court is covered and can have such a case; null if no case is named. */
export function checkIds(
  caseId: string | null,
  courtCode: string | null,
  suggest: SuggestCourts = suggestCourts,
): { readonly ids: CaseIds | null; readonly issues: readonly Issue[] } {
  const court = courtCode === null ? null : checkCourt(courtCode, suggest);
  if (court === null || courtCode === null) return { ids: null, issues: [] };
  if ('issue' in court) return { ids: null, issues: [court.issue] };
  if (caseId === null) return { ids: null, issues: [] };
  const caseNumber = checkCaseNumber(court, caseId);
  if ('issue' in caseNumber) return { ids: null, issues: [caseNumber.issue] };
  return { ids: { caseId, courtCode, court, caseNumber }, issues: [] };
}

/** Checks every parameter that does not name the case. */
export function checkOptions(
  values: ReadonlyMap<string, string>,
  now: Micros,
): { readonly options: CaseOptions | null; readonly issues: readonly Issue[] } {
  const issues: Issue[] = [];
  const sound = soundInto(issues);
  const sentLastChecked = values.get('last_checked');
  const lastChecked = sentLastChecked === undefined ? null : sound(checkLastChecked(sentLastChecked, now));
  const context = sound(checkChoice('context', values.get('context'), PARAMETERS.context.schema.unwrap().options));
  const language = sound(checkChoice('language', values.get('language'), PARAMETERS.language.schema.options));
  const filingTypes = sound(checkFilingTypes(values.get('filing_types')));
  const callbackUrl = sound(checkCallbackUrl(values.get('callback_url')));
  if (issues.length) return { options: null, issues };
  return { options: { lastChecked, context: context ?? 'basic', language, filingTypes, callbackUrl }, issues: [] };
}

/** The issue of a missing required parameter. */
export const missing = (parameter: string, received: string | null, example: string): Issue => ({
  parameter,
  code: 'missing_required_parameter',
  received,
  rule: 'This parameter is required.',
  example,
});

/** Finds a court that can be queried. */
function checkCourt(sent: string, suggest: SuggestCourts): Court | { readonly issue: Issue } {
  const court = findCourt(sent);
  if (court && isLive(court)) return court;
  const suggestions = suggest(sent);
  const rule = court
    ? `${court.name} is planned but cannot be queried yet.`
    : 'Unknown court code; GET /v2/status lists all courts.';
  const coverage = court ? 'planned' : 'unknown';
  return {
    issue: {
      parameter: 'court_code',
      code: 'court_not_covered',
      received: echo(sent),
      rule,
      example: suggestions[0] ?? PARAMETERS.court_code.example,
      own: { received: echo(sent), coverage, suggestions },
    },
  };
}

function checkCaseNumber(court: Court, sent: string): CaseNumber | { readonly issue: Issue } {
  const number = parseCaseNumber(court, sent);
  if (number) return number;
  const suggestion = suggestCaseNumber(court, sent);
  const pattern = court.pattern ?? ANY_CASE_NUMBER;
  return {
    issue: {
      parameter: 'case_id',
      code: 'invalid_case_id',
      received: echo(sent),
      rule: `${court.name} uses case numbers ${court.example ? `like ${court.example}: ${numberInWords(court)}` : `by the pattern ${pattern}`}.`,
      example: court.example,
      own: { received: echo(sent), pattern, example: court.example, ...(suggestion === null ? {} : { suggestion }) },
    },
  };
}

function checkLastChecked(sent: string, now: Micros): CaseQueryParameters['lastChecked'] | { readonly issue: Issue } {
  const checked = checkTimestamp('last_checked', sent, now);
  return typeof checked === 'string' ? { sent: meantTimestamp(sent), at: checked } : { issue: checked };
}

/** One of a few choices, or none. */
export function checkChoice<const Choice extends string>(
  parameter: string,
  sent: string | undefined,
  choices: readonly Choice[],
): Choice | null | { readonly issue: Issue } {
  if (sent === undefined) return null;
  const chosen = choices.find((choice) => choice === sent);
  if (chosen !== undefined) return chosen;
  const rule = `One of ${choices.join(', ')}.`;
  return { issue: { parameter, code: 'invalid_parameter', received: echo(sent), rule, example: choices[0] ?? null } };
}

const FILING_TYPE_OF: ReadonlyMap<string, FilingType> = new Map(FILING_TYPES.map((type) => [type, type]));
/** Most unknown types that are repeated. */
const MAX_UNKNOWN_TYPES = 20;

function checkFilingTypes(sent: string | undefined): readonly FilingType[] | null | { readonly issue: Issue } {
  if (sent === undefined) return null;
  const names = [...new Set(sent.split(',').map((name) => name.trim()))].filter((name) => name !== '');
  const types = names.flatMap((name) => FILING_TYPE_OF.get(name) ?? []);
  if (names.length > 0 && types.length === names.length) return types;
  const unknown = names.filter((name) => !FILING_TYPE_OF.has(name)).slice(0, MAX_UNKNOWN_TYPES);
  return {
    issue: {
      parameter: 'filing_types',
      code: 'invalid_parameter',
      received: echo(sent),
      rule: 'A comma-separated list (not a JSON array) of the types in allowed.',
      example: PARAMETERS.filing_types.example,
      own: { unknown: unknown.map(echo), allowed: [...FILING_TYPES] },
    },
  };
}

/**
 * Any text except an empty one; the URL is first used when the answer is sent (docs/design/interface.md#2.1).
 */
function checkCallbackUrl(sent: string | undefined): string | null | { readonly issue: Issue } {
  if (sent === undefined) return null;
  const fault = (rule: string) => ({
    issue: {
      parameter: 'callback_url',
      code: 'invalid_parameter' as const,
      received: echo(sent),
      rule,
      example: PARAMETERS.callback_url.example,
    },
  });
  if (sent.trim() === '') return fault('A URL. Omit the parameter if you want no callback.');
  // A character has at most two code units, so a longer text need not be counted.
  const tooLong = sent.length > 2 * MAX_CALLBACK_URL_LENGTH || [...sent].length > MAX_CALLBACK_URL_LENGTH;
  return tooLong ? fault(`At most ${MAX_CALLBACK_URL_LENGTH} characters.`) : sent;
}
