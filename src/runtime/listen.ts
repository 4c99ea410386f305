import type { FastifyInstance } from 'fastify';
import type { Undo } from './undo.ts';

/** Begins to answer. Gives the base address, without a slash at the end. */
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

/** How a host that is listened on is written in an address: a wildcard stands for this machine. */
export function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
