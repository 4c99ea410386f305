/**
 * Detects a database file that was overwritten in place, e.g. by `cp backup.sqlite log.sqlite`. The inode stays, and an
 * open connection continues with its cache and with the write-ahead log of the old content. The next checkpoint would
 * mix both. Only a new connection, with nothing cached, sees what a restart would find.
 */
import { Database } from './driver.ts';

/** Rows that a database never loses, each as `number id`. */
export interface Landmarks {
  /** SQL for the current landmarks, one text per row. */
  readonly newest: string;
  /** SQL that returns a row if the database still holds the landmark in its single parameter. */
  readonly holds: string;
}

export interface FreshLook {
  /** Whether the content differs from before. */
  readonly isOther: boolean;
  /** What the next check expects to find. */
  readonly landmarks: readonly string[];
}

/**
 * @param size of the database file, bytes
 * @param shrank whether the file is smaller than it was. SQLite shrinks one only at the checkpoint after a VACUUM. In
 * that case, or if the file is larger than the database, every page is checked, which blocks for as long as that takes
 * @returns null if the file cannot be checked now, e.g. while another program holds the database
 * @throws errors of SQLite
 */
export function lookAfresh(
  path: string,
  known: readonly string[],
  {
    landmarks,
    size,
    shrank,
  }: { readonly landmarks: Landmarks | undefined; readonly size: bigint; readonly shrank: boolean },
): FreshLook | null {
  let isSuspect = shrank;
  let database: Database | null = null;
  try {
    database = new Database(path, { fileMustExist: true, readonly: true, timeout: 0 });
    const number = (pragma: string) => BigInt(Number(database?.pragma(pragma, { simple: true })));
    isSuspect ||= size > number('page_count') * number('page_size');
    if (isSuspect && database.pragma('quick_check(1)', { simple: true }) !== 'ok') return OTHER;
    if (!landmarks) return { isOther: false, landmarks: [] };
    const holds = database.prepare<[string]>(landmarks.holds);
    if (known.some((landmark) => holds.get(landmark) === undefined)) return OTHER;
    return { isOther: false, landmarks: database.prepare<[], string>(landmarks.newest).pluck().all() };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    // Without descriptors or memory, the check has seen nothing either.
    if (/^SQLITE_(BUSY|LOCKED|PROTOCOL|CANTOPEN|NOMEM)/.test(code)) return null;
    if (isSuspect && /^SQLITE_(CORRUPT|NOTADB|ERROR)/.test(code)) return OTHER;
    throw error;
  } finally {
    database?.close();
  }
}

const OTHER: FreshLook = { isOther: true, landmarks: [] };
