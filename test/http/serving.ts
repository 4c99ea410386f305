import type { FastifyInstance } from 'fastify';
import { type Logger, pino } from 'pino';
import type { AnsweringService } from '../../src/http/send-problem.ts';
import { clockWithV1 } from '../support/clock-with-v1.ts';
import { answersByOwnRoutes } from '../support/watched-answers.ts';

export const PUBLIC_URL = 'https://dockets.example';
export const service: AnsweringService = { publicUrl: PUBLIC_URL, clock: clockWithV1 };
export const silent: Logger = pino({ level: 'silent' });

/** Listens on a free loopback port and returns it. */
export async function listen(app: FastifyInstance): Promise<number> {
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as { port: number };
  if (!app.hasRoute({ method: 'GET', url: '/v2/status' })) answersByOwnRoutes(app.server);
  return port;
}
