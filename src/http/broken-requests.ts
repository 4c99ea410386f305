/** Requests that Node's parser rejects never reach a route; they still get a JSON error (docs/design/interface.md#7). */
import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Problem, problem, statusOf } from '../errors.ts';
import { type Audience, commonHeaders } from './common-headers.ts';
import type { Connections } from './connections.ts';
import { type AnsweringService, errorBody, newRequestId } from './send-problem.ts';
import { isV1, v1Headers } from './v1/sunset.ts';

/** Most bytes of request line and headers; a payment fits into half of that. */
export const MAX_HEADER_BYTES = 32 * 1024;
/** A caller that has not sent all headers, or the whole request, in time is disconnected. */
export const HEADERS_TIMEOUT_MS = 10_000;
export const REQUEST_TIMEOUT_MS = 30_000;

/** How long a rejected connection stays half open, so that the caller reads the error before the reset arrives. */
const LINGER_MS = 2_000;

const STATUS_TEXT: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  405: 'Method Not Allowed',
  431: 'Request Header Fields Too Large',
};

/** An issue that concerns the whole request, in the shape of a parameter issue. */
export const malformedRequest = (rule: string, message: string): Problem =>
  problem(
    'invalid_parameter',
    {
      issues: [
        { parameter: null, code: 'invalid_parameter', received: null, rule, example: 'GET /v2/status HTTP/1.1' },
      ],
      hint: rule,
    },
    message,
  );

/** Methods that at least one path of the service accepts. */
const METHODS = ['GET', 'HEAD', 'POST', 'OPTIONS'];

function refusalFor(code: string | undefined, { isRequestLine }: Beginning): Problem {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return problem('header_too_large', { limit: MAX_HEADER_BYTES });
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return malformedRequest(
        `Send the headers within ${HEADERS_TIMEOUT_MS / 1000} s and the whole request within ${REQUEST_TIMEOUT_MS / 1000} s.`,
        'The request did not arrive in time.',
      );
    case 'HPE_INVALID_METHOD':
      if (isRequestLine) return problem('method_not_allowed', { allow: METHODS }, 'Unknown method.');
      break;
    case 'HPE_INVALID_URL':
      return malformedRequest(
        'Send a target of visible ASCII characters; percent-encode all others as UTF-8.',
        'The request target is malformed.',
      );
  }
  return malformedRequest('Send a well-formed HTTP/1.1 request.', 'The request is not HTTP.');
}

/** What Node reports about a request that its parser rejected. */
interface ParserError extends NodeJS.ErrnoException {
  /** The last bytes received. */
  readonly rawPacket?: unknown;
}

/** The handler of `clientError`. */
export type RefuseBroken = (error: ParserError, socket: Socket) => void;

/** The start of a request that could not be parsed. */
interface Beginning {
  /** Empty if unknown. */
  readonly target: string;
  /** Whether it is a complete request line, with any method. */
  readonly isRequestLine: boolean;
}

function beginningOf({ rawPacket }: ParserError): Beginning {
  const text = Buffer.isBuffer(rawPacket) ? rawPacket.subarray(0, MAX_HEADER_BYTES).toString('latin1') : '';
  return {
    target: /^[A-Za-z-]+ (\S+)/.exec(text)?.[1] ?? '',
    isRequestLine: /^[A-Za-z-]+ \S+ HTTP\/1\.[01]\r\n/.test(text),
  };
}

/**
 * Answers requests that the parser rejects. Writes nothing while an earlier request on the connection is still being
 * answered, because the client would take the bytes for that answer.
 */
export function refuseBroken(service: AnsweringService, audience: Audience, connections: Connections): RefuseBroken {
  const refused = new WeakSet<Socket>();
  return (error, socket) => {
    if (refused.has(socket)) return;
    refused.add(socket);
    if (error.code === 'ECONNRESET' || !socket.writable || connections.isOwed(socket)) socket.destroy();
    else {
      const beginning = beginningOf(error);
      endWith(socket, rawAnswer(beginning.target, refusalFor(error.code, beginning), service, audience));
    }
  };
}

/** Answers `CONNECT`, which asks for a tunnel and never reaches a route. */
export function refuseTunnel(service: AnsweringService, audience: Audience, connections: Connections) {
  const refusal = problem('method_not_allowed', { allow: METHODS }, 'This server is not a proxy and opens no tunnels.');
  return (_request: IncomingMessage, socket: Duplex): void => {
    if (!(socket instanceof Socket) || !socket.writable || connections.isOwed(socket)) socket.destroy();
    else endWith(socket, rawAnswer('', refusal, service, audience));
  };
}

function endWith(socket: Socket, answer: string): void {
  socket.on('error', () => socket.destroy());
  socket.end(answer);
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}

function rawAnswer(target: string, refusal: Problem, service: AnsweringService, audience: Audience): string {
  const requestId = newRequestId();
  const status = statusOf(refusal.problem);
  const body = JSON.stringify(errorBody(target, refusal, requestId, service));
  const headers = {
    ...commonHeaders(audience, service.publicUrl),
    ...(audience === 'everybody' && isV1(target) ? v1Headers(target, service.publicUrl) : {}),
    'x-request-id': requestId,
    'cache-control': 'no-store',
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    ...(Array.isArray(refusal.details.allow) ? { allow: refusal.details.allow.join(', ') } : {}),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${STATUS_TEXT[status] ?? ''}`, ...lines, '', body].join('\r\n');
}
