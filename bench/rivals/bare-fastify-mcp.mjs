/**
 * A bare Fastify route that accepts JSON and sends a buffer: the lower bound for MCP's free tools. Arguments: port,
 * body file.
 */
import { readFileSync } from 'node:fs';
import { fastify } from 'fastify';

const [port, file] = process.argv.slice(2);
const body = readFileSync(file);
const app = fastify();
app.post('/v2/mcp', (_request, reply) => reply.type('application/json; charset=utf-8').send(body));
await app.listen({ port: Number(port), host: '127.0.0.1' });
process.on('SIGTERM', () => process.exit(0));
