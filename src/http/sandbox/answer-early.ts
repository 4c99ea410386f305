/** Answers calls of the sandbox whose fixture lies ready before any route is looked up: they need nothing else. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isProblem } from '../../errors.ts';
import { commonHeaders } from '../common-headers.ts';
import { countHosts } from '../host-header.ts';
import type { PaidRoute, SandboxAnswer } from '../paid/paid-call.ts';
import { readTag, type SentRequest } from '../parameters/request-parameters.ts';
import { newRequestId } from '../send-problem.ts';
import type { EarlyAnswer } from '../server.ts';

/** The body of an answer that is there at once; null where there is none. */
type ReadyAnswer = (request: SentRequest, requestId: string) => string | Buffer | null;

/** Answers that are kept by the request that they answer. A caller that rehearses sends the same few again and again. */
const KEPT_ANSWERS = 1_000;
const MAX_KEPT_URL = 300;

/** What a route answers at once; refusals, and what must be composed first, are left to the route. */
export function readyAnswerOf<Parameters extends object>(route: PaidRoute<Parameters>): ReadyAnswer {
  // What was accepted once always is: the only clock that it is held against runs on.
  const kept = new Map<string, SandboxAnswer>();
  const compose = (request: SentRequest): SandboxAnswer | null => {
    const parameters = route.parse(request);
    if (isProblem(parameters)) return null;
    // A callback is the route's to send.
    if (route.sandboxCallbacks?.(parameters).length) return null;
    const answer = route.sandbox(parameters);
    if (answer === null || typeof answer === 'function') return answer;
    // The route waits for the same fixture, and reports its failure.
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
    // A caller who repeats a request is answered by a copy of bytes; for one that comes once they are not worth making.
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

/** Of an answer that nobody pays for: one from fixtures, or one of a batch in which nothing could be answered. */
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
  // A sandbox call that is written in another way is the route's to recognise.
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
