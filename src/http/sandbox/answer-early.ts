/** Answers sandbox calls before routing if their fixture is ready: they need nothing else. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isProblem } from '../../errors.ts';
import { commonHeaders } from '../common-headers.ts';
import { countHosts } from '../host-header.ts';
import type { PaidRoute, SandboxAnswer } from '../paid/paid-call.ts';
import { readTag, type TargetedRequest } from '../parameters/request-parameters.ts';
import { newRequestId } from '../send-problem.ts';
import type { EarlyAnswer } from '../server.ts';

/** The body of an answer that is ready; null if there is none. */
type ReadyAnswer = (request: TargetedRequest, requestId: string) => string | Buffer | null;

/** Number of answers kept by request: callers that test send the same few again and again. */
const KEPT_ANSWERS = 1_000;
const MAX_KEPT_URL = 300;

/** What a route can answer at once. Errors, and answers that must be composed first, are left to the route. */
export function readyAnswerOf<Parameters extends object>(route: PaidRoute<Parameters>): ReadyAnswer {
  // A request that was valid once stays valid: its times are compared only with a clock that moves forward.
  const kept = new Map<string, SandboxAnswer>();
  const compose = (request: TargetedRequest): SandboxAnswer | null => {
    const parameters = route.parse(request);
    if (isProblem(parameters)) return null;
    // The route sends callbacks.
    if (route.sandboxCallbacks?.(parameters).length) return null;
    const answer = route.sandbox(parameters);
    if (answer === null || typeof answer === 'function') return answer;
    // The route waits for the same fixture and reports its failure.
    answer.catch(() => {});
    return null;
  };
  return (request, requestId) => {
    const { url, headers } = request;
    const byUrlAlone =
      url.length <= MAX_KEPT_URL && headers['x-service-test'] === undefined && headers['x-service-tag'] === undefined;
    const known = byUrlAlone ? kept.get(url) : undefined;
    const answer = known ?? compose(request);
    if (answer === null) return null;
    if (byUrlAlone && known === undefined) {
      if (kept.size >= KEPT_ANSWERS) kept.clear();
      kept.set(url, answer);
    }
    // Repeated requests are answered with a copy of ready bytes, which a single request would not be worth.
    const bytes = known?.untagged?.(requestId) ?? null;
    return bytes ?? answer({ requestId, tag: readTag(request) });
  };
}

/** @param answers by path */
export function answerSandboxEarly(publicUrl: string, answers: ReadonlyMap<string, ReadyAnswer>): EarlyAnswer {
  const headers = Object.entries({ ...commonHeaders('everybody', publicUrl), ...UNPAID_ANSWER_HEADERS }).flat();
  return (request, response) => {
    const answer = readyAnswer(request, answers);
    if (answer === null) return false;
    send(response, headers, answer.requestId, answer.body);
    return true;
  };
}

/** For answers without a payment: from fixtures, or of a batch in which every query failed. */
export const UNPAID_ANSWER_HEADERS = {
  'cache-control': 'no-store',
  'content-type': 'application/json; charset=utf-8',
} as const;

function readyAnswer(
  request: IncomingMessage,
  answers: ReadonlyMap<string, ReadyAnswer>,
): { readonly body: string | Buffer; readonly requestId: string } | null {
  const { method, url = '', headers } = request;
  if (method !== 'GET') return null;
  const mark = url.indexOf('?');
  const answer = mark === -1 ? undefined : answers.get(url.slice(0, mark));
  if (answer === undefined) return null;
  // Sandbox calls in any other form are left to the route.
  if (headers['x-service-test'] === undefined && !url.includes('test=1', mark)) return null;
  if (countHosts(request) !== 1) return null;
  const requestId = newRequestId();
  const body = answer({ url, headers }, requestId);
  return body === null ? null : { body, requestId };
}

function send(response: ServerResponse, headers: readonly string[], requestId: string, body: string | Buffer): void {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  response.writeHead(200, [...headers, 'x-request-id', requestId, 'content-length', String(bytes.length)]);
  response.end(bytes);
}
