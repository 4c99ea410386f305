import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { createOutbound } from '../../../src/callbacks/outbound/guarded-outbound.ts';

it('leaves the fetch of the process unchanged: Solana clients in it set their own Content-Length', async () => {
  const server = createServer((request, response) => request.resume().on('end', () => response.end('{}')));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const outbound = createOutbound({ trustedPairs: [new URL(url).host] });
  try {
    expect((await outbound.post({ url, headers: {}, body: Buffer.from('{}') })).responseCode).toBe(200);
    const headers = { 'content-type': 'application/json', 'content-length': '2' };
    expect((await fetch(url, { method: 'POST', headers, body: '{}' })).status).toBe(200);
    expect(Reflect.get(globalThis, Symbol.for('undici.globalDispatcher.2'))).toBeUndefined();
  } finally {
    await outbound.close();
    server.close();
  }
});
