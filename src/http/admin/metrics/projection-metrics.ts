/** Metrics of read models: how far each projection is behind the log, whether it is halted, and what is being rebuilt. */
import { Gauge, type Registry } from 'prom-client';
import type { GenerationRole } from '../../../projections/generations.ts';
import type { GenerationReport, ProjectionReport } from '../../../projections/status.ts';
import { MICROS_PER_SECOND, toMicros } from '../../../runtime/instant.ts';
import type { Sources } from './sources.ts';

export interface ProjectionMetrics {
  /** Sets the source for the state of the projections. */
  watchProjections(reports: () => Promise<readonly ProjectionReport[]>): void;
}

export function projectionMetrics(registry: Registry, sources: Sources): ProjectionMetrics {
  const gauge = <Label extends string>(name: string, help: string, ...labelNames: readonly Label[]) =>
    new Gauge({ name, help, labelNames: [...labelNames], registers: [registry] });
  const ofGeneration = (name: string, help: string) => gauge(name, help, 'projection', 'role');
  return {
    watchProjections(read) {
      const events = ofGeneration(
        'docket_projection_lag_events',
        'Events of the log that a generation of a projection has not passed yet',
      );
      const seconds = ofGeneration(
        'docket_projection_lag_seconds',
        'Age of the oldest event that a generation of a projection has not passed yet; 0 without one',
      );
      const halted = ofGeneration(
        'docket_projection_halted',
        'Whether a generation of a projection is halted at an event (1 or 0)',
      );
      const generation = ofGeneration(
        'docket_projection_generation',
        'Number of a generation of a projection: active (answers are read from it), building, or previous',
      );
      const progress = ofGeneration(
        'docket_projection_last_progress_timestamp_seconds',
        'When a generation of a projection last moved, on whichever node; no sample if it never has',
      );
      const percent = gauge(
        'docket_projection_rebuild_percent',
        'How much of the log a rebuild has folded, 0 to 100; no sample without a rebuild',
        'projection',
      );
      const show = (projection: string, role: GenerationRole, report: GenerationReport): void => {
        const labels = { projection, role };
        events.set(labels, report.eventsBehind);
        seconds.set(labels, report.secondsBehind);
        halted.set(labels, Number(report.halt !== null));
        generation.set(labels, report.generation);
        if (report.lastProgressAt) progress.set(labels, toMicros(report.lastProgressAt) / MICROS_PER_SECOND);
      };
      sources.add({
        name: 'projections',
        read,
        show(reports) {
          for (const each of [events, seconds, halted, generation, progress, percent]) each.reset();
          for (const { projection, active, building, previous } of reports ?? []) {
            show(projection, 'active', active);
            if (previous) show(projection, 'previous', previous);
            if (!building) continue;
            show(projection, 'building', building);
            percent.set({ projection }, building.percent);
          }
        },
      });
    },
  };
}
