/** Metrics of sources that push dockets. */
import { Counter, type Registry } from 'prom-client';

/** What became of a pushed docket. */
export type PushOutcome = 'recorded' | 'unchanged' | 'refused';

export interface PushMetrics {
  docketsPushed(outcome: PushOutcome, count: number): void;
}

export function pushMetrics(registry: Registry): PushMetrics {
  const dockets = new Counter({
    name: 'docket_pushed_dockets_total',
    help: 'Dockets that sources have pushed, by what became of them',
    labelNames: ['outcome'],
    registers: [registry],
  });
  // A counter shows its first increment only if it was 0 before.
  for (const outcome of ['recorded', 'unchanged', 'refused'] satisfies PushOutcome[]) dockets.inc({ outcome }, 0);
  return { docketsPushed: (outcome, count) => dockets.inc({ outcome }, count) };
}
