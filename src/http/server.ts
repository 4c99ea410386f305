/** A Fastify instance that answers everything in JSON: whatever arrives, however broken, in whatever state it is. */
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
import { codeOf, type RequestLog, requestLog } from './request-log.ts';
import { notedResponses, requestsInTurn } from './requests-in-turn.ts';
import { collectRoutes, pathOf, plainPath, type RouteTable } from './route-table.ts';
import {
  type AnsweringService,
  decorateRequests,
  newRequestId,
  sendInternalError,
  sendProblem,
} from './send-problem.ts';
import { createUnreadAnswers, type UnreadAnswers } from './unread-answers.ts';
import { v1Retired } from './v1/sunset.ts';

/** Most bytes of a body (docs/design/interface.md#4.3). */
export const MAX_BODY_BYTES = 256 * 1024;

const SERVER_OPTIONS: HttpServerOptions = {
  maxHeaderSize: MAX_HEADER_BYTES,
  headersTimeout: HEADERS_TIMEOUT_MS,
  requestTimeout: REQUEST_TIMEOUT_MS,
  connectionsCheckingInterval: 1_000,
  // Longer than the minute for which load balancers keep a silent connection: they close first, never into a request.
  keepAliveTimeout: 72_000,
  // Node refuses a missing Host without a body; a hook below does it in JSON.
  requireHostHeader: false,
};

/** Longer than any answer takes to be made; a caller that neither sends nor reads for so long is cut off. */
const SILENCE_TIMEOUT_MS = 120_000;

/** How often connections that fell silent during a stop are closed. */
const DRAIN_EVERY_MS = 50;

/** Answers a request at once and says so, or leaves it to the routes. */
export type EarlyAnswer = (request: IncomingMessage, response: ServerResponse) => boolean;

export interface ServerOptions {
  /** Whom browsers let read the answers. */
  readonly audience?: Audience;
  /** Is asked before anything else, for an answer whose bytes lie ready. */
  readonly answerEarly?: EarlyAnswer;
  /** What bounds the answers that clients do not read. */
  readonly unread?: UnreadAnswers;
}

