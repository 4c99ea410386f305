/** Tracks which connections are open and which still await an answer. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { lingering } from './linger.ts';

export interface Connections {
  /** Tracks every new connection of a server. */
  watch(server: Server): void;
  /** Records that an answer is now due on a connection. */
  answering(socket: Socket, response: ServerResponse): void;
  isOwed(socket: Socket): boolean;
  /**
   * Closes every connection that awaits no answer, even one that never sent a request. If a request is still arriving
   * after its answer, its connection closes by itself, so that the answer is not lost.
   */
  closeSilent(): void;
}

export function trackConnections(): Connections {
  /** The newest answer on each connection. Answers leave in request order, so once it is sent, all are. */
  const open = new Map<Socket, ServerResponse | null>();
  const { guard, answered, isLingering } = lingering();
  const isOwed = (socket: Socket): boolean => open.get(socket)?.writableFinished === false;
  return {
    isOwed,
    watch(server) {
      server.on('connection', (socket: Socket) => {
        open.set(socket, null);
        guard(socket, () => open.get(socket)?.req);
        socket.once('close', () => open.delete(socket));
      });
    },
    answering(socket, response) {
      open.set(socket, response);
      if (hasBody(response.req)) response.once('finish', () => answered(socket, response.req));
    },
    closeSilent() {
      for (const socket of open.keys()) if (!isOwed(socket) && !isLingering(socket)) socket.destroy();
    },
  };
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
