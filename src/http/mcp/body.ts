import type { IncomingMessage } from 'node:http';

/** Passes on the complete body, or null as soon as it is too large. Does nothing for a caller that disconnects. */
export function readBody(request: IncomingMessage, maxBytes: number, done: (body: Buffer | null) => void): void {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
    done(null);
    return;
  }
  const parts: Buffer[] = [];
  let length = 0;
  const end = () => done(parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts));
  const take = (part: Buffer) => {
    length += part.length;
    parts.push(part);
    if (length <= maxBytes) return;
    request.off('data', take);
    request.off('end', end);
    request.resume();
    done(null);
  };
  request.on('data', take);
  request.on('end', end);
  request.on('error', () => {});
}
