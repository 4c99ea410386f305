/** Receivers with every kind of behaviour, on real sockets. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { createOutbound, type OutboundOptions } from '../../../src/callbacks/outbound/guarded-outbound.ts';
import type { PostOutcome } from '../../../src/callbacks/outbound/outbound.ts';

export interface Hostile {
  readonly port: number;
  readonly url: string;
  /** Number of accepted connections. */
  readonly connections: number;
  /** Everything received, on all connections. */
  received(): string;
  close(): Promise<void>;
}

/** What a receiver does with a connection; `request` resolves once a whole request has arrived. */
export type Temper = (socket: Socket, request: Promise<void>) => unknown;

export async function startHostile(temper: Temper, tls?: TlsOptions, host = '127.0.0.1'): Promise<Hostile> {
  let connections = 0;
  let text = '';
  const sockets = new Set<Socket>();
  const onConnection = (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    const request = new Promise<void>((resolve) => {
      let received = '';
      socket.on('data', (part: Buffer) => {
        received += part.toString('latin1');
        text += part.toString('latin1');
        const [head, body] = received.split('\r\n\r\n');
        if (body !== undefined && body.length >= Number(/content-length: (\d+)/i.exec(head!)?.[1] ?? 0)) resolve();
      });
    });
    temper(socket, request);
  };
  const server: Server = tls ? createTlsServer(tls, onConnection) : createServer(onConnection);
  server.on('tlsClientError', () => undefined);
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}/hook`,
    get connections() {
      return connections;
    },
    received: () => text,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A receiver that sends these bytes once it has the request, and keeps the connection open. */
export const sends =
  (bytes: string): Temper =>
  async (socket, request) => {
    await request;
    socket.write(bytes);
  };

/** Writes the same bytes until the connection ends; counts them. */
export function floods(begin: string, part: string): Temper & { sent: number } {
  const temper = Object.assign(
    async (socket: Socket, request: Promise<void>) => {
      await request;
      socket.write(begin);
      const pump = () => {
        while (!socket.destroyed && socket.write(part)) temper.sent += part.length;
        temper.sent += part.length;
        if (!socket.destroyed) socket.once('drain', () => setImmediate(pump));
      };
      pump();
    },
    { sent: 0 },
  );
  return temper;
}

/** Writes a text one character at a time, a few milliseconds apart, and starts over at its end. */
export const dribbles =
  (begin: string, text: string, everyMs = 10): Temper =>
  async (socket, request) => {
    await request;
    socket.write(begin);
    let at = 0;
    const timer = setInterval(() => socket.write(text[at++ % text.length]!), everyMs);
    socket.on('close', () => clearInterval(timer));
  };

export const BODY = Buffer.from('{"payload":{},"webhook":{}}');
/** For receivers that never answer; all others have enough time even on a busy machine. */
export const DEADLINE_MS = 400;
const AMPLE_MS = 10_000;

/** One attempt against a receiver with this behaviour, which is trusted by its port and closed afterwards. */
export async function attempt(
  temper: Temper,
  options: OutboundOptions & { readonly tls?: TlsOptions; readonly signal?: AbortSignal } = {},
): Promise<PostOutcome> {
  const { tls, signal, ...outboundOptions } = options;
  const hostile = await startHostile(temper, tls);
  const outbound = createOutbound({
    deadlineMs: AMPLE_MS,
    trustedPairs: [`127.0.0.1:${hostile.port}`],
    ...outboundOptions,
  });
  try {
    return await outbound.post({ url: hostile.url, headers: {}, body: BODY, ...(signal ? { signal } : {}) });
  } finally {
    await outbound.close();
    await hostile.close();
  }
}
