/** Opens the event log on EventStoreDB. */
import type { BaseLogger } from 'pino';
import type { EventLog } from '../event-log.ts';
import { readConnectionString } from './connection-string.ts';
import { EventStoreEventLog } from './event-log.ts';

/**
 * @throws InvalidConnectionString
 * @throws StorageFailure if nobody answers, or the credentials are refused
 */
export async function openEventStore(url: string, logger?: Pick<BaseLogger, 'warn'>): Promise<EventLog> {
  const log = new EventStoreEventLog(readConnectionString(url), logger);
  try {
    await log.check();
  } catch (error) {
    await log.close();
    throw error;
  }
  return log;
}
