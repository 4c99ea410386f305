import { expect, it } from 'vitest';
import { makeServer } from '../../src/http/server.ts';
import { sendRaw } from './raw-request.ts';
import { listen, service, silent } from './serving.ts';

it('handles no pipelined request after an answer that closes the connection', async () => {
  const handled: string[] = [];
  const app = makeServer(service, silent);
  app.get('/:name', async ({ url }, reply) => {
    handled.push(url);
    if (url === '/last') reply.header('connection', 'close');
    return { url };
  });
  try {
    const port = await listen(app);
    const ahead = ['first', 'last', 'behind', 'far-behind'].map((name) => `GET /${name} HTTP/1.1\r\nhost: x\r\n\r\n`);
    const received = await sendRaw(port, ahead.join(''));
    expect(received.split('HTTP/1.1 200').length - 1).toBe(2);
    expect(handled).toEqual(['/first', '/last']);
  } finally {
    await app.close();
  }
});
