/** Opens the embedded storage: event log, payload store and read store in one folder, for one or several processes. */
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { BaseLogger } from 'pino';
import { type Clock, systemClock } from '../../runtime/instant.ts';
import { freeBytes } from '../disk-space.ts';
import type { EventLog } from '../event-log.ts';
import type { PayloadStore } from '../payload-store.ts';
import type { ReadStore } from '../read-store.ts';
import { StorageFailure } from '../storage-failure.ts';
import { SqliteCells } from './cells.ts';
import { SqliteEventLog } from './event-log.ts';
import { LogCommitter } from './log-committer.ts';
import { LogThread, type LogThreadOptions } from './log-thread.ts';
import { LogWatch } from './log-watch.ts';
import { SqlitePayloadStore } from './payload-store.ts';
import { SqliteReadStore } from './read-store.ts';
import { LOG_LANDMARKS, LOG_MIGRATIONS, READ_MIGRATIONS } from './schema.ts';
import { SqliteFile, type SqliteFileOptions } from './sqlite-file.ts';

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
  /** Resolves once the thread of the log accepts groups or has ended; at once where there is none. */
  readonly logThreadStarted: Promise<void>;
  /** Bytes that can still be written to the folder; null where nobody can say. */
  freeBytes(): Promise<number | null>;
  /** Commits what waits, then closes all three. */
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
      // The thread comes first, as long as there is one.
      checkpointPages: thread ? CHECKPOINT_PAGES_BESIDE_THREAD : undefined,
      isDerived: true,
      onReplaced: replacementAlarm(logger),
    };
    readFile = openDerived(options) ?? file.aloneAtOpen(() => openDerived(options) ?? openAnew(options, logger));
  } catch (error) {
    // Settled, so that one that fails to close does not hide why, or end the process.
    void Promise.allSettled([log.close(), payloads.close(), cells.close()]);
    throw error;
  }
  const readStore = new SqliteReadStore(readFile, cells);
  logger?.debug({ directory }, 'embedded storage opened');
  return {
    log,
    payloads,
    readStore,
    logThreadStarted: thread?.started ?? Promise.resolve(),
    freeBytes: () => freeBytes(directory),
    async close() {
      await Promise.all([log.close(), payloads.close(), readStore.close()]);
    },
  };
}

/** Null for a file that is damaged. */
function openDerived(options: SqliteFileOptions): SqliteFile | null {
  try {
    return new SqliteFile(options);
  } catch (error) {
    if (error instanceof StorageFailure && error.code === 'read_models_corrupt') return null;
    throw error;
  }
}

/**
 * Sets a damaged file aside, for whoever wants to know why, and begins a new one: all that it held is made again from
 * the log. Of processes that start at once one may do this, so that none sets aside what another has just made.
 */
function openAnew(options: SqliteFileOptions, logger: SqliteOptions['logger']): SqliteFile {
  const { path } = options;
  const aside = `${path}.damaged`;
  logger?.error(
    { path, aside, alarm: 'read_models_corrupt' },
    'the read models are damaged: they are set aside and made again from the log; restart what else uses this folder',
  );
  for (const beside of ['-wal', '-shm']) rmSync(path + beside, { force: true });
  renameSync(path, aside);
  return new SqliteFile(options);
}

/** What must not be lost, in one file and so under one fsync: events, payloads, cells. */
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
    logger?.error({ err: error }, 'the thread that commits the log is gone; the main thread commits from here on');
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
