import { connect } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeServer } from '../../src/http/server.ts';
import { parseAnswer, sendRaw } from './raw-request.ts';
import { listen, service, silent } from './serving.ts';

describe('a slow sender', () => {
  let app: FastifyInstance;
  let port: number;
  beforeAll(async () => {
    app = makeServer(service, silent);
    app.get('/', async () => ({}));
    app.post('/', async () => ({}));
    port = await listen(app);
  });
  afterAll(() => app.close());

  it('gets an error and is disconnected when the headers take longer than 10 s, without delaying others', async () => {
    const began = performance.now();
    const slow = sendRaw(port, 'GET / HTTP/1.1\r\nhost: x\r\nx-never-', { patienceMs: 20_000 });
    const others = await Promise.all(Array.from({ length: 50 }, () => fetch(`http://127.0.0.1:${port}/`)));
    expect(others.every(({ status }) => status === 200)).toBe(true);
    const answer = parseAnswer(await slow);
    expect([answer.status, answer.json.error.code]).toEqual([400, 'invalid_parameter']);
    expect(answer.json.error.message).toContain('in time');
    expect(performance.now() - began).toBeLessThan(15_000);
  }, 30_000);

  it('is disconnected when the body takes longer than 30 s, even if it trickles', async () => {
    const began = performance.now();
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.resume();
    socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n');
    const trickle = setInterval(() => socket.write(' '), 500);
    await new Promise((closed) => socket.once('close', closed));
    clearInterval(trickle);
    const seconds = (performance.now() - began) / 1000;
    expect(seconds).toBeGreaterThan(25);
    expect(seconds).toBeLessThan(40);
  }, 60_000);
});
