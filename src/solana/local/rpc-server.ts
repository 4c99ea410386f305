/** JSON-RPC 2.0 over HTTP on loopback, with single calls and batches, as a Solana node serves it. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { accountMethods } from './account-methods.ts';
import type { ChainLog } from './chain-log.ts';
import { clusterMethods, type RpcMethod } from './cluster-methods.ts';
import type { Ledger } from './ledger.ts';
import { Parameters } from './parameters.ts';
import { RPC_CODES, RpcError } from './rpc-error.ts';
import { transactionMethods } from './transaction-methods.ts';

const MOST_BODY_BYTES = 1024 * 1024;
const MOST_BATCHED_CALLS = 1_000;
/** Longer than clients keep idle connections, so that they close them, not this server. */
const KEEP_ALIVE_MS = 65_000;

const METHODS: ReadonlyMap<string, RpcMethod> = new Map(
  Object.entries({ ...clusterMethods, ...accountMethods, ...transactionMethods }),
);

export interface RpcServer {
  readonly port: number;
  close(): Promise<void>;
}

/** @throws the error of listening, e.g. `EADDRINUSE` */
export async function serveRpc(options: {
  readonly ledger: Ledger;
  readonly port: number;
  readonly log: ChainLog;
}): Promise<RpcServer> {
  const { ledger, log } = options;
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    serve(ledger, log, request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // Loopback only: any client that reaches the port can mint.
    server.listen(options.port, '127.0.0.1', resolve);
  });
  return { port: (server.address() as AddressInfo).port, close: () => closeServer(server) };
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
    // Running answers get a moment; a connection that sends nothing more must not delay the stop.
    setTimeout(() => server.closeAllConnections(), 500).unref();
  });
}

/** A browser wallet may use the chain, as it may use a test validator. */
const ANY_ORIGIN = { 'access-control-allow-origin': '*' };
const JSON_HEADERS = { 'content-type': 'application/json', ...ANY_ORIGIN };

function serve(ledger: Ledger, log: ChainLog, request: IncomingMessage, response: ServerResponse): void {
  // Without a listener, the error of an aborted connection would end the process.
  request.on('error', () => {});
  const { method, url, headers } = request;
  if (method === 'OPTIONS') {
    response.writeHead(204, {
      ...ANY_ORIGIN,
      'access-control-allow-headers': '*',
      'access-control-allow-methods': 'POST',
    });
    response.end();
  } else if (method === 'GET' && url === '/health') {
    plain(response, 200, 'ok');
  } else if (method !== 'POST') {
    plain(response, 405, 'Used HTTP Method is not allowed. POST is required\n');
  } else if (!/^application\/json\b/i.test(headers['content-type'] ?? '')) {
    plain(response, 415, 'Supplied content type is not allowed. Content-Type: application/json is required\n');
  } else {
    readBody(request, response, (body) => reply(ledger, log, body, response));
  }
}

function plain(response: ServerResponse, status: number, text: string, headers = {}): void {
  response.writeHead(status, { 'content-type': 'text/plain', ...headers }).end(text);
}

function readBody(request: IncomingMessage, response: ServerResponse, done: (body: string) => void): void {
  const parts: Buffer[] = [];
  let size = 0;
  request.on('data', (part: Buffer) => {
    size += part.length;
    if (size <= MOST_BODY_BYTES) parts.push(part);
    else if (!response.headersSent) plain(response, 413, 'The body is too large\n', { connection: 'close' });
    // Closes the connection of a client that keeps sending after the error.
    if (size > 4 * MOST_BODY_BYTES) request.destroy();
  });
  request.on('end', () => {
    if (size <= MOST_BODY_BYTES) done(Buffer.concat(parts).toString('utf8'));
  });
}

async function reply(ledger: Ledger, log: ChainLog, body: string, response: ServerResponse): Promise<void> {
  try {
    const text = await answer(ledger, log, body);
    if (text === null) response.writeHead(204).end();
    else response.writeHead(200, JSON_HEADERS).end(text);
  } catch (error) {
    log.error({ err: error }, 'the local chain could not answer a call');
    if (!response.headersSent) plain(response, 500, 'Internal error\n');
  }
}

/** Answers a body; null if it contains only notifications. */
async function answer(ledger: Ledger, log: ChainLog, body: string): Promise<string | null> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return failure(null, new RpcError(RPC_CODES.parse, 'Parse error'));
  }
  if (!Array.isArray(parsed)) return call(ledger, log, parsed);
  if (parsed.length === 0 || parsed.length > MOST_BATCHED_CALLS) {
    return failure(null, new RpcError(RPC_CODES.invalidRequest, 'Invalid request'));
  }
  // Started in order, awaited together, so that the transactions of a batch share one write to disk.
  const answers = (await Promise.all(parsed.map((each) => call(ledger, log, each)))).filter((each) => each !== null);
  return answers.length ? `[${answers.join(',')}]` : null;
}

type CallId = string | number | null;

async function call(ledger: Ledger, log: ChainLog, request: unknown): Promise<string | null> {
  if (typeof request !== 'object' || request === null || Array.isArray(request)) {
    return failure(null, new RpcError(RPC_CODES.invalidRequest, 'Invalid request'));
  }
  const { jsonrpc, id, method, params } = request as Readonly<Record<string, unknown>>;
  const validId = id === null || typeof id === 'string' || typeof id === 'number';
  if (jsonrpc !== '2.0' || typeof method !== 'string' || !(validId || id === undefined)) {
    return failure(validId ? id : null, new RpcError(RPC_CODES.invalidRequest, 'Invalid request'));
  }
  const answered = (text: string): string | null => (validId ? text : null);
  const failed = (error: unknown): string | null => {
    if (!(error instanceof RpcError)) log.error({ err: error, method }, 'a call to the local chain failed');
    const known = error instanceof RpcError ? error : new RpcError(RPC_CODES.internal, 'Internal error');
    return answered(failure(id as CallId, known));
  };
  let text: string | null;
  try {
    const run = METHODS.get(method);
    if (!run) throw new RpcError(RPC_CODES.methodNotFound, 'Method not found');
    const outcome = run(ledger, new Parameters(params));
    const result = outcome instanceof Promise ? await outcome : outcome;
    text = answered(`{"jsonrpc":"2.0","result":${JSON.stringify(result)},"id":${JSON.stringify(id)}}`);
  } catch (error) {
    text = failed(error);
  }
  try {
    // Neither a result nor an error may reveal state that is not on disk yet.
    const pending = ledger.durable();
    if (pending) await pending;
    return text;
  } catch (error) {
    return failed(error);
  }
}

function failure(id: CallId, { code, message, data }: RpcError): string {
  return JSON.stringify({
    jsonrpc: '2.0',
    error: data === undefined ? { code, message } : { code, message, data },
    id,
  });
}
