import { connect, type Socket } from 'node:net';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type HeldAnswer, inOrderOfEviction } from '../../src/http/eviction-order.ts';
import { notePurchase } from '../../src/http/request-log.ts';
import { makeServer } from '../../src/http/server.ts';
import { type CloseReason, createUnreadAnswers } from '../../src/http/unread-answers.ts';
import { listen, service, silent } from './serving.ts';

const MEBIBYTE = 1024 * 1024;

describe('the order in which unread answers are dropped', () => {
  const held = (connection: string, more: Partial<HeldAnswer<string>> = {}): HeldAnswer<string> => ({
    connection,
    client: connection,
    paid: false,
    pending: MEBIBYTE,
    young: false,
    rate: 0,
    ...more,
  });
  const order = (answers: readonly HeldAnswer<string>[]) => [...inOrderOfEviction(answers)];

  it('starts with the clients that hold the most: fresh connections do not push out a steady reader', () => {
    const steady = held('steady', { pending: 14 * MEBIBYTE, rate: 4_000 });
    const attackers = Array.from({ length: 20 }, (_, i) =>
      held(`fresh ${i}`, { client: `attacker ${i % 5}`, pending: 13 * MEBIBYTE, young: true }),
    );
    const dropped = order([steady, ...attackers]);
    expect(dropped.slice(0, 15)).not.toContain('steady');
    expect(dropped).toHaveLength(20);
  });

  it('drops the slowest of one client first, and those too young to have been read last', () => {
    const client = 'one';
    const answers = [
      held('young', { client, young: true }),
      held('fast', { client, rate: 9 }),
      held('slow', { client, rate: 1 }),
      held('other', { pending: 1 }),
    ];
    expect(order(answers)).toEqual(['slow', 'fast', 'young']);
  });

  it('drops no paid answer before an unpaid one, drops none twice, and keeps one', () => {
    const answer = fc.record({
      client: fc.constantFrom(null, 'a', 'b', 'c'),
      paid: fc.boolean(),
      pending: fc.integer({ min: 1, max: 100 }),
      young: fc.boolean(),
      rate: fc.integer({ min: 0, max: 3 }),
    });
    fc.assert(
      fc.property(fc.array(answer, { maxLength: 12 }), (parts) => {
        const answers = parts.map((part, connection) => ({ ...part, connection }));
        const dropped = [...inOrderOfEviction(answers)];
        const paid = dropped.map((connection) => answers[connection]!.paid);
        expect(paid).toEqual([...paid].sort());
        expect(new Set(dropped).size).toBe(dropped.length);
        expect(dropped).toHaveLength(Math.max(0, answers.length - 1));
      }),
    );
  });
});

describe('unread answers', () => {
  /** More than the buffers of the system accept; what is accepted of a write counts until all of it is. */
  const body = Buffer.alloc(12 * MEBIBYTE, ' ');
  const closed: CloseReason[] = [];
  let pending: () => number = () => 0;
  const app = makeServer(service, silent, {
    unread: createUnreadAnswers({
      limits: { perAddress: MEBIBYTE, inAll: 4.5 * body.length, patienceMs: 60_000, leastBytes: 1 },
      metrics: {
        watchUnread: (read) => {
          pending = read;
        },
        unreadClosed: (reason) => {
          closed.push(reason);
        },
      },
    }),
  });
  app.get('/free', (_request, reply) => reply.send(body));
  app.get('/paid', (_request, reply) => {
    notePurchase(reply.raw);
    return reply.send(body);
  });
  let port: number;
  const sockets: Socket[] = [];
  beforeAll(async () => {
    port = await listen(app);
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await vi.waitFor(() => expect(pending()).toBe(0), { timeout: 10_000 });
    closed.length = 0;
  });
  afterAll(() => app.close());

  /** Sends a request and reads nothing; resolves once the answer waits, or was dropped. */
  async function ask(path: string, localAddress: string): Promise<Socket> {
    const [held, gone] = [pending(), closed.length];
    const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => {});
    sockets.push(socket);
    socket.pause();
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
    await vi.waitFor(() => expect(pending() !== held || closed.length > gone).toBe(true), {
      timeout: 10_000,
      interval: 5,
    });
    return socket;
  }

  const lengthOf = async (socket: Socket): Promise<number> => {
    let length = 0;
    for await (const part of socket) length += part.length;
    return length;
  };

  it('reach a client that paid for three at once, regardless of other clients', async () => {
    const paid = [];
    for (let i = 0; i < 3; i++) paid.push(await ask('/paid', '127.0.0.1'));
    expect(closed).toEqual([]);
    for (let i = 2; i < 8; i++) await ask('/free', `127.0.0.${i}`);
    expect(new Set(closed)).toEqual(new Set(['total']));
    const lengths = await Promise.all(paid.map(lengthOf));
    expect(Math.min(...lengths)).toBeGreaterThan(body.length);
  });

  it('are limited per address if they are free', async () => {
    await ask('/free', '127.0.0.9');
    await ask('/free', '127.0.0.9');
    expect(closed).toEqual(['address']);
  });
});
