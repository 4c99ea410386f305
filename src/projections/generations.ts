/** Which generations of a projection there are, and what each is for: read from the log's acts and the read store. */
import {
  type ProjectionAct,
  type ProjectionActs,
  projectionActs,
  unfinishedMove,
} from '../commands/projection/projection-acts.ts';
import { decodeEvent } from '../events/codec.ts';
import { GenerationActivated, operatorStream, projectionSubject, RebuildStarted } from '../events/operator.ts';
import type { Instant } from '../runtime/instant.ts';
import type { EventLog, Position, RecordedEvent } from '../storage/event-log.ts';
import type { GenerationPointer, ReadStore } from '../storage/read-store.ts';

/**
 * `building`: readers do not see it yet. `previous`: they saw it before and can see it again. Both follow the log, as the
 * active one does.
 */
export type GenerationRole = 'active' | 'building' | 'previous';

export interface Generations {
  readonly pointer: GenerationPointer;
  readonly acts: ProjectionActs;
  /** Those in the read store, ascending. */
  readonly prepared: readonly number[];
  readonly roles: ReadonlyMap<number, GenerationRole>;
  /** When the rebuild that runs was started. */
  readonly startedAt: Instant | null;
  /** The position of the newest record that readers were moved; null before the first. */
  readonly movedAt: Position | null;
  /** When readers last left a generation. */
  readonly leftAt: ReadonlyMap<number, Instant>;
}

export interface GenerationStores {
  readonly log: Pick<EventLog, 'read'>;
  readonly readStore: Pick<ReadStore, 'generations' | 'generationPointer'>;
}

/** In this order: whatever the read store holds was decided before, so the acts that follow explain it. */
export async function readGenerations({ log, readStore }: GenerationStores, projection: string): Promise<Generations> {
  const prepared = await readStore.generations(projection);
  const { acts, recorded } = await readActs(log, projection);
  const pointer = await readStore.generationPointer(projection);
  const leftAt = new Map<number, Instant>();
  let startedAt: Instant | null = null;
  let movedAt: Position | null = null;
  for (const { type, data, metadata, position } of recorded) {
    if (type === RebuildStarted.type) startedAt = metadata.recordedAt;
    if (type !== GenerationActivated.type) continue;
    movedAt = position;
    leftAt.set(Number(data.previous), metadata.recordedAt);
  }
  return { pointer, acts, prepared, roles: rolesOf(acts, pointer, prepared), startedAt, movedAt, leftAt };
}

export async function readActs(
  log: Pick<EventLog, 'read'>,
  projection: string,
): Promise<{ readonly acts: ProjectionActs; readonly recorded: readonly RecordedEvent[] }> {
  const recorded = await log.read(operatorStream(projectionSubject(projection)));
  const acts = recorded.reduce(
    (state, event) => projectionActs.evolve(state, decodeEvent(event) as ProjectionAct),
    projectionActs.initialState,
  );
  return { acts, recorded };
}

/** What each generation is for. A kept one that was lost with the read store is not built again; a rebuild is. */
export function rolesOf(
  acts: ProjectionActs,
  { active, next }: GenerationPointer,
  prepared: readonly number[],
): ReadonlyMap<number, GenerationRole> {
  const roles = new Map<number, GenerationRole>([[active, 'active']]);
  const add = (generation: number | null | undefined, role: GenerationRole): void => {
    if (generation !== null && generation !== undefined && !roles.has(generation)) roles.set(generation, role);
  };
  add(acts.building?.generation, 'building');
  add(unfinishedMove(acts, active, prepared), 'building');
  for (const kept of acts.kept) if (prepared.includes(kept)) add(kept, 'previous');
  if (next !== null && prepared.includes(next)) add(next, 'building');
  return roles;
}

/** Generations that nothing needs any more. One that is newer than every act and the pointer is being prepared. */
export const uselessGenerations = ({ roles, prepared, acts, pointer }: Generations): readonly number[] =>
  prepared.filter((generation) => !roles.has(generation) && generation <= Math.max(acts.newest, pointer.active));

/** The lease under which one process at a time folds a generation, or removes it. */
export const generationLease = (projection: string, generation: number): string =>
  `projection/${projection}@${generation}`;
