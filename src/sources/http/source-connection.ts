/** One connection to a source that has passed the guard, and the sequential exchanges on it. */
import type { Socket } from 'node:net';
import type { Client, Dispatcher } from 'undici';
import { AttemptFailure, NothingSent } from '../../callbacks/outbound/attempt-failure.ts';
import { RESETS } from '../../callbacks/outbound/connection.ts';
import { UndiciClient } from '../../callbacks/outbound/undici-client.ts';
import { onAbort } from '../../runtime/on-abort.ts';
import { HttpFault } from './http-fault.ts';
import type { SourceResponse } from './source-http.ts';
import { type BodyReader, readBody } from './unpack.ts';

export interface SourceExchange {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** Larger than any page's head; a flood of headers ends here. */
const MOST_HEAD_BYTES = 32 * 1024;
/** What framing, TLS and informational responses may take beside the body. */
const MOST_OTHER_BYTES = 512 * 1024;
const WATCH_MS = 100;
/** Without a hint from the source, an idle connection is kept this long; few servers close one sooner. */
const IDLE_MS = 1_000;
const LONGEST_IDLE_MS = 4_000;
const IDLE_MARGIN_MS = 1_000;

export class SourceConnection {
  readonly openedAt = performance.now();
  exchanges = 0;
  /** Whether the last response was read to its end, so that another request may follow. */
  #isUsable = true;
  readonly #socket: Socket;
  readonly #wire: Socket;
  readonly #client: Client;

  /**
   * @param socket carries the HTTP messages
   * @param wire the underlying connection: the same, or the one below TLS
   */
  constructor(origin: string, socket: Socket, wire: Socket) {
    this.#socket = socket;
    this.#wire = wire;
    let handedOver = false;
    this.#client = new UndiciClient(origin, {
      // The one checked connection, and never a second one: this client has no other access to the network.
      connect: (_options, done) => {
        const gone = handedOver || socket.destroyed;
        handedOver = true;
        queueMicrotask(() => {
          if (gone || socket.destroyed) done(new NothingSent(), null);
          else done(null, socket);
        });
      },
      pipelining: 1,
      maxHeaderSize: MOST_HEAD_BYTES,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: LONGEST_IDLE_MS,
      keepAliveTimeoutThreshold: IDLE_MARGIN_MS,
    });
    socket.on('error', () => undefined);
  }

  get open(): boolean {
    return this.#isUsable && !this.#socket.destroyed;
  }

  onClose(listener: () => void): void {
    this.#socket.once('close', listener);
  }

  close(): void {
    this.#isUsable = false;
    this.#socket.destroy();
    this.#wire.destroy();
    this.#client.destroy(() => undefined);
  }

  /** @throws NothingSent, AttemptFailure, HttpFault; or the signal's reason. The connection is closed then. */
  async exchange({ method, path, headers, body, maxBytes, signal }: SourceExchange): Promise<SourceResponse> {
    this.exchanges++;
    const before = this.#wire.bytesRead;
    let abort: (reason: unknown) => void = () => undefined;
    const watch = setInterval(() => {
      if (this.#wire.bytesRead - before <= maxBytes + MOST_OTHER_BYTES) return;
      abort(new HttpFault('too_large', 'the source sends more bytes than a response needs'));
    }, WATCH_MS);
    const giveUp = () => abort(signal.reason);
    const leave = onAbort(signal, giveUp);
    try {
      return await new Promise<SourceResponse>((resolve, reject) => {
        abort = reject;
        if (signal.aborted) reject(signal.reason);
        else
          this.#client.dispatch({ method, path, headers: { ...headers }, body }, receiving(maxBytes, resolve, reject));
      });
    } catch (error) {
      this.close();
      throw error;
    } finally {
      clearInterval(watch);
      leave();
    }
  }
}

/** Reads one response: its status, its headers and its whole body. */
function receiving(
  maxBytes: number,
  resolve: (response: SourceResponse) => void,
  reject: (error: unknown) => void,
): Dispatcher.DispatchHandler {
  let sent = false;
  let reader: BodyReader | null = null;
  const fail = (error: unknown) => {
    reader?.destroy();
    reject(error);
  };
  return {
    onRequestStart: () => {
      sent = true;
    },
    onResponseStart(controller, status, received) {
      // An informational response: the final one is still to come.
      if (status < 200) return;
      const headers = flat(received);
      try {
        if (headers['content-encoding'] === undefined && Number(headers['content-length']) > maxBytes) {
          throw new HttpFault('too_large', `the body is longer than ${maxBytes} bytes`);
        }
        reader = readBody(headers['content-encoding'] ?? '', maxBytes, {
          done: (body) => resolve({ status, headers, body }),
          failed: fail,
          ready: () => controller.resume(),
        });
      } catch (error) {
        fail(error);
      }
    },
    onResponseData(controller, chunk) {
      if (reader && !reader.add(chunk)) controller.pause();
    },
    onResponseEnd() {
      reader?.end();
    },
    onResponseError: (_controller, error) => fail(sent ? exchangeFault(error) : new NothingSent()),
  };
}

/** The last of several headers of one name. */
const flat = (headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => {
      const last = [value].flat().at(-1);
      return last === undefined ? [] : [[name.toLowerCase(), last]];
    }),
  );

/** Maps an error of the client or of the connection. A body that was cut off is a fault, and no short body. */
function exchangeFault(error: NodeJS.ErrnoException): Error {
  if (error instanceof AttemptFailure || error instanceof HttpFault) return error;
  const { code = '' } = error;
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return new HttpFault('too_large', 'the head of the response is too long');
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' || RESETS.has(code)) {
    return new HttpFault('connection', 'the connection broke off before the response was complete');
  }
  if (code === 'ETIMEDOUT') return new HttpFault('timeout', 'the connection timed out');
  if (code.startsWith('ERR_SSL')) return new HttpFault('connection', `TLS failed (${code})`);
  return new HttpFault('unreadable', `not an HTTP response (${code || 'no code'})`);
}
