/**
 * Posts JSON to one URL over kept-alive connections. Uses `node:http` instead of `fetch`, because a paid query makes
 * several calls, and each takes a fifth of the processor time this way.
 */
import { Agent as HttpAgent, request as httpRequest, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

const MOST_ANSWER_BYTES = 16 * 1024 * 1024;
const MOST_CONNECTIONS = 256;

/** The endpoint gave no usable answer. The message never contains more of its URL than host and port. */
export class EndpointFailure extends Error {
  constructor(
    message: string,
    /** Whether the call may have been executed nevertheless. */
    readonly mayHaveHappened: boolean,
    /** How long the endpoint asked clients to wait; null if it did not. */
    readonly retryAfterMs: number | null = null,
  ) {
    super(message);
    this.name = 'EndpointFailure';
  }
}

/** The endpoint answered with an HTTP status other than 200. */
export class HttpRefusal extends EndpointFailure {
  constructor(
    readonly status: number,
    retryAfterMs: number | null,
  ) {
    super(`HTTP status ${status}`, status >= 500, retryAfterMs);
  }
}

/** The endpoint closed an idle connection just as it was reused. */
class StaleConnection extends EndpointFailure {
  constructor() {
    super('ECONNRESET', true);
  }
}

/** Failures in which nothing was sent. */
const NEVER_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

export class RpcConnections {
  /** Host and port: the only parts that may be logged, since user, path and query may be keys. */
  readonly label: string;
  readonly #options: RequestOptions;
  readonly #request: typeof httpRequest;
  readonly #agent: HttpAgent | HttpsAgent;
  /** Ends running requests. */
  readonly #fails = new Set<(error: Error) => void>();
  #closed = false;

  constructor(url: string) {
    const { protocol, hostname, port, host, pathname, search, username, password } = new URL(url);
    const agentOptions = { keepAlive: true, maxSockets: MOST_CONNECTIONS, scheduling: 'lifo' } as const;
    const secure = protocol === 'https:';
    this.label = host;
    this.#agent = secure ? new HttpsAgent(agentOptions) : new HttpAgent(agentOptions);
    this.#request = secure ? httpsRequest : httpRequest;
    this.#options = {
      method: 'POST',
      // An IPv6 address has brackets in a URL and nowhere else.
      hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
      port,
      path: pathname + search,
      agent: this.#agent,
      ...(username || password ? { auth: `${decodeURIComponent(username)}:${decodeURIComponent(password)}` } : {}),
    };
  }

  /**
   * Posts a body and returns the text of the answer.
   * @throws EndpointFailure without an answer of status 200 within `timeoutMs`
   */
  async post(text: string, timeoutMs: number): Promise<string> {
    const body = Buffer.from(text);
    const began = performance.now();
    try {
      return await this.#post(body, timeoutMs);
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw error;
      return this.#post(body, Math.max(1, timeoutMs - (performance.now() - began)));
    }
  }

  #post(body: Buffer, timeoutMs: number): Promise<string> {
    if (this.#closed) return Promise.reject(new EndpointFailure('the connection to the chain is closed', false));
    return new Promise((resolve, reject) => {
      const ended = () => {
        clearTimeout(timer);
        this.#fails.delete(fail);
      };
      const fail = (error: Error) => {
        ended();
        reject(error);
        request.destroy();
      };
      const headers = { 'content-type': 'application/json', 'content-length': body.length };
      const request = this.#request({ ...this.#options, headers }, (response) => {
        const { statusCode = 0 } = response;
        if (statusCode !== 200) {
          return fail(new HttpRefusal(statusCode, retryAfter(response.headers['retry-after'])));
        }
        const parts: Buffer[] = [];
        let size = 0;
        response.on('data', (part: Buffer) => {
          size += part.length;
          if (size > MOST_ANSWER_BYTES) return fail(new EndpointFailure('the answer is too large', true));
          parts.push(part);
        });
        response.on('end', () => {
          ended();
          resolve(Buffer.concat(parts).toString('utf8'));
        });
        response.on('error', () => fail(new EndpointFailure('the answer was cut off', true)));
      });
      const late = () => fail(new EndpointFailure(`no answer within ${Math.ceil(timeoutMs)} ms`, true));
      const timer = setTimeout(late, timeoutMs);
      this.#fails.add(fail);
      request.on('error', (error: NodeJS.ErrnoException) => {
        if (request.reusedSocket && error.code === 'ECONNRESET') return fail(new StaleConnection());
        // The error's own message may contain the URL.
        const code = error.code ?? 'connection failed';
        fail(new EndpointFailure(code, !NEVER_SENT.has(code)));
      });
      request.end(body);
    });
  }

  /** Also ends running requests: otherwise those that wait for a connection would still get one. */
  close(): void {
    this.#closed = true;
    for (const fail of [...this.#fails]) fail(new EndpointFailure('the connection to the chain is closed', true));
    this.#agent.destroy();
  }
}

function retryAfter(header: string | undefined): number | null {
  const seconds = Number(header ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : null;
}
