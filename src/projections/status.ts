/**
 * How far each projection has come, from storage alone: for every process, with the service running or stopped. Lag is
 * shown three ways: events behind, seconds behind, and since when nothing has moved.
 */
import { type Clock, type Instant, MICROS_PER_SECOND, toMicros } from '../runtime/instant.ts';
import type { EventLog, Position } from '../storage/event-log.ts';
import type { ReadStore } from '../storage/read-store.ts';
import { type Halt, readHalt } from './halt.ts';
import type { Projection } from './projection.ts';

export interface GenerationReport {
  readonly generation: number;
  /** Everything up to this position is in its documents; null before its first event. */
  readonly position: Position | null;
  /** Events of the whole log after the position, counted up to `MOST_EVENTS_COUNTED`. */
  readonly eventsBehind: number;
  /** Age of the oldest of them; 0 if there is none. */
  readonly secondsBehind: number;
  /** When it last moved, in whichever process; null if it never has. */
  readonly lastProgressAt: Instant | null;
  /** The event at which it is halted. */
  readonly halt: Halt | null;
  /** Null unless they were counted. */
  readonly documents: number | null;
}

/** A generation that is built beside the one that readers see. */
export interface RebuildReport extends GenerationReport {
  /** The head of the log when it was started; null for an empty log. */
  readonly through: Position | null;
  /** 0 to 100; 100 once it has passed that head. */
  readonly percent: number;
  readonly startedAt: Instant;
  readonly by: string;
  readonly reason: string;
  /** Events a second that it may fold; null without a limit. */
  readonly maxRate: number | null;
  /** Events that operators had it skip. */
  readonly skipped: number;
}

export interface ProjectionReport {
  readonly projection: string;
  /** What readers see. */
  readonly active: GenerationReport;
  /** What they saw before the last swap, during its grace period. */
  readonly previous: (GenerationReport & { readonly retiresAt: Instant }) | null;
  readonly building: RebuildReport | null;
}

export interface ReportPorts {
  readonly log: Pick<EventLog, 'readAll' | 'countAfter' | 'read'>;
  readonly readStore: Pick<
    ReadStore,
    'generationPointer' | 'generations' | 'progress' | 'cell' | 'compareAndSet' | 'count'
  >;
  readonly projections: readonly Projection[];
  readonly clock: Clock;
}

export const MOST_EVENTS_COUNTED = 1_000_000;

/** @param options `documents` also counts documents, which reads an index of each collection */
export async function projectionReports(
  ports: ReportPorts,
  options: { readonly documents?: boolean } = {},
): Promise<readonly ProjectionReport[]> {
  return Promise.all(ports.projections.map((projection) => reportOf(ports, projection, options)));
}

async function reportOf(
  ports: ReportPorts,
  projection: Projection,
  options: { readonly documents?: boolean },
): Promise<ProjectionReport> {
  const { active } = await ports.readStore.generationPointer(projection.name);
  return {
    projection: projection.name,
    active: await generationReport(ports, projection, active, options),
    previous: null,
    building: null,
  };
}

async function generationReport(
  ports: ReportPorts,
  { name, collections }: Projection,
  generation: number,
  { documents = false }: { readonly documents?: boolean },
): Promise<GenerationReport> {
  const { log, readStore } = ports;
  const progress = await readStore.progress(name, generation);
  const position = progress?.position ?? null;
  const eventsBehind = await log.countAfter(position, MOST_EVENTS_COUNTED);
  let counted: number | null = documents ? 0 : null;
  for (const { name: collection } of documents ? collections : []) {
    counted = (counted ?? 0) + (await readStore.count({ collection }, generation));
  }
  return {
    generation,
    position,
    eventsBehind,
    secondsBehind: eventsBehind === 0 ? 0 : await secondsBehind(ports, position),
    lastProgressAt: progress?.movedAt ?? null,
    halt: await readHalt(readStore, name),
    documents: counted,
  };
}

/** Age of the oldest event after a position. */
export async function secondsBehind(
  { log, clock }: { readonly log: Pick<EventLog, 'readAll'>; readonly clock: Clock },
  position: Position | null,
): Promise<number> {
  for await (const { events } of log.readAll(position, { by: 'all' })) {
    const [oldest] = events;
    if (!oldest) continue;
    return Math.max(0, (clock.now() - toMicros(oldest.metadata.recordedAt)) / MICROS_PER_SECOND);
  }
  return 0;
}
