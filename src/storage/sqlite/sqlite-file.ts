/**
 * One SQLite database file: opens it, migrates it to the newest schema, shares it with other processes and closes it.
 */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StorageFailure, type StorageFailureCode } from '../storage-failure.ts';
import { DatabaseFiles, type OpenedFile } from './database-files.ts';
import type { Database, Statement } from './driver.ts';
import { type Landmarks, lookAfresh } from './fresh-look.ts';
import { openDatabase } from './open-database.ts';
import { isUnreadableDisk } from './unreadable-disk.ts';

/** How long SQLite itself may wait for another process. It blocks the main thread, so the wait is short. */
const BUSY_ON_MAIN_THREAD_MS = 5;
/** At startup nothing else runs yet, and another process may be migrating. */
const BUSY_AT_OPEN_MS = 10_000;
/** How long one piece of work is retried while other processes hold the database. */
const BUSY_AT_ALL_MS = 15_000;

const LOOKS_DAMAGED: ReadonlySet<string> = new Set(['storage_corrupt', 'read_models_corrupt', 'storage_io_error']);

export interface SqliteFileOptions {
  readonly path: string;
  /** FULL: on disk before COMMIT returns. NORMAL: survives a process crash, but not a machine crash. */
  readonly synchronous: 'FULL' | 'NORMAL';
  /**
   * `migrations[n]` turns a schema of version n into version n + 1. Once released, entries are never changed, only
   * added.
   */
  readonly migrations: readonly string[];
  /**
   * The number of write-ahead log pages at which a commit checkpoints the log, if no other has; SQLite's default if
   * omitted.
   */
  readonly checkpointPages?: number | undefined;
  /** Whether all content can be rebuilt, so that a damaged file needs no backup. */
  readonly isDerived?: boolean;
  /** The files that another connection of this process opened; this one must have opened the same. */
  readonly opened?: readonly OpenedFile[];
  /** How to recognize the database after its file was written. */
  readonly landmarks?: Landmarks | undefined;
  /** Called once, when a file turns out to have been replaced or deleted while it was in use. */
  readonly onReplaced?: ((failure: StorageFailure) => void) | undefined;
}

export class SqliteFile {
  readonly database: Database;
  readonly #options: SqliteFileOptions;
  readonly #begin: Statement;
  readonly #commit: Statement;
  readonly #rollback: Statement;
  readonly #dataVersion: Statement<[], number>;
  readonly #files: DatabaseFiles;
  #landmarks: readonly string[] = [];
  /** Why reads and writes are blocked until a restart. */
  #replaced: StorageFailure | null = null;

  constructor(options: SqliteFileOptions) {
    this.#options = options;
    this.database = translated(options, () => openNewest(options));
    try {
      this.#files = translated(options, () => new DatabaseFiles(options.path, options.opened));
      this.assertInPlace();
    } catch (error) {
      this.database.close();
      throw error;
    }
    this.#begin = this.database.prepare('BEGIN IMMEDIATE');
    this.#commit = this.database.prepare('COMMIT');
    this.#rollback = this.database.prepare('ROLLBACK');
    this.#dataVersion = this.database.prepare<[], number>('PRAGMA data_version').pluck();
  }

  /** The files as opened, for another connection of this process. */
  get opened(): readonly OpenedFile[] {
    return this.#files.opened;
  }

  /** Changes whenever another connection, of this process or another one, has committed. */
  dataVersion(): number {
    return this.#dataVersion.get() ?? 0;
  }

