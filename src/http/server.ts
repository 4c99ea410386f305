/** A Fastify instance that answers every request in JSON, even broken ones and during a stop. */
import {
  createServer,
  type ServerOptions as HttpServerOptions,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
} from 'fastify';
import type { Logger } from 'pino';
import { type Problem, problem } from '../errors.ts';
import type { Tracer } from '../tracing/tracer.ts';
import type { HttpMetrics } from './admin/metrics/http-metrics.ts';
import {
  HEADERS_TIMEOUT_MS,
  MAX_HEADER_BYTES,
  malformedRequest,
  REQUEST_TIMEOUT_MS,
  refuseBroken,
  refuseTunnel,
} from './broken-requests.ts';
import { type Audience, setCommonHeaders, setPreflightHeaders } from './common-headers.ts';
import { type Connections, trackConnections } from './connections.ts';
import { continueOnRead } from './expect-continue.ts';
import { countHosts } from './host-header.ts';
import { codeOf, type LoggedRequest, requestLog } from './request-log.ts';
import { notedResponses, requestsInTurn } from './requests-in-turn.ts';
import { collectRoutes, pathOf, plainPath, type RouteTable } from './route-table.ts';
import {
  type AnsweringService,
  decorateRequests,
  newRequestId,
  sendInternalError,
  sendProblem,
} from './send-problem.ts';
import { traceRequests } from './traced-requests.ts';
import { createUnreadAnswers, type UnreadAnswers } from './unread-answers.ts';
import { v1Retired } from './v1/sunset.ts';

/** Most bytes of a body (docs/design/interface.md#4.3). */
export const MAX_BODY_BYTES = 256 * 1024;

const SERVER_OPTIONS: HttpServerOptions = {
  maxHeaderSize: MAX_HEADER_BYTES,
  headersTimeout: HEADERS_TIMEOUT_MS,
  requestTimeout: REQUEST_TIMEOUT_MS,
  connectionsCheckingInterval: 1_000,
  // Longer than the minute after which load balancers close idle connections: they must close first.
  keepAliveTimeout: 72_000,
  // Node rejects a missing Host without a body; a hook below does it in JSON.
  requireHostHeader: false,
};

/** Longer than any answer takes; a caller that neither sends nor reads for that long is disconnected. */
const SILENCE_TIMEOUT_MS = 120_000;

/** How often idle connections are closed during a stop. */
const DRAIN_EVERY_MS = 50;

/** Answers a request at once and returns true, or leaves it to the routes. */
export type EarlyAnswer = (request: IncomingMessage, response: ServerResponse) => boolean;

export interface ServerOptions {
  /** Who may read the answers in a browser. */
  readonly audience?: Audience;
  /** Called first, for answers whose bytes are ready. */
  readonly answerEarly?: EarlyAnswer;
  /** Limits the answers that clients do not read. */
  readonly unread?: UnreadAnswers;
  /** Where answered requests are counted. */
  readonly metrics?: Pick<HttpMetrics, 'requestAnswered'> | undefined;
  /** Traces the requests of routes. Ready answers have no span: they do nothing that takes time. */
  readonly tracer?: Tracer | undefined;
}