/** Makes the instance; routes are added to it afterwards. */
export function makeServer(
  service: AnsweringService,
  logger: Logger,
  { audience = 'everybody', answerEarly = () => false, unread = createUnreadAnswers() }: ServerOptions = {},
): FastifyInstance {
  const connections = trackConnections();
  // Orchestrators ask the admin port all the time, and their own records say so.
  const log = audience === 'everybody' && logger.isLevelEnabled('info') ? requestLog(logger) : null;
  /** Nothing stands above it that would catch what it throws: then the routes answer, and what fails there is caught. */
  const answersEarly: EarlyAnswer = (request, response) => {
    try {
      return answerEarly(request, response);
    } catch (error) {
      logger.error({ err: error }, 'an answer that lies ready could not be given');
      // Half an answer cannot be taken back, and nothing could end it well.
      if (response.headersSent) response.destroy();
      return response.headersSent;
    }
  };
  const app: FastifyInstance = fastify({
    loggerInstance: logger as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: newRequestId,
    bodyLimit: MAX_BODY_BYTES,
    // Its own 503 has no envelope; ours below has.
    return503OnClosing: false,
    // Each route says by itself whether and how it answers HEAD: on a paid address it never pays.
    exposeHeadRoutes: false,
    serverFactory: (handle) => {
      const answer = requestsInTurn((request, response) => {
        if (!answersEarly(request, response)) handle(request, response);
        else if (log) logEarly(log, request, response);
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
      // Node drops silently what is beyond its own limit, say the header that asks for the sandbox; bytes are limited.
      server.maxHeadersCount = 0;
      server.on('connect', refuseTunnel(service, audience, connections));
      continueOnRead(server);
      // An expectation that we do not know is ignored rather than answered without a body (RFC 9110, 10.1.1).
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

  app.addHook('onSend', (_request, reply, _body, done) => {
    setCommonHeaders(reply, audience);
    done();
  });
  app.addHook('onRequest', (request, reply, done) => {
    const refusal = draining.begun ? STOPPING : refusalBeforeRouting(request, audience);
    if (refusal) sendProblem(reply, refusal);
    // Here and not in the handler of 404: the body of a request that leads nowhere is not even read.
    else if (request.is404) answerNowhere(reply, routes, audience);
    else done();
  });
  app.setNotFoundHandler((_request, reply) => answerNowhere(reply, routes, audience));
  app.setErrorHandler((error: FastifyError, _request, reply) => refuseFrameworkError(error, reply));
  if (logger.isLevelEnabled('debug')) logEveryAnswer(app);
  if (log) {
    app.addHook('onResponse', ({ id, method, is404, routeOptions }, { statusCode, raw, elapsedTime }, done) => {
      const route = is404 ? NOWHERE : (routeOptions.url ?? NOWHERE);
      const known = { requestId: id, method: METHODS.has(method) ? method : 'other', route, status: statusCode };
      log.answered({ ...known, code: codeOf(raw), ms: Math.round(elapsedTime) }, raw);
      done();
    });
    app.addHook('onClose', (_app, done) => {
      log.flush();
      done();
    });
  }
  return app;
}

/** Where no route stands: what was asked for is the caller's text, and is not repeated. */
const NOWHERE = '(none)';
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** An answer that no route gives; one that lies ready has been written by now. */
function logEarly(log: RequestLog, { method = '', url = '' }: IncomingMessage, response: ServerResponse): void {
  const began = performance.now();
  const told = () =>
    log.answered(
      {
        requestId: undefined,
        method: METHODS.has(method) ? method : 'other',
        // Only addresses of routes are answered early.
        route: plainPath(url),
        status: response.statusCode,
        ms: Math.round(performance.now() - began),
      },
      response,
    );
  if (response.headersSent) told();
  else response.once('finish', told);
}

const STOPPING = problem('service_unavailable', { component: 'http', retry_after: 1 }, 'This node is stopping.');

/** Why a request is refused wherever it leads; of one that is, neither a body nor a payment is read. */
function refusalBeforeRouting(request: FastifyRequest, audience: Audience): Problem | null {
  const hosts = countHosts(request.raw);
  // RFC 9112, 3.2: exactly one, but before HTTP/1.1 none is needed.
  if (hosts > 1 || (hosts === 0 && request.raw.httpVersion === '1.1')) {
    const number = hosts === 0 ? 'no Host header' : 'several Host headers';
    return malformedRequest('Send one Host header.', `The request has ${number}.`);
  }
  if (audience === 'operators' || isPreflight(request)) return null;
  return v1Retired(request.url, request.server.answering.clock.now());
}

/** A browser's question whether a script may send a request. */
const isPreflight = ({ method, headers }: FastifyRequest): boolean =>
  method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined;

/** No route takes the request: a preflight, a wrong method, or an address where nothing stands. */
function answerNowhere(reply: FastifyReply, routes: RouteTable, audience: Audience): void {
  const { method, url } = reply.request;
  const path = plainPath(url);
  const methods = routes.methodsAt(path);
  if (method === 'OPTIONS') {
    // A preflight is granted wherever it asks, so that a script can read the refusal of the request itself.
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

/** Fastify's own refusals in our words; everything else is our fault, and says nothing of its cause. */
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
      sendProblem(reply, malformedRequest('Send a body of valid JSON.', 'The body is not JSON.'));
      return;
    default:
      sendInternalError(reply, error);
  }
}

/**
 * From the moment of `app.close()`: nothing new is begun, what is under way is answered, and a connection is closed as
 * soon as it falls silent, so that no idle client holds up the stop.
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

/** One line for each answer; the query stays out of it, since it says who asks about whom. */
function logEveryAnswer(app: FastifyInstance): void {
  app.addHook('onResponse', (request, reply, done) => {
    request.log.debug(
      {
        method: request.method,
        path: pathOf(request.url).slice(0, 200),
        status: reply.statusCode,
        ms: reply.elapsedTime,
      },
      'answered',
    );
    done();
  });
}
