/** Metrics of read models: how far each projection is behind the log, and whether it is halted. */
import { Gauge, type Registry } from 'prom-client';
import type { ProjectionStatus } from '../../../projections/runner.ts';
import { MICROS_PER_SECOND, toMicros } from '../../../runtime/instant.ts';
import type { Sources } from './sources.ts';

export interface ProjectionMetrics {
  /** Sets the source for the state of the projections. */
  watchProjections(status: () => Promise<readonly ProjectionStatus[]>): void;
}

export function projectionMetrics(registry: Registry, sources: Sources): ProjectionMetrics {
  const gauge = (name: string, help: string, labelNames: readonly string[] = ['projection']) =>
    new Gauge({ name, help, labelNames: [...labelNames], registers: [registry] });
  return {
    watchProjections(read) {
      const events = gauge('docket_projection_lag_events', 'Events of the log that a projection has not passed yet');
      const seconds = gauge('docket_projection_lag_seconds', 'Age of the oldest of these events; 0 without one');
      const halted = gauge('docket_projection_halted', 'Whether a projection is halted at an event (1 or 0)');
      const owned = gauge('docket_projection_owned', 'Whether this node runs the projection (1 or 0)');
      const generation = gauge('docket_projection_generation', 'Number of the generation that answers are read from');
      const progress = gauge(
        'docket_projection_last_progress_timestamp_seconds',
        'When this node last moved the projection; without a sample if it has not',
      );
      const all = [events, seconds, halted, owned, generation, progress];
      sources.add({
        name: 'projections',
        read,
        show(statuses) {
          for (const each of all) each.reset();
          for (const status of statuses ?? []) {
            const { projection, lastProgressAt } = status;
            events.set({ projection }, status.eventsBehind);
            seconds.set({ projection }, status.secondsBehind);
            halted.set({ projection }, Number(status.state === 'halted'));
            owned.set({ projection }, Number(status.state === 'running'));
            generation.set({ projection }, status.generation);
            if (lastProgressAt) progress.set({ projection }, toMicros(lastProgressAt) / MICROS_PER_SECOND);
          }
        },
      });
    },
  };
}
