/** The admin port for operators and orchestrators: whether the process is alive and ready, and if not, why. */
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { AnsweringService } from '../send-problem.ts';
import { makeServer } from '../server.ts';
import { type Health, isReady } from './health.ts';
import type { Metrics } from './metrics/metrics.ts';

export interface AdminAppDependencies {
  readonly service: AnsweringService;
  readonly logger: Logger;
  readonly health: () => Health;
  readonly metrics: Pick<Metrics, 'contentType' | 'text'>;
  /** The data folder of this process; `docket doctor` compares it with its own. */
  readonly dataFolderId?: string | null;
}

/**
 * `GET /healthz`: 200 while the process is alive. `GET /readyz`: 200 once every part is ready, otherwise 503; the body
 * always lists each part with its reason. `GET /metrics`: for Prometheus.
 */
export function buildAdminApp({
  service,
  logger,
  health,
  metrics,
  dataFolderId,
}: AdminAppDependencies): FastifyInstance {
  const app = makeServer(service, logger, { audience: 'operators' });
  app.route({
    method: ['GET', 'HEAD'],
    url: '/healthz',
    handler: (_request, reply) => reply.header('cache-control', 'no-store').send({ status: 'alive' }),
  });
  app.route({
    method: ['GET', 'HEAD'],
    url: '/readyz',
    handler: (_request, reply) => {
      const parts = health();
      const ready = isReady(parts);
      return reply
        .code(ready ? 200 : 503)
        .header('cache-control', 'no-store')
        .send({ ready, data_folder_id: dataFolderId, parts });
    },
  });
  app.route({
    method: ['GET', 'HEAD'],
    url: '/metrics',
    handler: async (_request, reply) => {
      const text = await metrics.text();
      return reply.header('cache-control', 'no-store').type(metrics.contentType).send(text);
    },
  });
  return app;
}
