/**
 * `POST /v2/mcp` over HTTP (docs/design/interface.md#4.8; docs/design/mcp.md#transport): stateless, one message per
 * request, JSON answers. Reads and writes the connection directly, because a framework would cost more than the free
 * tools do.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { type Problem, problem, statusOf } from '../../errors.ts';
import type { Json } from '../../events/event.ts';
import { toInstant } from '../../runtime/instant.ts';
import { within } from '../../tracing/span.ts';
import type { Tracer } from '../../tracing/tracer.ts';
import type { ClientAddresses } from '../client-address.ts';
import { commonHeaders } from '../common-headers.ts';
import { resultPath } from '../paid/paid-result.ts';
import { readQuery } from '../parameters/query-string.ts';
import { hasSandboxHeader } from '../parameters/request-parameters.ts';
import { isPaying, notePurchase } from '../request-log.ts';
import { pathOf } from '../route-table.ts';
import { type AnsweringService, type ErrorEnvelope, errorEnvelope, newRequestId } from '../send-problem.ts';
import { type EarlyAnswer, MAX_BODY_BYTES } from '../server.ts';
import { beginRequest } from '../traced-requests.ts';
import type { Answer } from './answer.ts';
import { readBody } from './body.ts';
import type { Dispatch, Outcome, Surroundings } from './dispatch.ts';
import {
  AFTER_RESULT,
  beforeResult,
  failure,
  failureText,
  type Incoming,
  RPC,
  type RpcFailure,
  type RpcId,
  readMessage,
} from './json-rpc.ts';
import { rememberingRequests } from './known-messages.ts';
import { answerBatch } from './message-batch.ts';
import { isAllowedOrigin, type OriginRules } from './origins.ts';
import { refuseNotification, takesBatches } from './revisions.ts';

export const MCP_PATH = '/v2/mcp';
const PATHS: ReadonlySet<string> = new Set([MCP_PATH, `${MCP_PATH}/`]);

export interface EndpointDependencies {
  readonly service: AnsweringService;
  readonly logger: Pick<Logger, 'error'>;
  readonly origins: OriginRules;
  readonly clientAddresses: ClientAddresses;
  readonly dispatch: Dispatch;
  /** If left out, nothing is traced. */
  readonly tracer?: Tracer | undefined;
}

export interface McpEndpoint {
  /** Handles this endpoint's requests before routing, except preflights, which the service answers for all paths. */
  readonly answerEarly: EarlyAnswer;
  /** Adds the routes, for requests that were not answered early. */
  register(app: FastifyInstance): void;
}

