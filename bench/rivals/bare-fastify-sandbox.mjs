/** A bare Fastify route that sends a buffer: the lower bound for the sandbox. Arguments: port, body file. */
import { readFileSync } from 'node:fs';
import { fastify } from 'fastify';

const [port, file] = process.argv.slice(2);
const body = readFileSync(file);
const app = fastify();
app.get('/v2/case', (_request, reply) => reply.type('application/json; charset=utf-8').send(body));
await app.listen({ port: Number(port), host: '127.0.0.1' });
process.on('SIGTERM', () => process.exit(0));
