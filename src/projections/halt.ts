/** Where a projection halted at an event that it cannot fold; recorded, so that every process can show it. */
import { EventSkipped, operatorStream, projectionSubject } from '../events/operator.ts';
import type { Instant } from '../runtime/instant.ts';
import type { EventLog, Position } from '../storage/event-log.ts';
import type { ReadStore } from '../storage/read-store.ts';

export interface Halt {
  /** The event that fails. */
  readonly position: Position;
  readonly stream: string;
  readonly revision: number;
  readonly type: string;
  readonly error: string;
  readonly at: Instant;
}

const cellOf = (projection: string): string => `projection-halt/${projection}`;

/** Null if the projection is not halted. */
export async function readHalt(readStore: Pick<ReadStore, 'cell'>, projection: string): Promise<Halt | null> {
  const { value } = await readStore.cell(cellOf(projection));
  return value?.halt ? (value.halt as unknown as Halt) : null;
}

/** Records or clears a halt. The lease makes this process the only writer. */
export async function writeHalt(readStore: ReadStore, projection: string, halt: Halt | null): Promise<void> {
  for (;;) {
    const { version, value } = await readStore.cell(cellOf(projection));
    if (!halt && !value?.halt) return;
    if (await readStore.compareAndSet(cellOf(projection), version, { halt: halt && { ...halt } })) return;
  }
}

/** Positions of events that operators have skipped for a projection. They are recorded, so every rebuild skips them. */
export async function skippedPositions(log: EventLog, projection: string): Promise<ReadonlySet<Position>> {
  const acts = await log.read(operatorStream(projectionSubject(projection)));
  const skipped = new Set<Position>();
  for (const { type, data } of acts) {
    if (type === EventSkipped.type && data.projection === projection) skipped.add(String(data.position));
  }
  return skipped;
}
