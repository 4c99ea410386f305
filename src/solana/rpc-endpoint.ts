/**
 * One JSON-RPC endpoint over kept-alive connections. `node:http` rather than `fetch`: a paid query makes several calls,
 * and one takes a fifth of the processor time this way.
 */
import { Agent as HttpAgent, request as httpRequest, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

const MOST_ANSWER_BYTES = 16 * 1024 * 1024;
const MOST_CONNECTIONS = 256;

/** The endpoint gave no usable answer. The message never holds more of its URL than host and port. */
export class EndpointFailure extends Error {
  constructor(
    message: string,
    /** Whether the call may have been carried out all the same. */
    readonly mayHaveHappened: boolean,
    /** How long the endpoint asked to be left alone; null if it did not. */
    readonly retryAfterMs: number | null = null,
  ) {
    super(message);
    this.name = 'EndpointFailure';
  }
}

/** The endpoint answered with an error of JSON-RPC. */
export class RpcRefusal extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data: unknown,
  ) {
    super(message);
    this.name = 'RpcRefusal';
  }
}

/** Failures in which nothing was sent. */
const NEVER_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

export class RpcEndpoint {
  /** Host and port: what may be logged, since user, path and query may be keys. */
  readonly label: string;
  readonly #options: RequestOptions;
  readonly #request: typeof httpRequest;
  readonly #agent: HttpAgent | HttpsAgent;
  #lastId = 0;

  constructor(url: string) {
    const { protocol, hostname, port, host, pathname, search, username, password } = new URL(url);
    const agentOptions = { keepAlive: true, maxSockets: MOST_CONNECTIONS, scheduling: 'lifo' } as const;
    const secure = protocol === 'https:';
    this.label = host;
    this.#agent = secure ? new HttpsAgent(agentOptions) : new HttpAgent(agentOptions);
    this.#request = secure ? httpsRequest : httpRequest;
    this.#options = {
      method: 'POST',
      // An IPv6 address stands in brackets in a URL and without them everywhere else.
      hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
      port,
      path: pathname + search,
      agent: this.#agent,
      ...(username || password ? { auth: `${decodeURIComponent(username)}:${decodeURIComponent(password)}` } : {}),
    };
  }

  /**
   * Calls a method and gives its result as it came.
   *
   * @throws EndpointFailure without an answer within `timeoutMs`; RpcRefusal if the answer is an error
   */
  async call(method: string, params: readonly unknown[], timeoutMs: number): Promise<unknown> {
    const id = ++this.#lastId;
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    try {
      return resultIn(await this.#post(body, timeoutMs), id);
    } catch (error) {
      // The endpoint closed an idle connection at the moment it was used again.
      if (error instanceof StaleConnection) return resultIn(await this.#post(body, timeoutMs), id);
      throw error;
    }
  }

  #post(body: Buffer, timeoutMs: number): Promise<string> {
    return new Promise((resolve, reject) => {
      const fail = (error: Error) => {
        clearTimeout(timer);
        reject(error);
        request.destroy();
      };
      const headers = { 'content-type': 'application/json', 'content-length': body.length };
      const request = this.#request({ ...this.#options, headers }, (response) => {
        const { statusCode = 0 } = response;
        if (statusCode !== 200) {
          return fail(
            new EndpointFailure(
              `HTTP status ${statusCode}`,
              statusCode >= 500,
              retryAfter(response.headers['retry-after']),
            ),
          );
        }
        const parts: Buffer[] = [];
        let size = 0;
        response.on('data', (part: Buffer) => {
          size += part.length;
          if (size > MOST_ANSWER_BYTES) return fail(new EndpointFailure('the answer is too large', true));
          parts.push(part);
        });
        response.on('end', () => {
          clearTimeout(timer);
          resolve(Buffer.concat(parts).toString('utf8'));
        });
        response.on('aborted', () => fail(new EndpointFailure('the answer was cut off', true)));
        response.on('error', () => fail(new EndpointFailure('the answer was cut off', true)));
      });
      const timer = setTimeout(() => fail(new EndpointFailure(`no answer within ${timeoutMs} ms`, true)), timeoutMs);
      request.on('error', (error: NodeJS.ErrnoException) => {
        if (request.reusedSocket && error.code === 'ECONNRESET') return fail(new StaleConnection());
        // The error's own message may hold the URL.
        const code = error.code ?? 'connection failed';
        fail(new EndpointFailure(code, !NEVER_SENT.has(code)));
      });
      request.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

class StaleConnection extends EndpointFailure {
  constructor() {
    super('ECONNRESET', true);
  }
}

function retryAfter(header: string | undefined): number | null {
  const seconds = Number(header ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : null;
}

function resultIn(text: string, id: number): unknown {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new EndpointFailure('the answer is not JSON', true);
  }
  if (typeof answer !== 'object' || answer === null) throw new EndpointFailure('the answer is not JSON-RPC', true);
  const { id: answered, result, error } = answer as { id?: unknown; result?: unknown; error?: unknown };
  if (typeof error === 'object' && error !== null) {
    const { code, message, data } = error as { code?: unknown; message?: unknown; data?: unknown };
    throw new RpcRefusal(Number(code), String(message), data);
  }
  if (answered !== id || result === undefined) throw new EndpointFailure('the answer is not to this call', true);
  return result;
}
