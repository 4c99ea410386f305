/**
 * How a database file is opened, and the rule for all of them (event log, read models, local chain):
 *
 * **No code of any process opens a database, its `-wal` or its `-shm` except through SQLite:** not to create, read, copy,
 * hash or measure it. POSIX drops every lock that a process holds on a file as soon as the process closes *any*
 * descriptor of that file. SQLite knows and shares its descriptors between connections; a plain `open` and `close` beside
 * it silently unlocks the database, and the next foreign program that closes it deletes the write-ahead log in use.
 *
 * Calls that take a path and open no descriptor are allowed: `stat`, `access`, `exists`, `chmod`, `link`, `rename`, `rm`.
 * `truncate`, `copyFile`, `readFile` and streams open one. `test/storage/database-descriptors.test.ts` enforces the rule.
 */
import { accessSync, chmodSync, constants, existsSync, linkSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Database } from './driver.ts';

/**
 * Opens a database that only its owner can read; creates the file and its folder where they are missing.
 * @param timeoutMs how long SQLite waits for a lock, milliseconds
 * @throws errors of `node:fs` and of SQLite
 */
export function openDatabase(path: string, timeoutMs: number): Database {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  if (!existsSync(path)) createPrivate(path);
  // SQLite gives -wal and -shm the permissions of the database.
  chmodSync(path, 0o600);
  // SQLite would silently open a file read-only that this user may not write.
  accessSync(path, constants.W_OK);
  return new Database(path, { timeout: timeoutMs });
}

/**
 * SQLite creates files that everyone may read. Created in a folder that nobody else can enter, and linked to its place once
 * its permissions are set, the file is private from its first byte, whatever the permissions of the data folder.
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
    // A file system without hard links: the file is empty until the caller has set its permissions.
    new Database(path).close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
