/** Which connections are open, and which of them an answer is owed on. */
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface Connections {
  /** Notes every connection of a server from now on. */
  watch(server: Server): void;
  /** Notes that an answer is now owed on a connection. */
  answering(socket: Socket, response: ServerResponse): void;
  isOwed(socket: Socket): boolean;
  /** Closes every connection on which nothing is owed, one that has never sent a request included. */
  closeSilent(): void;
}

export function trackConnections(): Connections {
  const open = new Set<Socket>();
  /** Answers leave in the order of their requests: once the newest is sent, all are. */
  const newest = new WeakMap<Socket, ServerResponse>();
  const isOwed = (socket: Socket): boolean => newest.get(socket)?.writableFinished === false;
  return {
    isOwed,
    watch(server) {
      server.on('connection', (socket: Socket) => {
        open.add(socket);
        socket.once('close', () => open.delete(socket));
      });
    },
    answering(socket, response) {
      newest.set(socket, response);
    },
    closeSilent() {
      for (const socket of open) if (!isOwed(socket)) socket.destroy();
    },
  };
}
