/** One connection that has passed the guard, and the sequential exchanges on it. */
import type { Socket } from 'node:net';
import type { Client, Dispatcher } from 'undici';
import { AttemptFailure, NothingSent } from './attempt-failure.ts';
import { MOST_RESPONSE_BYTES, ResponseGate } from './response-gate.ts';
import { UndiciClient } from './undici-client.ts';

export interface Exchange {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Whether to request the connection's end; nothing else is then sent on it. */
  readonly last: boolean;
  readonly signal: AbortSignal;
}

export interface ExchangeResponse {
  readonly status: number;
  readonly retryAfter: string | null;
  /** The first bytes of the body. */
  readonly excerpt: Buffer;
  /** Whether the body continued after the excerpt, or may have. */
  readonly truncated: boolean;
  /** Whether the response was read to its end; if so, the connection may be reused. */
  readonly complete: boolean;
}

const MOST_EXCERPT_BYTES = 4 * 1024;

/** Without a hint from the receiver, an idle connection is kept this long; few servers close one sooner. */
const IDLE_MS = 1_000;
const LONGEST_IDLE_MS = 4_000;
/** We close an idle connection this long before the receiver says that it will. */
const IDLE_MARGIN_MS = 1_000;

export class Connection {
  readonly openedAt = performance.now();
  exchanges = 0;
  readonly #gate: ResponseGate;
  readonly #client: Client;

  /**
   * @param socket carries the HTTP messages
   * @param wire the underlying connection: the same, or the one below TLS
   */
  constructor(
    origin: string,
    socket: Socket,
    readonly wire: Socket,
  ) {
    this.#gate = new ResponseGate(socket);
    let handedOver = false;
    this.#client = new UndiciClient(origin, {
      // The one checked connection, and never a second one: this client has no other access to the network.
      connect: (_options, done) => {
        const gone = handedOver || this.#gate.destroyed;
        handedOver = true;
        // Deferred, as for a new connection: the client does not notice one that is available immediately.
        queueMicrotask(() => {
          if (gone || this.#gate.destroyed) done(new NothingSent(), null);
          // The client needs a stream with a socket's methods for writing, reading and ending; a gate has these.
          else done(null, this.#gate as unknown as Socket);
        });
      },
      pipelining: 1,
      maxHeaderSize: MOST_RESPONSE_BYTES,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: LONGEST_IDLE_MS,
      keepAliveTimeoutThreshold: IDLE_MARGIN_MS,
    });
    this.#gate.on('error', () => undefined);
  }

  get open(): boolean {
    return !this.#gate.destroyed;
  }

  onClose(listener: () => void): void {
    this.#gate.once('close', listener);
  }

  /**
   * Sends one POST and reads the needed part of its response. Once the status has arrived, nothing is a failure any
   * more.
   *
   * @throws NothingSent if the connection had ended before the request went out; AttemptFailure: reset, tls_invalid,
   * timeout, response_too_large, protocol_error; or the signal's reason
   */
  exchange({ path, headers, body, last, signal }: Exchange): Promise<ExchangeResponse> {
    this.exchanges++;
    this.#gate.expectResponse();
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        finish(signal.reason);
        this.close();
      };
      const reading = new ResponseReading();
      let sent = false;
      const finish = (failure: unknown) => {
        signal.removeEventListener('abort', giveUp);
        const response = reading.response(failure === null);
        if (response) resolve(response);
        else reject(failure ?? new AttemptFailure('reset', 'the response has no status'));
      };
      const handler: Dispatcher.DispatchHandler = {
        onRequestStart: () => {
          sent = true;
        },
        onResponseStart: (_controller, status, responseHeaders) =>
          reading.start(status, responseHeaders['retry-after']),
        onResponseData: (_controller, chunk) => reading.add(chunk),
        onResponseEnd: () => finish(null),
        onResponseError: (_controller, error) => finish(sent ? exchangeFailure(error) : new NothingSent()),
      };
      signal.addEventListener('abort', giveUp, { once: true });
      if (signal.aborted) return giveUp();
      this.#client.dispatch(
        { method: 'POST', path, headers: { ...headers }, body, ...(last ? { reset: true } : {}) },
        handler,
      );
    });
  }

  close(): void {
    this.#gate.destroy();
    this.#client.destroy(() => undefined);
  }
}

/** The part of a response that was read. */
class ResponseReading {
  #status: number | null = null;
  #retryAfter: string | null = null;
  readonly #parts: Buffer[] = [];
  #kept = 0;
  #more = false;

  start(status: number, retryAfter: string | string[] | undefined): void {
    this.#status = status;
    this.#retryAfter = [retryAfter].flat()[0] ?? null;
  }

  add(chunk: Buffer): void {
    const room = MOST_EXCERPT_BYTES - this.#kept;
    // A copy: the chunk is a view of the whole read buffer, which would stay in memory with it.
    const part = Buffer.from(chunk.subarray(0, room));
    if (chunk.length > room) this.#more = true;
    if (part.length > 0) this.#parts.push(part);
    this.#kept += part.length;
  }

  response(complete: boolean): ExchangeResponse | null {
    if (this.#status === null) return null;
    return {
      status: this.#status,
      retryAfter: this.#retryAfter,
      excerpt: Buffer.concat(this.#parts),
      truncated: this.#more || !complete,
      complete,
    };
  }
}

/** Maps an error of the client or of the connection, if no status has arrived yet. */
function exchangeFailure(error: NodeJS.ErrnoException): AttemptFailure {
  if (error instanceof AttemptFailure) return error;
  const { code = '' } = error;
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return new AttemptFailure('response_too_large', code);
  if (RESETS.has(code)) return new AttemptFailure('reset', code);
  if (code === 'ETIMEDOUT') return new AttemptFailure('timeout', code);
  return new AttemptFailure(code.startsWith('ERR_SSL') ? 'tls_invalid' : 'protocol_error', code);
}

/** Codes of a connection that broke off. */
export const RESETS = new Set([
  'ECONNRESET',
  'EPIPE',
  'ECONNABORTED',
  'UND_ERR_SOCKET',
  'UND_ERR_INFO',
  'UND_ERR_DESTROYED',
]);