/** Creates the instance; routes are added to it afterwards. */
export function makeServer(
  service: AnsweringService,
  logger: Logger,
  {
    audience = 'everybody',
    answerEarly = () => false,
    unread = createUnreadAnswers(),
    metrics,
    tracer,
  }: ServerOptions = {},
): FastifyInstance {
  const connections = trackConnections();
  // Orchestrators poll the admin port all the time and keep their own records.
  const log = audience === 'everybody' && logger.isLevelEnabled('info') ? requestLog(logger) : null;
  /** No caller above catches what it throws, so a failure is logged and the routes answer instead. */
  const answersEarly: EarlyAnswer = (request, response) => {
    try {
      return answerEarly(request, response);
    } catch (error) {
      logger.error({ err: error }, 'a ready answer could not be sent');
      // A partly sent answer can be neither taken back nor completed.
      if (response.headersSent) response.destroy();
      return response.headersSent;
    }
  };
  const noteAnswer = (given: LoggedRequest, ms: number, response: ServerResponse): void => {
    log?.answered(given, response);
    metrics?.requestAnswered({ ...given, seconds: ms / 1000 });
  };
  /** Notes an answer that no route gives, once it is written. */
  const noteEarly = ({ method = '', url = '' }: IncomingMessage, response: ServerResponse, began: number): void => {
    const note = () => {
      const ms = performance.now() - began;
      // Only paths of routes are answered early.
      const route = routes.all().has(plainPath(url)) ? plainPath(url) : NOWHERE;
      const { statusCode: status } = response;
      noteAnswer({ requestId: undefined, method: methodOf(method), route, status, ms: Math.round(ms) }, ms, response);
    };
    if (response.headersSent) note();
    else response.once('finish', note);
  };
  const app: FastifyInstance = fastify({
    loggerInstance: logger as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: newRequestId,
    bodyLimit: MAX_BODY_BYTES,
    // Fastify's own 503 has no envelope; ours below has one.
    return503OnClosing: false,
    // Each route defines how it answers HEAD: on a paid path, HEAD never pays.
    exposeHeadRoutes: false,
    serverFactory: (handle) => {
      const answer = requestsInTurn((request, response) => {
        const began = performance.now();
        if (!answersEarly(request, response)) handle(request, response);
        else if (log || metrics) noteEarly(request, response, began);
      }, unread);
      const server = createServer(
        { ...SERVER_OPTIONS, ServerResponse: notedResponses(unread) },
        (request, response) => {
          connections.answering(request.socket, response);
          answer(request, response);
        },
      );
      connections.watch(server);
      server.timeout = SILENCE_TIMEOUT_MS;
      // Beyond its own limit Node silently drops headers, perhaps the one that enables the sandbox; the bytes are limited.
      server.maxHeadersCount = 0;
      server.on('connect', refuseTunnel(service, audience, connections));
      continueOnRead(server);
      // Unknown expectations are ignored instead of answered without a body (RFC 9110, 10.1.1).
      return server.on('checkExpectation', (request, response) => server.emit('request', request, response));
    },
    routerOptions: { maxParamLength: MAX_HEADER_BYTES },
    clientErrorHandler: refuseBroken(service, audience, connections),
    frameworkErrors: (error, request, reply) => {
      setCommonHeaders(reply as FastifyReply, audience);
      const refusal = refusalBeforeRouting(request as FastifyRequest, audience);
      if (refusal) sendProblem(reply as FastifyReply, refusal);
      else refuseFrameworkError(error, reply as FastifyReply);
    },
  });
  decorateRequests(app, service);
  const draining = drainOnClose(app, connections);
  const routes = collectRoutes(app);
  app.decorate('routeTable', routes);

  if (tracer?.isOn) traceRequests(app, tracer);
  app.addHook('onSend', (_request, reply, _body, done) => {
    setCommonHeaders(reply, audience);
    done();
  });
  app.addHook('onRequest', (request, reply, done) => {
    const refusal = draining.begun ? STOPPING : refusalBeforeRouting(request, audience);
    if (refusal) sendProblem(reply, refusal);
    // Here and not in the 404 handler: the body of a request without a route is not read at all.
    else if (request.is404) answerNowhere(reply, routes, audience);
    else done();
  });
  app.setNotFoundHandler((_request, reply) => answerNowhere(reply, routes, audience));
  app.setErrorHandler((error: FastifyError, _request, reply) => refuseFrameworkError(error, reply));
  if (logger.isLevelEnabled('debug')) logEveryAnswer(app);
  if (log || metrics) {
    app.addHook('onResponse', ({ id, method, is404, routeOptions }, { statusCode, raw, elapsedTime }, done) => {
      const route = is404 ? NOWHERE : (routeOptions.url ?? NOWHERE);
      const known = { requestId: id, method: methodOf(method), route, status: statusCode };
      noteAnswer({ ...known, code: codeOf(raw), ms: Math.round(elapsedTime) }, elapsedTime, raw);
      done();
    });
  }
  if (log) {
    app.addHook('onClose', (_app, done) => {
      log.flush();
      done();
    });
  }
  return app;
}

/** Logged as the route if there is none: the requested path is the caller's text and is not logged. */
const NOWHERE = '(none)';
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

