/** Metrics in the Prometheus format (docs/design/operations.md#metrics), put together from their groups. */
import { Registry } from 'prom-client';
import { API_VERSION } from '../../v2/status.ts';
import { type CallbackMetrics, callbackMetrics } from './callback-metrics.ts';
import { type ChainMetrics, chainMetrics } from './chain-metrics.ts';
import { type HttpMetrics, httpMetrics } from './http-metrics.ts';
import { type NodeMetrics, nodeMetrics } from './node-metrics.ts';
import { type ProjectionMetrics, projectionMetrics } from './projection-metrics.ts';
import { type PurchaseMetrics, purchaseMetrics } from './purchase-metrics.ts';
import { type PushMetrics, pushMetrics } from './push-metrics.ts';
import { type LiveSourceMetrics, liveSourceMetrics } from './source-metrics.ts';
import { Sources, type SourcesOptions } from './sources.ts';
import { type WebhookMetrics, webhookMetrics } from './webhook-metrics.ts';

export interface Metrics
  extends HttpMetrics,
    PurchaseMetrics,
    CallbackMetrics,
    PushMetrics,
    LiveSourceMetrics,
    WebhookMetrics,
    ChainMetrics,
    ProjectionMetrics,
    NodeMetrics {
  readonly contentType: string;
  /** All metrics in the text format of Prometheus; callers at the same time get the same text. */
  text(): Promise<string>;
}

export function createMetrics(options: SourcesOptions = {}): Metrics {
  const registry = new Registry();
  const sources = new Sources(registry, options);
  let composing: Promise<string> | null = null;
  const compose = async (): Promise<string> => {
    await sources.refresh();
    // One by one: a metric that cannot be read must not hide the others.
    const parts = await Promise.all(
      registry.getMetricsAsArray().map(({ name }) => registry.getSingleMetricAsString(name).catch(() => '')),
    );
    return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
  };
  return {
    ...httpMetrics(registry),
    ...purchaseMetrics(registry, sources),
    ...callbackMetrics(registry, sources),
    ...pushMetrics(registry),
    ...liveSourceMetrics(registry, sources),
    ...webhookMetrics(registry),
    ...chainMetrics(registry),
    ...projectionMetrics(registry, sources),
    ...nodeMetrics(registry, sources, API_VERSION),
    contentType: registry.contentType,
    text() {
      composing ??= compose().finally(() => {
        composing = null;
      });
      return composing;
    },
  };
}
