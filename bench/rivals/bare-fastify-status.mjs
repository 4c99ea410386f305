/** A bare Fastify route that sends a buffer: the lower bound for `GET /v2/status`. Arguments: port, body file, ETag. */
import { readFileSync } from 'node:fs';
import { fastify } from 'fastify';

const [port, file, etag] = process.argv.slice(2);
const body = readFileSync(file);
const app = fastify();
app.get('/v2/status', (request, reply) => {
  if (request.headers['if-none-match'] === etag) return reply.code(304).header('etag', etag).send();
  return reply.header('content-encoding', 'br').header('etag', etag).type('application/json').send(body);
});
await app.listen({ port: Number(port), host: '127.0.0.1' });
process.on('SIGTERM', () => process.exit(0));