const methodOf = (method: string): string => (METHODS.has(method) ? method : 'other');

const STOPPING = problem('service_unavailable', { component: 'http', retry_after: 1 }, 'This node is stopping.');

/** Why to reject a request regardless of its path; then neither its body nor its payment is read. */
function refusalBeforeRouting(request: FastifyRequest, audience: Audience): Problem | null {
  const hosts = countHosts(request.raw);
  // RFC 9112, 3.2: exactly one, but optional before HTTP/1.1.
  if (hosts > 1 || (hosts === 0 && request.raw.httpVersion === '1.1')) {
    const number = hosts === 0 ? 'no Host header' : 'several Host headers';
    return malformedRequest('Send one Host header.', `The request has ${number}.`);
  }
  if (audience === 'operators' || isPreflight(request)) return null;
  return v1Retired(request.url, request.server.answering.clock.now());
}

/** A preflight: a browser asks whether a script may send a request. */
const isPreflight = ({ method, headers }: FastifyRequest): boolean =>
  method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined;

/** Answers requests that no route accepts: a preflight, a wrong method, or an unknown path. */
function answerNowhere(reply: FastifyReply, routes: RouteTable, audience: Audience): void {
  const { method, url } = reply.request;
  const path = plainPath(url);
  const methods = routes.methodsAt(path);
  if (method === 'OPTIONS') {
    // A preflight is granted for every path, so that a script can read the error of the request itself.
    const preflight = audience === 'everybody' && isPreflight(reply.request);
    if (preflight) setPreflightHeaders(reply, methods.length ? methods : ['GET', 'POST']);
    if (methods.length) reply.header('allow', methods.join(', '));
    if (preflight || methods.length || url === '*') {
      reply.code(204).send();
      return;
    }
  }
  if (methods.length) sendProblem(reply, problem('method_not_allowed', { allow: methods }));
  else sendProblem(reply, problem('endpoint_not_found', { suggestion: routes.suggestionFor(path) }));
}

/** Sends Fastify's own errors in our format; any other error is internal, and its cause is not revealed. */
function refuseFrameworkError(error: FastifyError, reply: FastifyReply): void {
  switch (error.code) {
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      sendProblem(reply, problem('endpoint_not_found'));
      return;
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      sendProblem(reply, problem('payload_too_large', { limit: MAX_BODY_BYTES }));
      return;
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      sendProblem(reply, problem('unsupported_media_type'));
      return;
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      sendProblem(reply, malformedRequest('Send a body of valid JSON.', 'The body is not valid JSON.'));
      return;
    default:
      sendInternalError(reply, error);
  }
}

/**
 * From `app.close()` on, new requests are rejected, running ones are answered, and each connection is closed as soon as
 * it is idle, so that no idle client delays the stop.
 */
function drainOnClose(app: FastifyInstance, connections: Connections): { readonly begun: boolean } {
  const state = { begun: false };
  app.addHook('preClose', (done) => {
    state.begun = true;
    const timer = setInterval(() => connections.closeSilent(), DRAIN_EVERY_MS);
    app.server.once('close', () => clearInterval(timer));
    timer.unref();
    done();
  });
  return state;
}

/** No secret in a path is shorter. */
const SHORTEST_SECRET = 32;

/** A path with a secret may be mistyped, so of a path without a route only the beginning is logged, and no long part. */
function loggedPath({ is404, url, routeOptions }: FastifyRequest): string {
  if (routeOptions.config.isSecret) return routeOptions.url ?? NOWHERE;
  if (!is404) return pathOf(url).slice(0, 200);
  const parts = pathOf(url)
    .split('/')
    .map((part) => (part.length < SHORTEST_SECRET ? part : '…'));
  return parts.length > 3 ? `${parts.slice(0, 3).join('/')}/…` : parts.join('/');
}

/** Logs one line per answer, without the query, which shows who is interested in whom. */
function logEveryAnswer(app: FastifyInstance): void {
  app.addHook('onResponse', (request, reply, done) => {
    request.log.debug(
      {
        method: request.method,
        path: loggedPath(request),
        status: reply.statusCode,
        ms: reply.elapsedTime,
      },
      'answered',
    );
    done();
  });
}
