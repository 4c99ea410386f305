/** A span for each request of a route (docs/design/operations.md#traces). Not used at all without a tracer. */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { type Span, within } from '../tracing/span.ts';
import { readSent } from '../tracing/traceparent.ts';
import type { Tracer } from '../tracing/tracer.ts';
import { codeOf } from './request-log.ts';

/** Call it before any other hook is added, so that their refusals are traced too. */
export function traceRequests(app: FastifyInstance, tracer: Tracer): void {
  const spans = new WeakMap<IncomingMessage, Span>();
  app.addHook('onRequest', (request, reply, done) => {
    const { raw, method, protocol, routeOptions, headers, id } = request;
    const route = request.is404 ? undefined : routeOptions.url;
    const span =
      route === undefined
        ? undefined
        : tracer.begin(
            `${method} ${route}`,
            {
              kind: 'server',
              attributes: {
                'http.request.method': method,
                'http.route': route,
                // The names of a path's parameters instead of their values: the id of a result is a secret.
                'url.path': route,
                'url.scheme': protocol,
                'docket.request_id': id,
              },
            },
            readSent(headers.traceparent as string | readonly string[] | undefined),
          );
    if (span === undefined) {
      done();
      return;
    }
    spans.set(raw, span);
    const { raw: response } = reply;
    // Also without an answer, if the caller disconnects.
    response.once('close', () => {
      const { statusCode, writableFinished } = response;
      if (response.headersSent) span.set('http.response.status_code', statusCode);
      const code = codeOf(response);
      if (code !== undefined) span.set('docket.error.code', code);
      if (statusCode >= 500) span.fail(code ?? String(statusCode));
      else if (!writableFinished) span.fail('disconnected');
      span.end();
    });
    within(span, done);
  });
  // The body arrives by events of the connection, which belong to no request.
  app.addHook('preValidation', (request, _reply, done) => {
    const span = spans.get(request.raw);
    if (span === undefined) done();
    else within(span, done);
  });
}
