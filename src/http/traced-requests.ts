/** A span for each request (docs/design/operations.md#traces). Not used at all without a tracer. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { type Span, within } from '../tracing/span.ts';
import { readSent } from '../tracing/traceparent.ts';
import type { Tracer } from '../tracing/tracer.ts';
import { codeOf } from './request-log.ts';

/** Starts the span of a request, which ends with its answer or its connection; undefined if it is not sampled. */
export function beginRequest(
  tracer: Tracer,
  { method = '', headers }: IncomingMessage,
  response: ServerResponse,
  { route, requestId }: { readonly route: string; readonly requestId: string },
): Span | undefined {
  const attributes = {
    'http.request.method': method,
    'http.route': route,
    // The names of a path's parameters instead of their values: the id of a result is a secret.
    'url.path': route,
    'url.scheme': 'http',
    'docket.request_id': requestId,
  };
  const caller = readSent(headers.traceparent as string | readonly string[] | undefined);
  const span = tracer.begin(`${method} ${route}`, { kind: 'server', attributes }, caller);
  if (span === undefined) return undefined;
  response.once('close', () => {
    const { statusCode, headersSent, writableFinished } = response;
    if (headersSent) span.set('http.response.status_code', statusCode);
    const code = codeOf(response);
    if (code !== undefined) span.set('docket.error.code', code);
    if (statusCode >= 500) span.fail(code ?? String(statusCode));
    else if (!writableFinished) span.fail('disconnected');
    span.end();
  });
  return span;
}

/** Traces the requests of routes. Call it before other hooks are added, so that their refusals are traced too. */
export function traceRequests(app: FastifyInstance, tracer: Tracer): void {
  const spans = new WeakMap<IncomingMessage, Span>();
  app.addHook('onRequest', (request, reply, done) => {
    const route = request.is404 ? undefined : request.routeOptions.url;
    const known = route === undefined ? null : { route, requestId: request.id };
    const span = known === null ? undefined : beginRequest(tracer, request.raw, reply.raw, known);
    if (span === undefined) {
      done();
      return;
    }
    spans.set(request.raw, span);
    within(span, done);
  });
  // The body arrives by events of the connection, which belong to no request.
  app.addHook('preValidation', (request, _reply, done) => {
    const span = spans.get(request.raw);
    if (span === undefined) done();
    else within(span, done);
  });
}
