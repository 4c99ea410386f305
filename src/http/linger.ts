/**
 * Answers that leave before their request has arrived whole. A socket that is closed with bytes unread resets the
 * connection, and the reset destroys the answer on its way: a proxy then counts a failed server. So what is still coming is
 * read and thrown away first, within bounds.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** Most bytes of a refused body that are read after its answer; a caller that has the answer stops long before. */
export const LINGER_BYTES = 16 * 1024 * 1024;
/** Longest that a caller may take to send the rest. */
export const LINGER_MS = 5_000;
/** How often the bytes are counted. */
const COUNT_EVERY_MS = 50;

export interface Lingering {
  /** Whether a refused body is still being read from the connection. */
  isLingering(socket: Socket): boolean;
  /** Closes this connection, whenever Node does so after an answer, only when the rest of its request was read. */
  guard(socket: Socket, newestRequest: () => IncomingMessage | undefined): void;
  /** To be called when an answer has been sent. On a connection that stays open the rest of its request is bounded as well. */
  answered(request: IncomingMessage): void;
}

export function lingering({ maxBytes = LINGER_BYTES, maxMs = LINGER_MS } = {}): Lingering {
  const draining = new WeakSet<Socket>();

  const drain = (socket: Socket, request: IncomingMessage, whole: () => void): void => {
    draining.add(socket);
    const before = socket.bytesRead;
    const counting = setInterval(() => {
      if (socket.bytesRead - before > maxBytes) socket.destroy();
    }, COUNT_EVERY_MS);
    const late = setTimeout(() => socket.destroy(), maxMs);
    const stop = () => {
      clearInterval(counting);
      clearTimeout(late);
      draining.delete(socket);
    };
    request.once('end', () => {
      stop();
      whole();
    });
    socket.once('close', stop);
    request.resume();
  };

  return {
    isLingering: (socket) => draining.has(socket),
    guard(socket, newestRequest) {
      const close = socket.destroySoon;
      // Node ends a connection by this method alone once its last answer is handed over.
      socket.destroySoon = () => {
        const request = newestRequest();
        if (socket.destroyed || request === undefined || request.complete) close.call(socket);
        else if (!draining.has(socket)) {
          // The caller reads the answer, then the end of the stream, whether it has finished sending or not.
          socket.end();
          drain(socket, request, () => close.call(socket));
        }
      };
    },
    answered(request) {
      const { socket } = request;
      if (!request.complete && !socket.destroyed && !draining.has(socket)) drain(socket, request, () => {});
    },
  };
}
