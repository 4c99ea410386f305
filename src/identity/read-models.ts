/** Whether the read models were built from this log, judged by their checkpoints. */
import { readGenerations } from '../projections/generations.ts';
import type { Projection } from '../projections/projection.ts';
import type { EventLog, EventMark, Position, RecordedEvent } from '../storage/event-log.ts';
import type { ReadStore } from '../storage/read-store.ts';

/** The position of one projection. */
export interface Checkpoint {
  readonly projection: string;
  readonly generation: number;
  /** Null before the first commit. */
  readonly position: Position | null;
}

/** Why a read model cannot be continued from its checkpoint. */
export interface Discrepancy extends Checkpoint {
  readonly reason: string;
}

export async function readCheckpoints(
  readStore: ReadStore,
  projections: readonly Pick<Projection, 'name'>[],
): Promise<readonly Checkpoint[]> {
  return Promise.all(
    projections.map(async ({ name }) => {
      const generation = await readStore.activeGeneration(name);
      return { projection: name, generation, position: await readStore.checkpoint(name, generation) };
    }),
  );
}

/**
 * The checkpoints that are ahead of the log, or whose last event is not in the log. Checkpoints of an earlier version
 * name no event, so only their position is compared.
 * @param head of the log before this process wrote anything; null if the log holds no event
 */
export async function discrepancies(
  log: Pick<EventLog, 'read'>,
  readStore: ReadStore,
  checkpoints: readonly Checkpoint[],
  head: Position | null,
): Promise<readonly Discrepancy[]> {
  const found = await Promise.all(
    checkpoints.map(async (checkpoint): Promise<Discrepancy | null> => {
      const { projection, generation, position } = checkpoint;
      if (position === null) return null;
      if (head === null || position > head) {
        return { ...checkpoint, reason: `its checkpoint ${position} is ahead of the log, which ends at ${head}` };
      }
      const newest = await readStore.newestEvent(projection, generation);
      if (newest === null) return null;
      const held = await heldEvent(log, newest);
      if (held?.position === newest.position) return null;
      const { id, stream, revision } = newest;
      return {
        ...checkpoint,
        reason: `the log does not hold event ${id}, revision ${revision} of ${stream}, at ${newest.position}`,
      };
    }),
  );
  return found.filter((each) => each !== null);
}

/** This event, if the log holds it. Ids derive from command, stream and revision, so two logs never share one. */
export async function heldEvent(log: Pick<EventLog, 'read'>, mark: EventMark): Promise<RecordedEvent | null> {
  const [event] = await log.read(mark.stream, { from: mark.revision, limit: 1 });
  return event?.id === mark.id ? event : null;
}

/**
 * Starts a new generation at the beginning of the log and removes the old one. If the process dies in between, the old
 * documents remain but are not visible. Several nodes may do it at the same time: only one moves the pointer.
 */
export async function startOver(
  log: Pick<EventLog, 'read'>,
  readStore: ReadStore,
  { name, collections }: Projection,
  generation: number,
): Promise<void> {
  const { acts, prepared } = await readGenerations({ log, readStore }, name);
  // No number is used twice: documents of a rebuild may still have it.
  const next = Math.max(generation, acts.newest, ...prepared) + 1;
  const pointer = await readStore.generationPointer(name);
  if (pointer.active === generation) {
    await readStore.prepare(name, next, collections);
    await readStore.movePointer(name, pointer, { active: next, next: null });
  }
  await readStore.retireGeneration(name, generation);
}

/** The generations that readers do not see: those that are being built, and those kept for a rollback. */
export async function readCheckpointsBeside(
  readStore: ReadStore,
  projections: readonly Pick<Projection, 'name'>[],
): Promise<readonly Checkpoint[]> {
  const beside = projections.map(async ({ name }) => {
    const { active } = await readStore.generationPointer(name);
    const others = (await readStore.generations(name)).filter((generation) => generation !== active);
    return Promise.all(
      others.map(async (generation) => {
        return { projection: name, generation, position: await readStore.checkpoint(name, generation) };
      }),
    );
  });
  return (await Promise.all(beside)).flat();
}

/** Removes a generation that readers do not see. A rebuild starts it anew; one that was kept is gone. */
export async function dropBeside(readStore: ReadStore, projection: string, generation: number): Promise<void> {
  const pointer = await readStore.generationPointer(projection);
  if (pointer.active === generation) return;
  if (pointer.next === generation) await readStore.movePointer(projection, pointer, { ...pointer, next: null });
  await readStore.retireGeneration(projection, generation);
}
