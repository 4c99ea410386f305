/** Opens what `docket audit verify` reads and where it remembers. It writes nothing to the storage of the service. */
import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Examiner, examinerHere } from '../audit/verify/examine.ts';
import type { Config } from '../config.ts';
import type { PayloadStore } from '../storage/payload-store.ts';
import type { RawEventLog } from '../storage/raw-events.ts';
import type { Database } from '../storage/sqlite/driver.ts';
import { openDatabase, openTemporary } from '../storage/sqlite/open-database.ts';
import { SqliteRawEvents } from '../storage/sqlite/raw-events.ts';
import { SqliteRawPayloads } from '../storage/sqlite/raw-payloads.ts';
import { asStorageFailure } from '../storage/sqlite/sqlite-file.ts';
import { canStartExaminer, startExaminer } from './audit-thread.ts';

export interface AuditStorage {
  readonly log: RawEventLog;
  readonly examiner: Examiner;
  /** Null if content is not compared. */
  readonly payloads: Pick<PayloadStore, 'getEncoded' | 'resolve'> | null;
  close(): Promise<void>;
}

/**
 * Opens the log, and the payload store if content is compared: an auditor of events needs no engine for content.
 * @throws StorageFailure if an engine does not answer
 */
export async function openAudit(config: Config, { content }: { readonly content: boolean }): Promise<AuditStorage> {
  const opened: { close(): Promise<void> }[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(opened.splice(0).map((one) => one.close()));
  };
  const kept = <Opened extends { close(): Promise<void> }>(one: Opened): Opened => {
    opened.push(one);
    return one;
  };
  try {
    if (config.engines) {
      const { openEventStoreRaw } = await import('../storage/eventstoredb/raw-events.ts');
      const log = kept(await openEventStoreRaw(config.engines.eventStore));
      const examiner = examinerHere(log, (stream, revision) => log.find(stream, revision));
      if (!content) return { log, examiner, payloads: null, close };
      const { openMongo } = await import('../storage/mongodb/open.ts');
      const { payloads } = kept(await openMongo(config.engines.mongo));
      return { log, examiner, payloads, close };
    }
    const path = join(config.dataDirectory, 'log.sqlite');
    const log = kept(new SqliteRawEvents(path));
    const examiner = kept(
      canStartExaminer() ? startExaminer(path) : examinerHere(log, (stream, revision) => log.findNow(stream, revision)),
    );
    return { log, examiner, payloads: content ? kept(new SqliteRawPayloads(path)) : null, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Marks a file as a checkpoint of a verification, so that no other database is ever written to. */
const CHECKPOINT_ID = 0x64636b74;

/** The file is another database, or no database. */
export class NoCheckpoint extends Error {
  readonly code = 'no_checkpoint';
  constructor(path: string) {
    super(`${path} is not a checkpoint of a verification`);
    this.name = 'NoCheckpoint';
  }
}

/** The file would be in a folder that does not exist. */
export class NoFolder extends Error {
  readonly code = 'no_folder';
  constructor(path: string) {
    super(`${path} cannot be created: there is no folder ${dirname(path)}`);
    this.name = 'NoFolder';
  }
}

/** The file cannot be created or written. */
export class CheckpointUnwritable extends Error {
  readonly code = 'checkpoint_unwritable';
  constructor(path: string, error: Error) {
    super(`${path} cannot be created or written: ${error.message}`, { cause: error });
    this.name = 'CheckpointUnwritable';
  }
}

/** A checkpoint is used by one run at a time. */
export class CheckpointInUse extends Error {
  readonly code = 'checkpoint_in_use';
  constructor(path: string) {
    super(`${path} is in use by another run`);
    this.name = 'CheckpointInUse';
  }
}

/** @throws NoCheckpoint, NoFolder, CheckpointUnwritable, CheckpointInUse, and errors of SQLite */
export function openCheckpoint(path: string): Database {
  // A folder that does not exist is most likely mistyped.
  if (!existsSync(dirname(path))) throw new NoFolder(path);
  const database = openWritable(path);
  try {
    const id = database.pragma('application_id', { simple: true });
    const isEmpty = database.pragma('page_count', { simple: true }) === 0;
    if (id !== CHECKPOINT_ID && !isEmpty) throw new NoCheckpoint(path);
    database.pragma('locking_mode = EXCLUSIVE');
    database.pragma('synchronous = NORMAL');
    database.pragma('cache_size = -8000');
    database.pragma(`application_id = ${CHECKPOINT_ID}`);
    return database;
  } catch (error) {
    database.close();
    const code = asStorageFailure(error)?.code;
    if (code === 'storage_corrupt') throw new NoCheckpoint(path);
    if (code === 'storage_busy') throw new CheckpointInUse(path);
    throw error;
  }
}

function openWritable(path: string): Database {
  try {
    if (existsSync(path) && !statSync(path).isFile()) throw new NoCheckpoint(path);
    return openDatabase(path, 0);
  } catch (error) {
    throw (error as NodeJS.ErrnoException).syscall === undefined
      ? error
      : new CheckpointUnwritable(path, error as Error);
  }
}

/** A database that is gone when it is closed, or when the process ends. TMPDIR says where it is. */
export function openScratch(): Database {
  const database = openTemporary();
  database.pragma('journal_mode = OFF');
  database.pragma('synchronous = OFF');
  database.pragma('cache_size = -8000');
  return database;
}
