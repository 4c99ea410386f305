/**
 * Tells whether a database file was overwritten in place, e.g. by `cp backup.sqlite log.sqlite`: the inode stays, and an
 * open connection goes on with what it has cached and with a write-ahead log that belongs to the former content. The next
 * checkpoint then mixes both. Only a connection of its own, with nothing cached, sees what a restart would find.
 */
import { Database } from './driver.ts';

/** Rows that a database never loses, each as `number id`. */
export interface Landmarks {
  /** SQL for the landmarks of now, one text a row. */
  readonly newest: string;
  /** SQL that gives a row if the database still holds the landmark in its one parameter. */
  readonly holds: string;
}

export interface FreshLook {
  /** Whether the content is another one than before. */
  readonly isOther: boolean;
  /** What the next look is to find. */
  readonly landmarks: readonly string[];
}

/**
 * @param size of the database file, bytes
 * @param shrank whether the file is smaller than it was. SQLite shrinks one only at the checkpoint after a VACUUM; then
 *   and where the file is larger than the database, every page is checked, which blocks for as long as that takes
 * @returns null where it cannot be looked at now, e.g. while another program holds the database
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
    // Out of descriptors or of memory, nothing was seen either.
    if (/^SQLITE_(BUSY|LOCKED|PROTOCOL|CANTOPEN|NOMEM)/.test(code)) return null;
    if (isSuspect && /^SQLITE_(CORRUPT|NOTADB|ERROR)/.test(code)) return OTHER;
    throw error;
  } finally {
    database?.close();
  }
}

const OTHER: FreshLook = { isOther: true, landmarks: [] };
