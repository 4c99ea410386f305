/** Converts a tool's arguments to the parameters of its endpoint, by the endpoint's own rules. */
import { type ErrorCode, isProblem, type Problem } from '../../errors.ts';
import type { JsonObject } from '../../events/event.ts';
import type { PaidRoute } from '../paid/paid-call.ts';
import { readRequest } from '../paid/sell.ts';
import { type Issue, refuseFor } from '../parameters/issues.ts';
import type { CallRequest } from '../parameters/request-parameters.ts';
import type { ToolCall } from './tool.ts';

/** The request to the endpoint that a call corresponds to. Arguments without a value are omitted. */
export function requestOf(
  call: Pick<ToolCall, 'headers' | 'sandbox'>,
  values: Readonly<Record<string, string | undefined>>,
): CallRequest {
  const given = Object.entries({ ...values, ...(call.sandbox && { test: '1' }) });
  const tag = call.headers['x-service-tag'];
  return {
    parameters: new Map(
      given.flatMap(([name, text]) => (text === undefined ? [] : [[name, [{ text, wellFormed: true }]]])),
    ),
    headers: tag === undefined ? {} : { 'x-service-tag': tag },
  };
}

/**
 * The endpoint's parameters, or all errors at once: those of the arguments and those that the endpoint finds.
 * @param names parameters that have another name in the tool
 */
export async function readParameters<Parameters extends object>(
  route: PaidRoute<Parameters>,
  request: CallRequest,
  issues: readonly Issue[],
  names: Readonly<Record<string, string>> = {},
): Promise<Parameters | Problem> {
  const parameters = await readRequest(route, request);
  const found = isProblem(parameters) ? issuesOf(parameters).map((issue) => renamed(issue, names)) : [];
  if (issues.length === 0 && found.every(({ parameter }) => !Object.values(names).includes(parameter)))
    return parameters;
  const named = new Set(issues.map(({ parameter }) => parameter));
  const [first, ...others] = [...issues, ...found.filter(({ parameter }) => !named.has(parameter))];
  return first ? refuseFor([first, ...others]) : parameters;
}

const renamed = (issue: Issue, names: Readonly<Record<string, string>>): Issue => ({
  ...issue,
  parameter: names[issue.parameter] ?? issue.parameter,
});

/** The errors that a problem lists. */
function issuesOf({ details }: Problem): Issue[] {
  const listed = Array.isArray(details.issues) ? (details.issues as readonly JsonObject[]) : [];
  return listed.map(({ parameter, code, rule, ...own }) => ({
    parameter: String(parameter),
    code: code as ErrorCode,
    received: typeof own.received === 'string' ? own.received : null,
    rule: String(rule),
    example: typeof own.example === 'string' ? own.example : null,
    own,
  }));
}
