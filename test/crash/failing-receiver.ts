/** A receiver of callbacks that fails at random, and remembers everything that reached it. */
import { createHash, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request that arrived whole. */
export interface Hit {
  readonly at: number;
  readonly idempotencyKey: string;
  readonly bodySha256: string;
  readonly requestId: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
  /** The status that the receiver answered; 0 if it did not answer. */
  status: number;
}

export interface FailingReceiver {
  readonly port: number;
  readonly hits: readonly Hit[];
  /** From now on it acknowledges everything. */
  heal(): void;
  close(): Promise<void>;
}

export async function openFailingReceiver(): Promise<FailingReceiver> {
  const hits: Hit[] = [];
  let healed = false;
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    const hit: Hit = {
      at: Date.now(),
      idempotencyKey: `${request.headers['idempotency-key']}`,
      bodySha256: createHash('sha256').update(body).digest('hex'),
      requestId: JSON.parse(body.toString()).payload.meta.request_id,
      headers: request.headers,
      body,
      status: 0,
    };
    hits.push(hit);
    const mood = healed ? 9 : randomInt(10);
    // Slow enough that kills hit running attempts.
    if (mood < 4) await new Promise((done) => setTimeout(done, randomInt(800)));
    if (mood === 0) return request.socket.destroy();
    if (mood === 1) return request.socket.resetAndDestroy();
    hit.status = mood < 6 ? ([500, 503, 404, 302][mood - 2] ?? 500) : 204;
    response.writeHead(hit.status).end();
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => request.socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    hits,
    heal() {
      healed = true;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
