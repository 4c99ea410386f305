/** The role that applies what CourtListener's webhooks brought. Every node receives them, and one at a time applies them. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { LiveSourceMetrics } from '../http/admin/metrics/source-metrics.ts';
import { createWebhooks } from '../processes/sources/webhooks.ts';
import type { ProjectionRunner } from '../projections/runner.ts';
import { untilProjected } from '../projections/until-projected.ts';
import type { Clock } from '../runtime/instant.ts';
import type { Storage } from '../storage/storage.ts';

export interface WebhookRoleOptions {
  readonly storage: Storage;
  readonly runner: Pick<ProjectionRunner, 'waitFor'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly owner: string;
  readonly metrics?: Pick<LiveSourceMetrics, 'itemsSeen'>;
}

export interface WebhookRole {
  /** Ends after the message under way, which is applied again if it was not finished. */
  stop(): Promise<void>;
}

export function startWebhookRole({ storage, runner, metrics, ...ports }: WebhookRoleOptions): WebhookRole {
  const stopping = new AbortController();
  const webhooks = createWebhooks({
    ...storage,
    ...ports,
    newId: randomUUID,
    sleep: (ms) => delay(ms),
    waitUntilProjected: untilProjected(runner),
    seen: (outcome, entries) => metrics?.itemsSeen('courtlistener', outcome, entries),
  }).run(stopping.signal);
  return {
    async stop() {
      stopping.abort();
      await webhooks;
    },
  };
}
