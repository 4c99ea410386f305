/**
 * How far each projection has come, from storage alone: for every process, with the service running or stopped. Lag is
 * shown three ways: events behind, seconds behind, and since when nothing has moved.
 */
import { type Clock, type Instant, MICROS_PER_MS, MICROS_PER_SECOND, toInstant, toMicros } from '../runtime/instant.ts';
import type { EventLog, Position } from '../storage/event-log.ts';
import type { ReadStore } from '../storage/read-store.ts';
import { type Generations, readGenerations } from './generations.ts';
import { type Halt, readHalt } from './halt.ts';
import { readPace } from './pacer.ts';
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
  /** Events folded into it so far. */
  readonly folded: number;
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
  /** How long a generation is kept after readers have left it. */
  readonly graceMs?: number;
}

export const MOST_EVENTS_COUNTED = 1_000_000;

/** How long a rollback is possible after a swap, unless configured otherwise. */
export const GRACE_MS = 24 * 3_600_000;

export interface ReportOptions {
  /** Also counts documents, which reads an index of each collection. */
  readonly documents?: boolean;
  /** Where counting the events behind stops; some engines must read them. */
  readonly countUpTo?: number;
}

export async function projectionReports(
  ports: ReportPorts,
  options: ReportOptions = {},
): Promise<readonly ProjectionReport[]> {
  return Promise.all(ports.projections.map((projection) => reportOf(ports, projection, options)));
}

async function reportOf(ports: ReportPorts, projection: Projection, options: ReportOptions): Promise<ProjectionReport> {
  const generations = await readGenerations(ports, projection.name);
  const { pointer, roles } = generations;
  const report = (generation: number) => generationReport(ports, projection, generation, options);
  const previous = generations.acts.kept.find((kept) => roles.get(kept) === 'previous');
  return {
    projection: projection.name,
    active: await report(pointer.active),
    previous:
      previous === undefined
        ? null
        : { ...(await report(previous)), retiresAt: retirementOf(generations, previous, ports.graceMs) },
    building: await rebuildReport(ports, projection.name, generations, report),
  };
}

/** When a generation that readers have left is dropped. */
export function retirementOf({ leftAt }: Generations, generation: number, graceMs: number = GRACE_MS): Instant {
  const left = leftAt.get(generation);
  return toInstant((left === undefined ? 0 : toMicros(left)) + graceMs * MICROS_PER_MS);
}

async function rebuildReport(
  { readStore }: ReportPorts,
  projection: string,
  { acts, startedAt }: Generations,
  report: (generation: number) => Promise<GenerationReport>,
): Promise<RebuildReport | null> {
  const { building } = acts;
  if (building === null || startedAt === null) return null;
  const { generation, through, by, reason } = building;
  const built = await report(generation);
  return {
    ...built,
    through,
    percent: percentOf(built.position, through),
    startedAt,
    by,
    reason,
    maxRate: await readPace(readStore, projection),
    skipped: acts.skipped.length,
  };
}

/** Positions grow with the log in every engine: by events, or by bytes. Their first digits are a number. */
function percentOf(position: Position | null, through: Position | null): number {
  if (through === null || (position !== null && position >= through)) return 100;
  return Math.min(99, Math.floor((reach(position) / reach(through)) * 100));
}

/** How far into the log a position is, in a unit of the engine. */
export const reach = (position: Position | null): number => (position === null ? 0 : Number(position.slice(0, 20)));

async function generationReport(
  ports: ReportPorts,
  { name, collections }: Projection,
  generation: number,
  { documents = false, countUpTo = MOST_EVENTS_COUNTED }: ReportOptions,
): Promise<GenerationReport> {
  const { log, readStore } = ports;
  const progress = await readStore.progress(name, generation);
  const position = progress?.position ?? null;
  const eventsBehind = await log.countAfter(position, countUpTo);
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
    folded: progress?.folded ?? 0,
    halt: await readHalt(readStore, name, generation),
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
