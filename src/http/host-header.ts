/** The header that names the host of a request (RFC 9112, 3.2). */
import type { IncomingMessage } from 'node:http';

/** Counts them: of several Host headers, Node silently keeps only the first. */
export function countHosts({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') count++;
  }
  return count;
}
