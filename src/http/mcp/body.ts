import type { IncomingMessage } from 'node:http';

/** Gives the whole body once it is there, or null as soon as it is too large. A caller that breaks off is forgotten. */
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
