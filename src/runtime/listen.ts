import type { FastifyInstance } from 'fastify';
import type { Undo } from './undo.ts';

/** Starts listening. Returns the base address, without a trailing slash. */
export async function listen(
  app: FastifyInstance,
  host: string,
  port: number,
  undo: Undo,
  part: string,
): Promise<string> {
  undo.add(part, () => app.close());
  await app.listen({ host, port });
  const address = app.server.address();
  const actual = typeof address === 'object' && address ? address.port : port;
  return `http://${reachableHost(host)}:${actual}`;
}

/** The form of a listening host in an address: a wildcard becomes this machine. */
export function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
