/**
 * Answers sent before their request has arrived completely. Closing a socket with unread bytes resets the connection,
 * and the reset destroys the answer on its way, so a proxy reports a failed server. So the rest of the request is read
 * and discarded first, within limits.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** Most bytes of a rejected body read after its answer; a caller that reads the answer stops long before. */
const LINGER_BYTES = 16 * 1024 * 1024;
/** The longest that a caller may take to send the rest. */
export const LINGER_MS = 5_000;
/** How often the bytes are counted. */
const COUNT_EVERY_MS = 50;

export interface Lingering {
  /** Whether a rejected body is still being read from the connection. */
  isLingering(socket: Socket): boolean;
  /** Makes sure that Node closes this connection only after the rest of its request has been read. */
  guard(socket: Socket, newestRequest: () => IncomingMessage | undefined): void;
  /**
   * Call it once an answer has been sent. It also limits the rest of the request on a connection that stays open.
   * @param socket of the request, which no longer names it once it is destroyed
   */
  answered(socket: Socket, request: IncomingMessage): void;
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
      socket.off('close', stop);
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
      // This is the only method by which Node closes a connection after its last answer.
      socket.destroySoon = () => {
        const request = newestRequest();
        if (socket.destroyed || request === undefined || request.complete) close.call(socket);
        else if (!draining.has(socket)) {
          // The caller reads the answer and the end of the stream, even while it is still sending.
          socket.end();
          drain(socket, request, () => close.call(socket));
        }
      };
    },
    answered(socket, request) {
      if (!request.complete && !socket.destroyed && !draining.has(socket)) drain(socket, request, () => {});
    },
  };
}
