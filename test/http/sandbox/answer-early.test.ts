import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { makeServer } from '../../../src/http/server.ts';
import { listen, service, silent } from '../serving.ts';

let app: FastifyInstance;
afterEach(() => app.close());

async function serving(answerEarly: (request: IncomingMessage, response: ServerResponse) => boolean) {
  app = makeServer(service, silent, { answerEarly });
  app.get('/docs', async () => 'from the route');
  const port = await listen(app);
  return () => fetch(`http://127.0.0.1:${port}/docs`);
}

describe('an early answer that fails', () => {
  it('leaves the request to its route, and keeps the process alive', async () => {
    const get = await serving(() => {
      throw new Error('no prepared answer');
    });
    for (const _ of [1, 2]) expect(await (await get()).text()).toBe('from the route');
  });

  it('halfway ends the connection, and the next request is answered', async () => {
    let broken = true;
    const get = await serving((_request, response) => {
      if (!broken) return false;
      response.writeHead(200, { 'content-length': '100' });
      response.write('half');
      throw new Error('the other half is missing');
    });
    await expect(get().then((response) => response.text())).rejects.toThrow();
    broken = false;
    expect(await (await get()).text()).toBe('from the route');
  });
});
