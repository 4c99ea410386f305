/** For commands that list a read model: if it is behind the log, they say that the list is incomplete. */
import type { Projection } from '../projections/projection.ts';
import type { EventLog } from '../storage/event-log.ts';
import type { ReadStore } from '../storage/read-store.ts';
import { type CliContext, note } from './command.ts';

export interface ShownStorage {
  readonly log: Pick<EventLog, 'readAll'>;
  readonly readStore: Pick<ReadStore, 'activeGeneration' | 'checkpoint'>;
}

/** What to do if a read model is behind the log. */
export const CATCH_UP_HINT =
  'Start the service, which catches up by itself. GET /readyz on its admin port shows its progress and what blocks it.';

/** Whether a read model shows every event of the log that concerns it. Works without a running service. */
export async function showsEverything(
  { log, readStore }: ShownStorage,
  { name, events: kinds }: Pick<Projection, 'name' | 'events'>,
): Promise<boolean> {
  const checkpoint = await readStore.checkpoint(name, await readStore.activeGeneration(name));
  const types = kinds.map(({ type }) => type);
  for await (const { events } of log.readAll(checkpoint, { by: 'types', types })) if (events.length > 0) return false;
  return true;
}

/** Says on stderr if a list is incomplete. */
export async function noteIfIncomplete(
  context: CliContext,
  storage: ShownStorage,
  projection: Pick<Projection, 'name' | 'events'>,
): Promise<void> {
  if (await showsEverything(storage, projection)) return;
  note(context, `This list is not complete: the read model ${projection.name} is behind the log. ${CATCH_UP_HINT}`);
}