  /**
   * Runs work that may find the database held by another process. If so, it retries without blocking the event loop in
   * between.
   * @throws StorageFailure for every fault of the database itself
   */
  async whenFree<Result>(work: () => Result): Promise<Result> {
    this.assertNotReplaced();
    const giveUpAt = performance.now() + BUSY_AT_ALL_MS;
    for (;;) {
      try {
        return translated(this.#options, work);
      } catch (error) {
        // Mixed pages of two databases look like damage, or like a failed disk.
        if (error instanceof StorageFailure && LOOKS_DAMAGED.has(error.code)) this.assertInPlace();
        const busy = error instanceof StorageFailure && error.code === 'storage_busy';
        if (!busy || performance.now() >= giveUpAt) throw error;
      }
      await sleep(1 + Math.random() * 10);
    }
  }

  /** All of the work or none of it, committed when the promise resolves. */
  async transaction<Result>(work: () => Result): Promise<Result> {
    return this.whenFree(() => this.transactionNow(work));
  }

  /**
   * As `transaction`, but synchronous. A commit counts only if the files are still in place after it: a commit to a
   * deleted file may be lost. The check before it lets most callers know that nothing was written.
   * @throws StorageFailure, also with `storage_busy` while another process writes
   */
  transactionNow<Result>(work: () => Result): Result {
    this.#assertInPlaceBeforeWriting();
    let committing = false;
    try {
      this.#begin.run();
      try {
        const result = work();
        committing = true;
        this.#commit.run();
        this.assertInPlace();
        return result;
      } catch (error) {
        // SQLite has already rolled back after some errors, such as a full disk.
        if (this.database.inTransaction) this.#rollback.run();
        throw error;
      }
    } catch (error) {
      throw asStorageFailure(error, !committing || leavesNoCommit(error)) ?? error;
    }
  }

  /**
   * Checks that each file of the database is still the one that was opened, with its own content.
   * @throws StorageFailure `storage_replaced` from the first failed check on, until the process ends
   */
  assertInPlace(): void {
    // A check after a write cannot tell whether that write was kept.
    if (this.#replaced) throw new StorageFailure('storage_replaced', this.#replaced.message);
    // Closing removes the files next to the database.
    if (!this.database.open) throw new StorageFailure('storage_closed', 'the storage is closed');
    const fault = translated(this.#options, () => this.#files.misplaced() ?? this.#overwritten());
    if (fault === null) return;
    this.noteReplaced(new StorageFailure('storage_replaced', fault));
    throw this.#replaced;
  }

  /** What happened to the content of the database file; null if it is the same database. */
  #overwritten(): string | null {
    const rewritten = this.#files.rewritten();
    if (rewritten === null) return null;
    const { path, landmarks } = this.#options;
    const look = lookAfresh(path, this.#landmarks, { ...rewritten, landmarks });
    // Held by another program: the next commit or check tries again.
    if (look === null) return null;
    if (look.isOther) return `${basename(path)} was overwritten with other content while it was in use (${path})`;
    this.#landmarks = look.landmarks;
    this.#files.accept();
    return null;
  }

  /** Another connection of this process found that a file was replaced, so this one stops too. */
  noteReplaced(failure: StorageFailure): void {
    if (this.#replaced) return;
    this.#replaced = failure;
    this.#options.onReplaced?.(failure);
  }

  /** @throws StorageFailure as `assertInPlace`, with `nothingWritten` */
  #assertInPlaceBeforeWriting(): void {
    try {
      this.assertInPlace();
    } catch (error) {
      const { code, message, hint } =
        error instanceof StorageFailure ? error : new StorageFailure('storage_unavailable', String(error));
      throw new StorageFailure(code, message, { cause: error, hint, nothingWritten: true });
    }
  }

  /** @throws StorageFailure `storage_replaced` if an earlier check has found it; does not check again */
  assertNotReplaced(): void {
    if (this.#replaced) throw new StorageFailure('storage_replaced', this.#replaced.message, { nothingWritten: true });
  }

  /**
   * Asks the system whether this process may write the file.
   * @throws StorageFailure if it may not, e.g. because the file system has become read-only
   */
  async checkAccess(): Promise<void> {
    this.assertInPlace();
    try {
      await access(this.#options.path, constants.W_OK);
    } catch (error) {
      throw asStorageFailure(error) ?? error;
    }
  }

  /** Runs work at startup, while no other process can write here. */
  aloneAtOpen<Result>(work: () => Result): Result {
    this.database.pragma(`busy_timeout = ${BUSY_AT_OPEN_MS}`);
    try {
      return translated(this.#options, () => this.transactionNow(work));
    } finally {
      this.database.pragma(`busy_timeout = ${BUSY_ON_MAIN_THREAD_MS}`);
    }
  }

  close(): void {
    this.database.close();
  }
}

function openNewest({ path, synchronous, migrations, checkpointPages }: SqliteFileOptions): Database {
  const database = openDatabase(path, BUSY_AT_OPEN_MS);
  try {
    database.pragma('journal_mode = WAL');
    database.pragma(`synchronous = ${synchronous}`);
    if (checkpointPages !== undefined) database.pragma(`wal_autocheckpoint = ${checkpointPages}`);
    // Removed content is overwritten, so that a court's sealing order also reaches the file.
    database.pragma('secure_delete = ON');
    database.pragma('cache_size = -16000');
    // A burst leaves a long write-ahead log behind; the next checkpoint frees the space.
    database.pragma('journal_size_limit = 67108864');
    migrate(database, path, migrations);
    database.pragma(`busy_timeout = ${BUSY_ON_MAIN_THREAD_MS}`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function migrate(database: Database, path: string, migrations: readonly string[]): void {
  const versionOf = () => Number(database.pragma('user_version', { simple: true }));
  if (versionOf() === migrations.length) return;
  const toNewest = database.transaction(() => {
    // Read again: another process may have migrated while this one waited for its turn.
    const version = versionOf();
    if (version > migrations.length) {
      throw new StorageFailure(
        'storage_too_new',
        `${path} has schema version ${version}; this service supports up to ${migrations.length}`,
      );
    }
    for (const migration of migrations.slice(version)) database.exec(migration);
    database.pragma(`user_version = ${migrations.length}`);
  });
  toNewest.immediate();
}

/**
 * Whether a failed COMMIT has certainly not written its commit mark to the write-ahead log. The mark comes last:
 * without it nothing counts, with it the next recovery treats everything as committed. A full disk rejects the write
 * itself. A failed sync comes after the mark, and so does missing space for the index next to the log (both
 * SQLITE_IOERR). After other write errors it is unknown how much was written.
 */
const leavesNoCommit = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'SQLITE_FULL';

const FAILURES: readonly (readonly [prefix: string, code: StorageFailureCode])[] = [
  ['SQLITE_BUSY', 'storage_busy'],
  ['SQLITE_LOCKED', 'storage_busy'],
  ['SQLITE_FULL', 'storage_full'],
  ['SQLITE_READONLY', 'storage_read_only'],
  ['SQLITE_PERM', 'storage_read_only'],
  ['SQLITE_CORRUPT', 'storage_corrupt'],
  ['SQLITE_NOTADB', 'storage_corrupt'],
  // The shared-memory file next to the log could not be enlarged.
  ['SQLITE_IOERR_SHMSIZE', 'storage_full'],
  ['SQLITE_IOERR', 'storage_io_error'],
  ['SQLITE_CANTOPEN', 'storage_unavailable'],
  ['SQLITE_PROTOCOL', 'storage_busy'],
  ['ENOSPC', 'storage_full'],
  ['EDQUOT', 'storage_full'],
  ['EROFS', 'storage_read_only'],
  ['EACCES', 'storage_read_only'],
  ['EPERM', 'storage_read_only'],
  ['EIO', 'storage_io_error'],
  ['ENXIO', 'storage_io_error'],
  ['ENODEV', 'storage_io_error'],
  ['ESTALE', 'storage_io_error'],
];

/**
 * Decides whether an error concerns one statement or the database as a whole.
 * @param nothingWritten what is known about the failed write, if it was a write
 */
export function asStorageFailure(error: unknown, nothingWritten = false): StorageFailure | null {
  if (error instanceof StorageFailure) return error;
  if (!(error instanceof Error)) return null;
  const options = { cause: error, nothingWritten };
  if (error instanceof TypeError && error.message === 'The database connection is not open') {
    return new StorageFailure('storage_closed', 'the storage is closed', options);
  }
  const code = 'code' in error ? String(error.code) : '';
  const failure = FAILURES.find(([prefix]) => code.startsWith(prefix));
  return failure ? new StorageFailure(failure[1], `${error.message} (${code})`, options) : null;
}

/** Databases whose content is known to be damaged; one long check of each is enough. */
const damaged = new WeakSet<SqliteFileOptions>();
/** Until when the disk of a database counts as failed, by `performance.now()`. A check reads the whole file. */
const diskFailedUntil = new WeakMap<SqliteFileOptions, number>();
const DISK_LOOK_EVERY_MS = 60_000;

function diskHasFailed(options: SqliteFileOptions): boolean {
  if (damaged.has(options)) return false;
  if (performance.now() < (diskFailedUntil.get(options) ?? 0)) return true;
  const failed = isUnreadableDisk(options.path);
  if (failed) diskFailedUntil.set(options, performance.now() + DISK_LOOK_EVERY_MS);
  return failed;
}

function translated<Result>(options: SqliteFileOptions, work: () => Result): Result {
  const { path, isDerived } = options;
  try {
    return work();
  } catch (error) {
    const failure = asStorageFailure(error);
    if (failure?.code !== 'storage_corrupt') throw failure ?? error;
    const { nothingWritten } = failure;
    const details = { cause: error, nothingWritten };
    if (diskHasFailed(options)) {
      throw new StorageFailure('storage_io_error', `${basename(path)} could not be read from its disk`, details);
    }
    damaged.add(options);
    // Only one of the two files is damaged, and only the log needs a backup.
    const code = isDerived ? 'read_models_corrupt' : 'storage_corrupt';
    throw new StorageFailure(code, `${basename(path)}: ${failure.message}`, details);
  }
}
