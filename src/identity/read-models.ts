/** Whether the read models were built from this log, judged by their checkpoints. */
import { writeHalt } from '../projections/halt.ts';
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
 * documents remain but are not visible. Several nodes may do it at the same time.
 */
export async function startOver(
  readStore: ReadStore,
  { name, collections }: Projection,
  generation: number,
): Promise<void> {
  await readStore.prepare(name, generation + 1, collections);
  const pointer = await readStore.generationPointer(name);
  if (pointer.active === generation) await readStore.movePointer(name, pointer, { active: generation + 1, next: null });
  // The halt was recorded at a position of the other log.
  await writeHalt(readStore, name, null);
  await readStore.retireGeneration(name, generation);
}
