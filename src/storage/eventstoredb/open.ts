/** Opens the event log on EventStoreDB. */

import type { EventLog } from '../event-log.ts';
import type { TroubleLogger } from '../trouble.ts';
import { readConnectionString } from './connection-string.ts';
import { EventStoreEventLog } from './event-log.ts';

/**
 * @throws InvalidConnectionString
 * @throws StorageFailure if there is no answer, or the credentials are rejected
 */
export async function openEventStore(url: string, logger?: TroubleLogger): Promise<EventLog> {
  const log = new EventStoreEventLog(readConnectionString(url), logger);
  try {
    await log.check();
  } catch (error) {
    await log.close();
    throw error;
  }
  return log;
}
