/** Metrics of messages that sources push. What became of the entries in them is counted as that of feeds' items. */
import { Counter, type Registry } from 'prom-client';

/** What became of a message on its arrival. */
export type WebhookArrival = 'received' | 'repeated' | 'ignored' | 'unreadable' | 'refused';

export interface WebhookMetrics {
  webhookArrived(arrival: WebhookArrival): void;
}

const ARRIVALS: readonly WebhookArrival[] = ['received', 'repeated', 'ignored', 'unreadable', 'refused'];

export function webhookMetrics(registry: Registry): WebhookMetrics {
  const arrived = new Counter({
    name: 'docket_webhooks_total',
    help: 'Messages that CourtListener has pushed, by what became of them on arrival',
    labelNames: ['outcome'],
    registers: [registry],
  });
  // A counter shows its first increment only if it was 0 before.
  for (const outcome of ARRIVALS) arrived.inc({ outcome }, 0);
  return { webhookArrived: (outcome) => arrived.inc({ outcome }) };
}
