/** Opens the event log as it is stored, for reading only. */
import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { RawEventLog } from '../storage/raw-events.ts';
import { SqliteRawEvents } from '../storage/sqlite/raw-events.ts';

/** @throws StorageFailure if it cannot be opened, or if the engine does not answer */
export async function openRawLog({ engines, dataDirectory }: Config): Promise<RawEventLog> {
  if (!engines) return new SqliteRawEvents(join(dataDirectory, 'log.sqlite'));
  const { openEventStoreRaw } = await import('../storage/eventstoredb/raw-events.ts');
  return openEventStoreRaw(engines.eventStore);
}
