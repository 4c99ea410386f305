/** Where a projection halted at an event that it cannot fold; recorded, so that every process can show it. */
import { isSkipped } from '../commands/projection/projection-acts.ts';
import type { Instant } from '../runtime/instant.ts';
import type { EventLog, Position, RecordedEvent } from '../storage/event-log.ts';
import type { ReadStore } from '../storage/read-store.ts';
import { readActs } from './generations.ts';

export interface Halt {
  /** The event that fails. */
  readonly position: Position;
  readonly stream: string;
  readonly revision: number;
  readonly type: string;
  readonly error: string;
  readonly at: Instant;
}

const cellOf = (projection: string, generation: number): string => `projection-halt/${projection}@${generation}`;

/** Null if the generation is not halted. */
export async function readHalt(
  readStore: Pick<ReadStore, 'cell'>,
  projection: string,
  generation: number,
): Promise<Halt | null> {
  const { value } = await readStore.cell(cellOf(projection, generation));
  return value?.halt ? (value.halt as unknown as Halt) : null;
}

/** Records or clears a halt. The lease makes this process the only writer. */
export async function writeHalt(
  readStore: Pick<ReadStore, 'cell' | 'compareAndSet'>,
  projection: string,
  generation: number,
  halt: Halt | null,
): Promise<void> {
  const cell = cellOf(projection, generation);
  for (;;) {
    const { version, value } = await readStore.cell(cell);
    if (!halt && !value?.halt) return;
    if (await readStore.compareAndSet(cell, version, { halt: halt && { ...halt } })) return;
  }
}

/** Which events operators have skipped for a projection. They are recorded, so every rebuild skips them. */
export async function skippedEvents(
  log: Pick<EventLog, 'read'>,
  projection: string,
): Promise<(event: Pick<RecordedEvent, 'position' | 'id'>) => boolean> {
  const { skipped } = (await readActs(log, projection)).acts;
  return (event) => skipped.some((one) => isSkipped(one, event));
}

/** The very command that ends a halt. */
export const skipCommand = (projection: string, position: Position): string =>
  `docket projections skip ${projection} --position ${position} --reason "…"`;
