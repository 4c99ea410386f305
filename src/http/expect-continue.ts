/** `Expect: 100-continue` (RFC 9110, 10.1.1): a body is called for only by whoever is going to read it. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/**
 * Lets a request be answered without its body. Node alone would ask for each body at once, and a caller would send
 * megabytes to be refused.
 */
export function continueOnRead(server: Server): void {
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    const { shouldKeepAlive } = response;
    // Without the body it cannot be known where the next request begins.
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
