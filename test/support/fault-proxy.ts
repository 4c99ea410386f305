/** A TCP proxy that breaks its traffic, as a network, a dying server or a wrong one does. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * `reset`: each connection is reset at some point of its traffic. `garble`: it answers noise. `half-close`: the server
 * ends its side and keeps reading. `halve`: answers stop in the middle, and the connection stays open. `slow`: answers
 * come a few bytes at a time. `silent`: bytes vanish in both directions. `refuse`: connections end as they begin.
 */
export type Fault = 'reset' | 'garble' | 'half-close' | 'halve' | 'slow' | 'silent' | 'refuse';
export const FAULTS: readonly Fault[] = ['reset', 'garble', 'half-close', 'halve', 'slow', 'silent', 'refuse'];

/** A hundred bytes of an answer in about a second. */
const SLOW_BYTES = 2;
const SLOW_EVERY_MS = 20;

export interface FaultProxy {
  readonly port: number;
  /** Keeps a fault active until the next call; null clears it, and ends the connections that a fault has affected. */
  set(fault: Fault | null): void;
  close(): Promise<void>;
}

/** Numbers from 0 to below 1, the same ones for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** @param random decides where a connection is cut, and with what it is garbled */
export async function openFaultProxy(
  upstreamPort: number,
  random: () => number,
  upstreamHost = '127.0.0.1',
): Promise<FaultProxy> {
  let fault: Fault | null = null;
  /** Each connection, with whether a fault has affected it. */
  const connections = new Map<Socket, { touched: boolean }>();

  const server = createServer({ allowHalfOpen: true }, (client) => {
    if (fault === 'refuse') return client.resetAndDestroy();
    const upstream = connect({ port: upstreamPort, host: upstreamHost, allowHalfOpen: true, noDelay: true });
    client.setNoDelay(true);
    const state = { touched: false };
    connections.set(client, state);
    /** Bytes that this connection still carries before it is reset, or its answers stop. */
    let left = Math.floor(random() * 2_000);
    /** Answers that wait for their turn while bytes are sent slowly. */
    let waiting = Buffer.alloc(0);
    const trickle = setInterval(() => {
      if (waiting.length === 0) return;
      client.write(waiting.subarray(0, SLOW_BYTES));
      waiting = waiting.subarray(SLOW_BYTES);
    }, SLOW_EVERY_MS);
    const end = () => {
      clearInterval(trickle);
      connections.delete(client);
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) socket.on('error', end).on('close', end);
    const pass = (to: Socket, chunk: Buffer, answers: boolean) => {
      if (fault === null) return state.touched ? end() : void to.write(chunk);
      state.touched = true;
      if (fault === 'silent') return;
      if (fault === 'refuse') return end();
      if (fault === 'reset') {
        to.write(chunk.subarray(0, left));
        left -= chunk.length;
        if (left < 0) client.resetAndDestroy();
        return;
      }
      if (answers && (fault === 'slow' || waiting.length > 0)) {
        waiting = Buffer.concat([waiting, chunk]);
        return;
      }
      if (fault === 'halve' && answers) {
        to.write(chunk.subarray(0, Math.min(Math.max(0, left), chunk.length >> 1)));
        left = 0;
        return;
      }
      if (fault === 'half-close' && answers) return void client.end();
      // Noise from the first byte on: an answer that is wrong but plausible would be a different fault.
      if (fault === 'garble' && answers) return void to.write(noise(chunk.length, random));
      if (!to.writableEnded) to.write(chunk);
    };
    client.on('data', (chunk: Buffer) => pass(upstream, chunk, false)).on('end', () => upstream.end());
    upstream.on('data', (chunk: Buffer) => pass(client, chunk, true)).on('end', () => client.end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    set(next) {
      fault = next;
      if (next === null) {
        for (const [client, { touched }] of connections) if (touched) client.destroy();
      } else if (next === 'refuse') {
        for (const [client] of connections) client.resetAndDestroy();
      }
    },
    async close() {
      for (const [client] of connections) client.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

const noise = (length: number, random: () => number): Buffer =>
  Buffer.from(Array.from({ length }, () => Math.floor(random() * 256)));
