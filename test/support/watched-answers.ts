/** Checks each answer that this service sends in a test, over a real socket, against the OpenAPI document. */
import { type OutgoingHttpHeader, type OutgoingHttpHeaders, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

interface Watched {
  status: number;
  readonly headers: Record<string, string>;
  readonly parts: Buffer[];
}

const watched = new WeakMap<ServerResponse, Watched>();
/** Servers with a test's own routes: their successful answers are not documented. */
const ownRoutes = new WeakSet<object>();
let checks: Promise<string[]>[] = [];

/** Declares that a test serves its own routes at documented addresses of this server. */
export function answersByOwnRoutes(server: Server): void {
  ownRoutes.add(server);
}

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[] | undefined;

function note(response: ServerResponse, status: number, headers: Headers): void {
  const all: Record<string, string> = {};
  for (const [name, value] of Object.entries(response.getHeaders())) all[name] = String(value);
  if (Array.isArray(headers)) {
    for (let index = 0; index + 1 < headers.length; index += 2) {
      all[String(headers[index]).toLowerCase()] = String(headers[index + 1]);
    }
  } else {
    for (const [name, value] of Object.entries(headers ?? {})) all[name.toLowerCase()] = String(value);
  }
  watched.set(response, { status, headers: all, parts: [] });
}

function keep(response: ServerResponse, chunk: unknown, encoding: unknown): void {
  if (!watched.has(response)) note(response, response.statusCode, undefined);
  if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return;
  const bytes =
    typeof chunk === 'string'
      ? Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
      : Buffer.from(chunk);
  watched.get(response)?.parts.push(bytes);
}

const { writeHead, write, end } = ServerResponse.prototype;

ServerResponse.prototype.writeHead = function (this: ServerResponse, ...args: never[]) {
  const [status, second, third] = args as unknown as [number, string | Headers, Headers];
  note(this, status, typeof second === 'string' ? third : second);
  return Reflect.apply(writeHead, this, args);
} as typeof writeHead;

ServerResponse.prototype.write = function (this: ServerResponse, ...args: never[]) {
  keep(this, args[0], args[1]);
  return Reflect.apply(write, this, args);
} as typeof write;

ServerResponse.prototype.end = function (this: ServerResponse, ...args: never[]) {
  keep(this, args[0], args[1]);
  const seen = watched.get(this);
  watched.delete(this);
  if (seen) check(this, seen);
  return Reflect.apply(end, this, args);
} as typeof end;

function check(response: ServerResponse, { status, headers, parts }: Watched): void {
  const { method = '', url = '', socket } = response.req;
  // Only answers of this service: a receiver or a chain that a test runs sends no such id.
  if (headers['x-request-id'] === undefined) return;
  // Node sets it on each socket that a server accepted; it stays after the connection is gone.
  const { server } = socket as Socket & { readonly server?: object };
  const own = server !== undefined && ownRoutes.has(server);
  checks.push(
    import('./conformance.ts').then(({ violationsOf }) =>
      violationsOf({ method, target: url, status, headers, body: Buffer.concat(parts) }, own),
    ),
  );
}

/** How the answers since the last call violate the OpenAPI document. */
export async function violationsSinceLast(): Promise<readonly string[]> {
  const found = await Promise.all(checks);
  checks = [];
  return found.flat();
}