export function mcpEndpoint({
  service,
  logger,
  origins,
  clientAddresses,
  dispatch,
  tracer,
}: EndpointDependencies): McpEndpoint {
  const common = { ...commonHeaders('everybody', service.publicUrl), 'cache-control': 'no-store' };
  const forPages = Object.entries(common).flat();
  const forPrograms = Object.entries(common)
    .filter(([name]) => PROGRAMS_READ.has(name))
    .flat();
  const read = rememberingRequests(readMessage);
  let draining = false;

  const envelope = (refused: Problem, requestId: string): ErrorEnvelope =>
    errorEnvelope(refused, requestId, toInstant(service.clock.now()), service.publicUrl);

  /** Why to reject a request before its body is read. */
  const refusedUnread = ({ method, headers }: IncomingMessage, requestId: string): Answer | null => {
    if (method !== 'POST') {
      const body = envelope(problem('method_not_allowed', { allow: ['POST'] }), requestId);
      return { status: 405, body: JSON.stringify(body), allow: 'POST' };
    }
    if (!isAllowedOrigin(headers.origin, origins)) {
      return refused(null, failure(RPC.invalidRequest, FOREIGN_ORIGIN, 403));
    }
    return isJson(headers['content-type']) ? null : refusedTransport(problem('unsupported_media_type'), requestId);
  };

  /** A JSON-RPC error with REST's error in its data. */
  const refusedTransport = (refusal: Problem, requestId: string): Answer => {
    const body = envelope(refusal, requestId);
    const status = statusOf(refusal.problem);
    return refused(null, failure(RPC.invalidRequest, body.error.message, status, body as unknown as Json));
  };

  const answerTo = (body: Buffer, around: Surroundings): Answer | Promise<Answer> => {
    const message = read(body);
    if (message.kind !== 'batch') return answerMessage(message, around);
    if (!takesBatches(around.headers)) return refused(null, failure(RPC.invalidRequest, NO_BATCHES, 400));
    return answerBatch(
      message.messages,
      (each) => answerMessage(each, { ...around, requestId: newRequestId() }),
      (cause) => logger.error({ err: cause, requestId: around.requestId }, 'an MCP request failed'),
    );
  };

  const answerMessage = (message: Incoming, around: Surroundings): Answer | Promise<Answer> => {
    switch (message.kind) {
      case 'broken':
        return refused(message.id, message.failure);
      case 'response':
        return { status: 202, body: null };
      case 'notification': {
        const unknown = refuseNotification(around.headers);
        if (unknown) return refused(null, unknown);
        return { status: message.method === 'notifications/initialized' ? 204 : 202, body: null };
      }
      case 'request': {
        const outcome = dispatch(message, around);
        const { id } = message;
        return outcome instanceof Promise ? outcome.then((each) => answered(id, each)) : answered(id, outcome);
      }
    }
  };

  const send = (
    response: ServerResponse,
    requestId: string,
    { status, body, result, ending = AFTER_RESULT, allow }: Answer,
  ): void => {
    if (response.destroyed || response.headersSent) return;
    const own = ['x-request-id', requestId];
    const length = body === null ? 0 : Buffer.byteLength(body);
    if (body !== null) own.push('content-type', 'application/json; charset=utf-8');
    if (status !== 204) own.push('content-length', String(result ? length + result.length + ending.length : length));
    if (allow !== undefined) own.push('allow', allow);
    // With several answers no single address represents the response; each answer contains its own.
    const [location, another] = results.get(response) ?? [];
    if (location !== undefined && another === undefined) own.push('content-location', location);
    // Browsers send the page's origin with every POST. Headers that only browsers use are sent only to them.
    const shared = response.req.headers.origin === undefined ? forPrograms : forPages;
    response.writeHead(status, shared.concat(own));
    if (!result) {
      response.end(body ?? undefined);
      return;
    }
    response.write(body);
    response.write(result);
    response.end(ending);
  };

  /** Never throws. */
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const requestId = newRequestId();
    const startedAt = performance.now();
    const fail = (cause: unknown): void => {
      logger.error({ err: cause, requestId }, 'an MCP request failed');
      const what = `Something went wrong here; nothing was charged. Report ${requestId} if it stays.`;
      send(response, requestId, refused(null, failure(RPC.internalError, what, 200)));
    };
    const unread = refusedUnread(request, requestId);
    if (unread) {
      send(response, requestId, unread);
      return;
    }
    const known = { route: MCP_PATH, requestId };
    const span = tracer?.isOn ? beginRequest(tracer, request, response, known) : undefined;
    readBody(request, MAX_BODY_BYTES, (body) => (span ? within(span, () => answer(body)) : answer(body)));

    function answer(body: Buffer | null): void {
      try {
        const answer = body
          ? answerTo(body, {
              ...surroundingsOf(request, response, requestId, startedAt),
              address: clientAddresses.of(request),
            })
          : refusedTransport(problem('payload_too_large', { limit: MAX_BODY_BYTES }), requestId);
        if (answer instanceof Promise) answer.then((each) => send(response, requestId, each)).catch(fail);
        else send(response, requestId, answer);
      } catch (error) {
        fail(error);
      }
    }
  };

  return {
    answerEarly(request, response) {
      const { method, url = '', headers } = request;
      // Left to the routes, which reject a request without a host, or during a stop, for all paths.
      if (draining || method === 'OPTIONS' || headers.host === undefined) return false;
      if (!PATHS.has(url) && !PATHS.has(pathOf(url))) return false;
      handle(request, response);
      return true;
    },
    register(app) {
      app.addHook('preClose', (done) => {
        draining = true;
        done();
      });
      for (const url of PATHS) {
        // In this hook and not in the handler, because here the body is still unread.
        const onRequest = (request: FastifyRequest, reply: FastifyReply): void => {
          reply.hijack();
          handle(request.raw, reply.raw);
        };
        app.post(url, { onRequest }, () => {});
      }
    },
  };
}

/** The result paths of the paid answers in each response. */
const results = new WeakMap<ServerResponse, readonly string[]>();

const refused = (id: RpcId, refusal: RpcFailure): Answer => ({
  status: refusal.status,
  body: failureText(id, refusal),
});

const answered = (id: RpcId, outcome: Outcome): Answer =>
  Buffer.isBuffer(outcome) ? { status: 200, body: beforeResult(id), result: outcome } : refused(id, outcome);

const PROGRAMS_READ: ReadonlySet<string> = new Set(['cache-control', 'x-content-type-options']);

const NO_BATCHES = 'Send one JSON-RPC message in each request: only revision 2025-03-26 has batches.';

const FOREIGN_ORIGIN =
  'Web pages of this origin are not allowed to call this endpoint. Clients other than browsers send no Origin header.';

const JSON_TYPES = /^\s*application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

const isJson = (contentType: string | undefined): boolean =>
  contentType === 'application/json' || (contentType !== undefined && JSON_TYPES.test(contentType));

function surroundingsOf(
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  startedAt: number,
): Omit<Surroundings, 'address'> {
  const { url = '', headers } = request;
  const query = url.includes('?') ? readQuery(url) : null;
  const asks = (name: string, value: string) => query?.get(name)?.some(({ text }) => text === value) ?? false;
  return {
    requestId,
    startedAt,
    headers,
    sandbox: asks('test', '1') || hasSandboxHeader({ url, headers }),
    speaksX402: asks('payment', 'x402'),
    isAbandoned: () => response.destroyed,
    noteBought(boughtBy, outcome) {
      if (isPaying(boughtBy, outcome)) notePurchase(response);
      if (outcome.outcome !== 'settled') return;
      results.set(response, [...(results.get(response) ?? []), resultPath(outcome.resultId)]);
    },
  };
}
