import { createServer } from 'node:net';

/** Ports of the loopback interface that are currently unused. All are held open until all are found, so they differ. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, () => {
      const server = createServer();
      return new Promise<typeof server>((resolve, reject) => {
        server.once('error', reject);
        server.listen(0, '127.0.0.1', () => resolve(server));
      });
    }),
  );
  return Promise.all(
    servers.map((server) => {
      const address = server.address();
      if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');
      return new Promise<number>((resolve) => server.close(() => resolve(address.port)));
    }),
  );
}
