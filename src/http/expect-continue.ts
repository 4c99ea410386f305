/** `Expect: 100-continue` (RFC 9110, 10.1.1): asks for a body only when a route is going to read it. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/**
 * Lets a request be answered without its body. By default Node asks for every body at once, so callers would send
 * megabytes only to be rejected.
 */
export function continueOnRead(server: Server): void {
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    const { shouldKeepAlive } = response;
    // If the body was not read, the start of the next request is unknown.
    response.shouldKeepAlive = false;
    const read = request._read;
    request._read = (size) => {
      request._read = read;
      if (!response.headersSent && !request.complete) {
        response.shouldKeepAlive = shouldKeepAlive;
        response.writeContinue();
      }
      request._read(size);
    };
    server.emit('request', request, response);
  });
}
