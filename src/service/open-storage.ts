/** Opens the configured storage, for the service and for commands that run at the same time. */
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { StorageCopies } from '../storage/copies.ts';
import { withPayloadsFirst } from '../storage/payloads-first.ts';
import { sqliteCopies } from '../storage/sqlite/copies.ts';
import { openSqlite, openSqliteLog } from '../storage/sqlite/open.ts';
import type { Storage } from '../storage/storage.ts';

/**
 * Opens the configured storage.
 * @throws StorageFailure if an engine does not answer
 */
export async function openStorage(
  config: Config,
  logger?: Pick<Logger, 'debug' | 'warn' | 'error'>,
  { logThread = false }: { readonly logThread?: boolean } = {},
): Promise<Storage> {
  if (!config.engines) return openSqlite({ directory: config.dataDirectory, logger, logThread });
  // Loaded only here, because the embedded engine needs neither client.
  const [{ openEventStore }, { openMongo }] = await Promise.all([
    import('../storage/eventstoredb/open.ts'),
    import('../storage/mongodb/open.ts'),
  ]);
  const log = await openEventStore(config.engines.eventStore, logger);
  try {
    const { payloads, readStore, copies, close } = await openMongo(config.engines.mongo);
    return {
      log: withPayloadsFirst(log, payloads),
      payloads,
      readStore,
      copies,
      async close() {
        await Promise.all([log.close(), close()]);
      },
    };
  } catch (error) {
    await log.close();
    throw error;
  }
}

export interface CopySource extends LogStorage {
  readonly copies: StorageCopies;
}

/**
 * Opens what a copy of the storage reads: no read models, so that their state cannot prevent a backup.
 * @throws StorageFailure if an engine does not answer
 */
export async function openCopySource(config: Config): Promise<CopySource> {
  if (config.engines) return openStorage(config);
  const { file, log, payloads, cells } = openSqliteLog(join(config.dataDirectory, 'log.sqlite'));
  const close = async (): Promise<void> => {
    await Promise.all([log.close(), payloads.close(), cells.close()]);
  };
  return { log, copies: sqliteCopies(file, null), close };
}

export type LogStorage = Pick<Storage, 'log' | 'close'>;

/**
 * Opens only the event log, for commands that read nothing else: an auditor needs no read models and no engine for them.
 * @throws StorageFailure if its engine does not answer
 */
export async function openEventLog(config: Config): Promise<LogStorage> {
  if (!config.engines) {
    const { log, payloads, cells } = openSqliteLog(join(config.dataDirectory, 'log.sqlite'));
    const close = async (): Promise<void> => {
      await Promise.all([log.close(), payloads.close(), cells.close()]);
    };
    return { log, close };
  }
  const { openEventStore } = await import('../storage/eventstoredb/open.ts');
  const log = await openEventStore(config.engines.eventStore);
  return { log, close: () => log.close() };
}
