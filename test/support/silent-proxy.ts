/** A TCP proxy that can go silent: connections stay open and accept bytes, but nothing comes back. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface SilentProxy {
  readonly port: number;
  goSilent(): void;
  close(): void;
}

export async function silentProxy(target: { readonly host: string; readonly port: number }): Promise<SilentProxy> {
  const sockets = new Set<Socket>();
  let silent = false;
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    keep(client);
    if (silent) return;
    const upstream = keep(connect(target));
    client.on('data', (part) => void (silent || upstream.write(part)));
    upstream.on('data', (part) => void (silent || client.write(part)));
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => void (silent || client.destroy()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    goSilent() {
      silent = true;
    },
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
