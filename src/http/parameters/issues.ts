/**
 * Faults of a request: all of them at once, each with its rule and an example
 * (docs/design/request-checks.md#parameters-before-payment).
 */
import { ERROR_CATALOGUE, type ErrorCode, type Problem, problem } from '../../errors.ts';
import type { JsonObject } from '../../events/event.ts';

export interface Issue {
  readonly parameter: string;
  readonly code: ErrorCode;
  /** What was sent, bounded; null where nothing was. */
  readonly received: string | null;
  readonly rule: string;
  readonly example: string | null;
  /** What else there is to say, e.g. the court's pattern; in the details too, where the catalogue has it there. */
  readonly own?: JsonObject;
}

/** Longest part of a value that an answer repeats. */
const MAX_ECHO = 200;

/** As much of a value as an answer repeats, never half of a character. */
export function echo(text: string): string {
  const characters = [...text.slice(0, 2 * MAX_ECHO + 2)];
  return characters.length <= MAX_ECHO ? text : `${characters.slice(0, MAX_ECHO).join('')}…`;
}

const PRECEDENCE = new Map((Object.keys(ERROR_CATALOGUE) as ErrorCode[]).map((code, index) => [code, index]));

/**
 * One refusal for all faults. Its code is the first of the catalogue's order, its details those of that code; `issues`
 * lists every fault.
 * @param as the code, where it is not that of a fault
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
      : `${ERROR_CATALOGUE[code].message} This request has ${issues.length} faults; details.issues lists all.`;
  return problem(code, { ...own, issues: ordered.map(listed) }, message);
}

const documented = ({ own = {} }: Issue, code: ErrorCode): JsonObject =>
  Object.fromEntries(Object.entries(own).filter(([key]) => key in ERROR_CATALOGUE[code].details));

const listed = ({ own, ...issue }: Issue): JsonObject => ({ ...issue, ...own });
