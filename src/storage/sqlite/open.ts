/** Opens the embedded storage: event log, payload store and read store in one folder, for one or several processes. */
import { join } from 'node:path';
import type { BaseLogger } from 'pino';
import { type Clock, systemClock } from '../../instant.ts';
import type { EventLog } from '../event-log.ts';
import type { PayloadStore } from '../payload-store.ts';
import type { ReadStore } from '../read-store.ts';
import { SqliteCells } from './cells.ts';
import { SqliteEventLog } from './event-log.ts';
import { LogCommitter } from './log-committer.ts';
import { LogThread, type LogThreadOptions } from './log-thread.ts';
import { LogWatch } from './log-watch.ts';
import { SqlitePayloadStore } from './payload-store.ts';
import { SqliteReadStore } from './read-store.ts';
import { LOG_MIGRATIONS, READ_MIGRATIONS } from './schema.ts';
import { SqliteFile } from './sqlite-file.ts';

export interface SqliteOptions {
  /** Made if it is missing, readable by its owner alone. */
  readonly directory: string;
  readonly logger?: Pick<BaseLogger, 'debug' | 'error'> | undefined;
  /** What stamps the age of payloads. */
  readonly clock?: Clock;
  /** Whether the log is committed in a thread of its own, for a process with many writers at once. */
  readonly logThread?: boolean | LogThreadOptions;
}

/** 32 MiB: what the read store's write-ahead log may come to before a commit copies it back itself. */
const CHECKPOINT_PAGES_BESIDE_THREAD = 8_000;

export interface SqliteStorage {
  readonly log: EventLog;
  readonly payloads: PayloadStore;
  readonly readStore: ReadStore;
  /** Commits what waits, then closes all three. */
  close(): Promise<void>;
}

/**
 * Opens the three stores and brings their schemas to the newest version.
 * @throws StorageFailure if the folder cannot be used: read-only, full, corrupt, or written by a newer version
 */
export function openSqlite({
  directory,
  logger,
  clock = systemClock,
  logThread = false,
}: SqliteOptions): SqliteStorage {
  const readPath = join(directory, 'read.sqlite');
  const { log, payloads, cells, thread } = openSqliteLog(join(directory, 'log.sqlite'), clock, {
    logger,
    logThread: logThread && { alsoCheckpoints: readPath, ...(logThread === true ? {} : logThread) },
  });
  let readFile: SqliteFile;
  try {
    readFile = new SqliteFile({
      path: readPath,
      synchronous: 'NORMAL',
      migrations: READ_MIGRATIONS,
      // The thread comes first, as long as there is one.
      checkpointPages: thread ? CHECKPOINT_PAGES_BESIDE_THREAD : undefined,
    });
  } catch (error) {
    void log.close();
    void payloads.close();
    void cells.close();
    throw error;
  }
  const readStore = new SqliteReadStore(readFile, cells);
  logger?.debug({ directory }, 'embedded storage opened');
  return {
    log,
    payloads,
    readStore,
    async close() {
      await Promise.all([log.close(), payloads.close(), readStore.close()]);
    },
  };
}

/** What must not be lost, in one file and so under one fsync: events, payloads, cells. */
export function openSqliteLog(
  path: string,
  clock: Clock = systemClock,
  { logger, logThread = false }: Pick<SqliteOptions, 'logger' | 'logThread'> = {},
): DurableStorage {
  const file = new SqliteFile({ path, synchronous: 'FULL', migrations: LOG_MIGRATIONS });
  const watch = new LogWatch(file);
  const broke = (error: unknown) =>
    logger?.error({ err: error }, 'the thread that commits the log is gone; the main thread commits from here on');
  const thread = logThread ? LogThread.start(path, broke, logThread === true ? {} : logThread) : null;
  const committer = new LogCommitter(file, () => watch.wake(), thread);
  return {
    file,
    thread,
    log: new SqliteEventLog(file, committer, watch),
    payloads: new SqlitePayloadStore(file, committer, clock),
    cells: new SqliteCells(file, committer),
  };
}

interface DurableStorage {
  readonly file: SqliteFile;
  readonly thread: LogThread | null;
  readonly log: SqliteEventLog;
  readonly payloads: SqlitePayloadStore;
  readonly cells: SqliteCells;
}
