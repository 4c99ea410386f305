/** The header that says which host a request is meant for (RFC 9112, 3.2). */
import type { IncomingMessage } from 'node:http';

/** How many of them a request has: of several, Node keeps the first and says nothing. */
export function countHosts({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') count++;
  }
  return count;
}
