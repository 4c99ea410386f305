/** What commands say that read a read model: where it lacks something of the log, they do not say that there is none. */
import type { Projection } from '../projections/projection.ts';
import type { EventLog } from '../storage/event-log.ts';
import type { ReadStore } from '../storage/read-store.ts';
import { type CliContext, note } from './command.ts';

export interface ShownStorage {
  readonly log: Pick<EventLog, 'readAll'>;
  readonly readStore: Pick<ReadStore, 'activeGeneration' | 'checkpoint'>;
}

/** What to do where a read model lacks something. */
export const CATCH_UP_HINT =
  'Start the service, which catches up by itself; GET /readyz on its admin port says how far it is and what halts it.';

/** Whether a read model shows every event of the log that is its business. No service need be running. */
export async function showsEverything(
  { log, readStore }: ShownStorage,
  { name, events: kinds }: Pick<Projection, 'name' | 'events'>,
): Promise<boolean> {
  const checkpoint = await readStore.checkpoint(name, await readStore.activeGeneration(name));
  const types = kinds.map(({ type }) => type);
  for await (const { events } of log.readAll(checkpoint, { by: 'types', types })) if (events.length > 0) return false;
  return true;
}

/** Says on stderr where a list lacks something. */
export async function noteIfIncomplete(
  context: CliContext,
  storage: ShownStorage,
  projection: Pick<Projection, 'name' | 'events'>,
): Promise<void> {
  if (await showsEverything(storage, projection)) return;
  note(context, `This list is not complete: the read model ${projection.name} is behind the log. ${CATCH_UP_HINT}`);
}
