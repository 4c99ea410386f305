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
  /** With the newest answer on each: answers leave in the order of their requests, so once it is sent, all are. */
  const open = new Map<Socket, ServerResponse | null>();
  const isOwed = (socket: Socket): boolean => open.get(socket)?.writableFinished === false;
  return {
    isOwed,
    watch(server) {
      server.on('connection', (socket: Socket) => {
        open.set(socket, null);
        socket.once('close', () => open.delete(socket));
      });
    },
    answering(socket, response) {
      open.set(socket, response);
    },
    closeSilent() {
      for (const socket of open.keys()) if (!isOwed(socket)) socket.destroy();
    },
  };
}
