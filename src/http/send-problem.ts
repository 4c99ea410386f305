/** Sends every error: the envelope of docs/design/interface.md#7, made from the catalogue in `src/errors.ts`. */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { ERROR_CATALOGUE, type ErrorCode, type Problem, statusOf } from '../errors.ts';
import type { JsonObject } from '../events/event.ts';
import { problemOf } from '../failure-problem.ts';
import { type Clock, type Instant, toInstant } from '../runtime/instant.ts';
import { noteCode } from './request-log.ts';
import { isV1 } from './v1/sunset.ts';

/** What an answer needs to know about the service. */
export interface AnsweringService {
  /** The public URL of the service, without a trailing slash. */
  readonly publicUrl: string;
  readonly clock: Clock;
}

declare module 'fastify' {
  interface FastifyInstance {
    answering: AnsweringService;
  }
  interface FastifyRequest {
    /** UUIDv4: `meta.request_id`, `X-Request-Id`, the id of the command and the name of the result. */
    readonly requestId: string;
  }
}

/**
 * Gives every request its `requestId` and every reply what {@link sendProblem} needs. The instance must have been
 * created with `genReqId: newRequestId`, so that Fastify logs the same id.
 */
export function decorateRequests(app: FastifyInstance, service: AnsweringService): void {
  app.decorate('answering', service);
  app.decorateRequest('requestId', {
    getter() {
      return this.id;
    },
  });
}

/** The caller never supplies the id of a request: it names a paid result, so it must not be chosen or guessed. */
export const newRequestId = (): string => globalThis.crypto.randomUUID();

/** The error object of docs/design/interface.md#2.9. */
export interface ErrorObject {
  readonly code: ErrorCode;
  readonly message: string;
  readonly documentation_url: string;
  readonly details: JsonObject;
}

const documentationUrl = (publicUrl: string, code: ErrorCode): string => `${publicUrl}/docs/errors#${code}`;

/** The error object that REST, batch results and MCP share. */
export function errorObject({ problem: code, message, details }: Problem, publicUrl: string): ErrorObject {
  const entry = ERROR_CATALOGUE[code];
  return {
    code,
    message: message ?? entry.message,
    documentation_url: documentationUrl(publicUrl, code),
    details: { charged: false, hint: entry.hint, ...details },
  };
}

/** A whole error answer: its `meta` has only these two keys (docs/design/interface.md#2.2). */
export interface ErrorEnvelope {
  readonly meta: { readonly request_id: string; readonly queried_at: Instant };
  readonly error: ErrorObject;
}

export function errorEnvelope(refusal: Problem, requestId: string, at: Instant, publicUrl: string): ErrorEnvelope {
  return { meta: { request_id: requestId, queried_at: at }, error: errorObject(refusal, publicUrl) };
}

/**
 * The body of an error answer in the requested version of the API: version 1 has no `meta`
 * (docs/design/interface.md#9.3).
 * @param target of the request
 */
export function errorBody(
  target: string,
  refusal: Problem,
  requestId: string,
  { publicUrl, clock }: AnsweringService,
): ErrorEnvelope | Pick<ErrorEnvelope, 'error'> {
  if (isV1(target)) return { error: errorObject(refusal, publicUrl) };
  return errorEnvelope(refusal, requestId, toInstant(clock.now()), publicUrl);
}

/**
 * Sends an error. Sets the status, `Retry-After` and `Allow` if the details have them, and `no-store`, because an error
 * is about this moment. Headers already set on the reply are kept.
 * @param alongside further members of the body next to `meta` and `error`: the terms of x402 v1 in a 402
 */
export function sendProblem(reply: FastifyReply, refusal: Problem, alongside: JsonObject = {}): FastifyReply {
  const { answering } = reply.server;
  // Not `requestId`, because a request that never reached a route has no decorations.
  const requestId = reply.request.id;
  const { retry_after: retryAfter, allow } = refusal.details;
  if (typeof retryAfter === 'number') reply.header('retry-after', String(Math.max(0, Math.ceil(retryAfter))));
  if (Array.isArray(allow)) reply.header('allow', allow.join(', '));
  noteCode(reply.raw, refusal.problem);
  const envelope = errorBody(reply.request.url, refusal, requestId, answering);
  return reply
    .code(statusOf(refusal.problem))
    .header('x-request-id', requestId)
    .header('cache-control', 'no-store')
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ ...alongside, ...envelope }));
}

/**
 * An unexpected failure. The cause is logged with the request's id; the caller gets only the id, since the text of the
 * cause may contain paths, hosts or queries.
 */
export function sendInternalError(reply: FastifyReply, cause: unknown): FastifyReply {
  reply.request.log.error({ err: cause, requestId: reply.request.id }, 'a request failed');
  return sendProblem(reply, problemOf(cause));
}
