/**
 * Distinguishes an unreadable disk from a damaged database. SQLite reports both as `SQLITE_CORRUPT`: it treats a read
 * that failed with EIO as file system damage. Restoring a backup is right only for damage; after a lost disk it would
 * discard everything recorded since the backup.
 */
import { Database } from './driver.ts';

const PRIMARY_CODE = 0xff;
const SQLITE_IOERR = 10;
/** How `integrity_check` reports a page that it could not read: with SQLite's own result code. */
const PAGE_ERROR = /error code=(\d+)/g;

/**
 * Reads a database that failed with `SQLITE_CORRUPT` once more, on a new connection with nothing cached. Blocks while
 * it reads the file, at most up to its first fault.
 * @returns true if reading fails, or no longer fails at all; false if the content itself is damaged
 */
export function isUnreadableDisk(path: string): boolean {
  try {
    const database = new Database(path, { fileMustExist: true, timeout: 0 });
    try {
      const faults = database.prepare<[], string>('PRAGMA integrity_check(1)').pluck().all();
      if (faults.length === 1 && faults[0] === 'ok') return true;
      const codes = [...faults.join('\n').matchAll(PAGE_ERROR)].map(([, code]) => Number(code));
      return codes.some((code) => (code & PRIMARY_CODE) === SQLITE_IOERR);
    } finally {
      database.close();
    }
  } catch (error) {
    return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_IOERR');
  }
}
