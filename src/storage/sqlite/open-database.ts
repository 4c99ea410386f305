/**
 * Opens a database file. No code of any process opens a database, its `-wal` or its `-shm` except through SQLite
 * (docs/design/event-log.md#database-files), which test/storage/database-descriptors.test.ts enforces.
 */
import { accessSync, chmodSync, constants, existsSync, linkSync, mkdtempSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { makeFolder } from '../../runtime/make-folder.ts';
import { temporaryFolder } from '../../runtime/temporary-folder.ts';
import { StorageFailure } from '../storage-failure.ts';
import { Database } from './driver.ts';

/**
 * Opens a database that only its owner can read; creates the file and its folder if they are missing.
 * @param timeoutMs how long SQLite waits for a lock, milliseconds
 * @throws errors of `node:fs` and of SQLite
 */
export function openDatabase(path: string, timeoutMs: number): Database {
  makeFolder(dirname(path));
  if (!existsSync(path)) createPrivate(path);
  // SQLite gives -wal and -shm the permissions of the database.
  chmodSync(path, 0o600);
  // SQLite would silently open a file read-only if this user may not write it.
  accessSync(path, constants.W_OK);
  return new Database(path, { timeout: timeoutMs });
}

/**
 * Opens a database that exists, for one who may perhaps only read it. Nothing can be written on this connection, and
 * no permissions change.
 * @throws StorageFailure if SQLite would have to write beside it; errors of SQLite
 */
export function openToRead(path: string, timeoutMs: number): Database {
  const mayWrite = isAllowed(path, constants.W_OK);
  // A read-only connection would leave the files behind that SQLite creates beside a database.
  const database = new Database(path, { timeout: timeoutMs, fileMustExist: true, readonly: !mayWrite });
  try {
    if (mayWrite) database.pragma('query_only = ON');
    database.pragma('schema_version');
    return database;
  } catch (error) {
    database.close();
    const { code } = error as { code?: string };
    if (!/^SQLITE_(?:CANTOPEN|READONLY)/.test(code ?? '')) throw error;
    throw new StorageFailure(
      'storage_unavailable',
      `SQLite cannot create or open the files that it needs beside ${path} (${code})`,
      {
        cause: error,
        hint: 'If the folder is read-only: copy log.sqlite, and log.sqlite-wal if there is one, to a folder that you may write to, and set DATA_DIR to it.',
      },
    );
  }
}

/** Opens a database that may belong to another program, and never changes it. @throws errors of SQLite */
export const openUnchanged = (path: string): Database => new Database(path, { readonly: true, timeout: 0 });

function isAllowed(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

/**
 * A database in a file of SQLite's own that has no name: it is gone once it is closed, or its process ends. Without the
 * folder that TMPDIR names, SQLite would silently use another one, which in a container is in memory.
 * @throws StorageFailure if the folder cannot be used
 */
export function openTemporary(): Database {
  try {
    temporaryFolder();
  } catch (error) {
    throw new StorageFailure(
      'storage_unavailable',
      `the folder for temporary files cannot be used (${(error as Error).message})`,
      { cause: error, hint: 'Set TMPDIR to a folder with space that this user may write to.' },
    );
  }
  return new Database('');
}

/**
 * SQLite creates world-readable files. This one is created in a folder that only its owner can enter, and linked into
 * place once its permissions are set. So it is private from its first byte, whatever the permissions of the data
 * folder.
 */
function createPrivate(path: string): void {
  const folder = mkdtempSync(`${path}.new-`);
  try {
    const empty = join(folder, basename(path));
    new Database(empty).close();
    chmodSync(empty, 0o600);
    linkSync(empty, path);
  } catch (error) {
    if (existsSync(path)) return;
    const { syscall } = error as NodeJS.ErrnoException;
    if (syscall !== 'link') throw error;
    // The file system has no hard links: the file stays empty until the caller has set its permissions.
    new Database(path).close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
