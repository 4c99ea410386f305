/**
 * Issues of a request, all reported at once, each with its rule and an example
 * (docs/design/request-checks.md#parameters-before-payment).
 */
import { ERROR_CATALOGUE, type ErrorCode, type Problem, problem } from '../../errors.ts';
import type { JsonObject } from '../../events/event.ts';

export interface Issue {
  readonly parameter: string;
  readonly code: ErrorCode;
  /** The value sent, shortened; null if none was. */
  readonly received: string | null;
  readonly rule: string;
  readonly example: string | null;
  /** Further members, e.g. the court's pattern; also copied into the details if the catalogue lists them. */
  readonly own?: JsonObject;
}

/** Unwraps the outcomes of checks: the value if it is valid; otherwise null, and its issue is added to `issues`. */
export const soundInto =
  (issues: Issue[]) =>
  <Value>(outcome: Value | { readonly issue: Issue }): Value | null => {
    if (typeof outcome === 'object' && outcome !== null && 'issue' in outcome) {
      issues.push(outcome.issue);
      return null;
    }
    return outcome;
  };

/** Longest part of a value that an error repeats. */
const MAX_ECHO = 200;

/** The part of a value that an error repeats, cut between characters. */
export function echo(text: string): string {
  const characters = [...text.slice(0, 2 * MAX_ECHO + 2)];
  return characters.length <= MAX_ECHO ? text : `${characters.slice(0, MAX_ECHO).join('')}…`;
}

const PRECEDENCE = new Map((Object.keys(ERROR_CATALOGUE) as ErrorCode[]).map((code, index) => [code, index]));

/**
 * One error for all issues. Its code and details are those of the first issue in the catalogue's order; `issues` lists
 * every issue.
 * @param as the error code, if it is not the code of an issue
 */
export function refuseFor(issues: readonly [Issue, ...Issue[]], as: ErrorCode | null = null): Problem {
  const ordered = issues.toSorted((a, b) => (PRECEDENCE.get(a.code) ?? 0) - (PRECEDENCE.get(b.code) ?? 0));
  const [first = issues[0]] = ordered;
  const code = as ?? first.code;
  const own =
    code === 'missing_required_parameter'
      ? { parameters: ordered.filter((issue) => issue.code === code).map(({ parameter }) => parameter) }
      : documented(first, code);
  const message =
    issues.length === 1
      ? `${first.parameter}: ${first.rule}`
      : `${ERROR_CATALOGUE[code].message} This request has ${issues.length} errors; details.issues lists all of them.`;
  return problem(code, { ...own, issues: ordered.map(listed) }, message);
}

const documented = ({ own = {} }: Issue, code: ErrorCode): JsonObject =>
  Object.fromEntries(Object.entries(own).filter(([key]) => key in ERROR_CATALOGUE[code].details));

const listed = ({ own, ...issue }: Issue): JsonObject => ({ ...issue, ...own });
