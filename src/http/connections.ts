/** Which connections are open, and which of them an answer is owed on. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { lingering } from './linger.ts';

export interface Connections {
  /** Notes every connection of a server from now on. */
  watch(server: Server): void;
  /** Notes that an answer is now owed on a connection. */
  answering(socket: Socket, response: ServerResponse): void;
  isOwed(socket: Socket): boolean;
  /**
   * Closes every connection on which nothing is owed, one that has never sent a request included. One whose request is
   * still arriving after its answer is left to close by itself, so that the answer is not lost.
   */
  closeSilent(): void;
}

export function trackConnections(): Connections {
  /** With the newest answer on each: answers leave in the order of their requests, so once it is sent, all are. */
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
      if (hasBody(response.req)) response.once('finish', () => answered(response.req));
    },
    closeSilent() {
      for (const socket of open.keys()) if (!isOwed(socket) && !isLingering(socket)) socket.destroy();
    },
  };
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
