/** Opens the embedded storage: event log, payload store and read store in one folder, for one or several processes. */
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { BaseLogger } from 'pino';
import { type Clock, systemClock } from '../../runtime/instant.ts';
import type { StorageCopies } from '../copies.ts';
import { freeBytes } from '../disk-space.ts';
import type { EventLog } from '../event-log.ts';
import type { PayloadStore } from '../payload-store.ts';
import type { ReadStore } from '../read-store.ts';
import { StorageFailure } from '../storage-failure.ts';
import { SqliteCells } from './cells.ts';
import { sqliteCopies } from './copies.ts';
import { SqliteEventLog } from './event-log.ts';
import { LogCommitter } from './log-committer.ts';
import { LogThread, type LogThreadOptions } from './log-thread.ts';
import { LogWatch } from './log-watch.ts';
import { emptyWriteAheadLog, SqlitePayloadStore } from './payload-store.ts';
import { SqliteReadStore } from './read-store.ts';
import { LOG_LANDMARKS, LOG_MIGRATIONS, READ_MIGRATIONS } from './schema.ts';
import { SqliteFile, type SqliteFileOptions } from './sqlite-file.ts';

export interface SqliteOptions {
  /** Created if it is missing, readable only by its owner. */
  readonly directory: string;
  readonly logger?: Pick<BaseLogger, 'debug' | 'error'> | undefined;
  /** The clock for the age of payloads. */
  readonly clock?: Clock;
  /** Whether a separate thread commits the log, for a process with many concurrent writers. */
  readonly logThread?: boolean | LogThreadOptions;
}

/** 32 MiB: the size of the read store's write-ahead log at which a commit checkpoints it itself. */
const CHECKPOINT_PAGES_BESIDE_THREAD = 8_000;

export interface SqliteStorage {
  readonly log: EventLog;
  readonly payloads: PayloadStore;
  readonly readStore: ReadStore;
  readonly copies: StorageCopies;
  /** Resolves once the log's thread accepts groups or has ended; immediately if there is none. */
  readonly logThreadStarted: Promise<void>;
  /** Bytes that can still be written to the folder; null if unknown. */
  freeBytes(): Promise<number | null>;
  /** Empties both write-ahead logs; false if a reader prevents it. */
  scrub(): Promise<boolean>;
  /** Commits pending writes, then closes all three. */
  close(): Promise<void>;
}

/**
 * Opens the three stores and brings their schemas to the newest version.
 * @throws StorageFailure if the folder cannot be used: read-only, full, its log corrupt, or written by a newer version
 */
export function openSqlite({
  directory,
  logger,
  clock = systemClock,
  logThread = false,
}: SqliteOptions): SqliteStorage {
  const readPath = join(directory, 'read.sqlite');
  const { file, log, payloads, cells, thread } = openSqliteLog(join(directory, 'log.sqlite'), clock, {
    logger,
    logThread: logThread && { alsoCheckpoints: readPath, ...(logThread === true ? {} : logThread) },
  });
  let readFile: SqliteFile;
  try {
    const options: SqliteFileOptions = {
      path: readPath,
      synchronous: 'NORMAL',
      migrations: READ_MIGRATIONS,
      // The thread checkpoints first, as long as there is one.
      checkpointPages: thread ? CHECKPOINT_PAGES_BESIDE_THREAD : undefined,
      isDerived: true,
      onReplaced: replacementAlarm(logger),
    };
    readFile = openDerived(options) ?? file.aloneAtOpen(() => openDerived(options) ?? openAnew(options, logger));
  } catch (error) {
    // Settled, so that a store that fails to close neither hides the original error nor ends the process.
    void Promise.allSettled([log.close(), payloads.close(), cells.close()]);
    throw error;
  }
  const readStore = new SqliteReadStore(readFile, cells);
  logger?.debug({ directory }, 'embedded storage opened');
  return {
    log,
    payloads,
    readStore,
    copies: sqliteCopies(file, readFile),
    logThreadStarted: thread?.started ?? Promise.resolve(),
    freeBytes: () => freeBytes(directory),
    async scrub() {
      const isLogEmpty = await payloads.emptyWriteAheadLog();
      return emptyWriteAheadLog(readFile.database) && isLogEmpty;
    },
    async close() {
      await Promise.all([log.close(), payloads.close(), readStore.close()]);
    },
  };
}

/** Null for a damaged file. */
function openDerived(options: SqliteFileOptions): SqliteFile | null {
  try {
    return new SqliteFile(options);
  } catch (error) {
    if (error instanceof StorageFailure && error.code === 'read_models_corrupt') return null;
    throw error;
  }
}

/**
 * Renames a damaged file, for later analysis, and starts a new one; its content is rebuilt from the log. Of several
 * processes that start at once only one may do this, so that none renames the file that another has just created.
 */
function openAnew(options: SqliteFileOptions, logger: SqliteOptions['logger']): SqliteFile {
  const { path } = options;
  const aside = `${path}.damaged`;
  logger?.error(
    { path, aside, alarm: 'read_models_corrupt' },
    'the read models are damaged: the file was renamed and is being rebuilt from the log; restart other processes that use this folder',
  );
  for (const beside of ['-wal', '-shm']) rmSync(path + beside, { force: true });
  renameSync(path, aside);
  return new SqliteFile(options);
}

/** Data that must not be lost, in one file and under one fsync: events, payloads, cells. */
export function openSqliteLog(
  path: string,
  clock: Clock = systemClock,
  { logger, logThread = false }: Pick<SqliteOptions, 'logger' | 'logThread'> = {},
): DurableStorage {
  const onReplaced = replacementAlarm(logger);
  const file = new SqliteFile({
    path,
    synchronous: 'FULL',
    migrations: LOG_MIGRATIONS,
    landmarks: LOG_LANDMARKS,
    onReplaced,
  });
  const watch = new LogWatch(file);
  const broke = (error: unknown) =>
    logger?.error({ err: error }, 'the thread that commits the log has ended; the main thread commits from now on');
  const thread = logThread
    ? LogThread.start({ path, opened: file.opened }, broke, logThread === true ? {} : logThread)
    : null;
  const committer = new LogCommitter(file, () => watch.wake(), thread);
  return {
    file,
    thread,
    log: new SqliteEventLog(file, committer, watch),
    payloads: new SqlitePayloadStore(file, committer, clock),
    cells: new SqliteCells(file, committer),
  };
}

const replacementAlarm =
  (logger: SqliteOptions['logger']) =>
  ({ code, message, hint }: StorageFailure): void =>
    logger?.error(
      { reason: message, code, hint, alarm: code },
      'a database file was replaced or deleted while in use: nothing more is recorded or sold until a restart',
    );

interface DurableStorage {
  readonly file: SqliteFile;
  readonly thread: LogThread | null;
  readonly log: SqliteEventLog;
  readonly payloads: SqlitePayloadStore;
  readonly cells: SqliteCells;
}
