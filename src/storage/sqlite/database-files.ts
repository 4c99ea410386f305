/**
 * Checks whether the files of an open database are still in place. A file that was deleted, renamed or replaced still
 * accepts writes through its descriptor, but a restart would not find them. Uses only `stat`: see the rule in
 * `open-database.ts`.
 */
import { realpathSync, statSync } from 'node:fs';
import { basename } from 'node:path';

/** Identifies a file as it was when opened. While it is open, no other file can get its inode. */
export interface OpenedFile {
  readonly path: string;
  readonly device: bigint;
  readonly inode: bigint;
}

export interface Rewritten {
  /** Bytes. */
  readonly size: bigint;
  readonly shrank: boolean;
}

interface Content {
  readonly size: bigint;
  /** Nanoseconds. */
  readonly writtenAt: bigint;
}

const NO_CONTENT: Content = { size: 0n, writtenAt: 0n };

export class DatabaseFiles {
  readonly #opened: OpenedFile[];
  /** The database file itself, at the last call of `misplaced` and at the last call of `accept`. */
  #content: Content = NO_CONTENT;
  #accepted: Content = NO_CONTENT;
  readonly #path: string;
  /** Files that SQLite has not created yet. Once created, SQLite keeps them until the last connection closes. */
  #awaited: string[];

  /**
   * @param path of a database that is open in WAL mode
   * @param opened what another connection of this process recorded; if omitted, the current files
   */
  constructor(path: string, opened?: readonly OpenedFile[]) {
    this.#opened = opened ? [...opened] : [];
    this.#path = path;
    // SQLite resolves links before it names the files next to a database.
    const resolved = realpathSync(path);
    const known = new Set(this.#opened.map((file) => file.path));
    this.#awaited = [path, `${resolved}-wal`, `${resolved}-shm`].filter((file) => !known.has(file));
    this.#record();
  }

  get opened(): readonly OpenedFile[] {
    return this.#opened;
  }

  /**
   * What happened to the files, e.g. `log.sqlite-wal was deleted or moved`; null if all are in place.
   * @throws errors of `stat`, except that the file does not exist
   */
  misplaced(): string | null {
    if (this.#awaited.length > 0) this.#record();
    for (const { path, device, inode } of this.#opened) {
      const found = statSync(path, STAT);
      if (!found) return `${basename(path)} was deleted or moved while it was in use (${path})`;
      if (found.ino !== inode || found.dev !== device) {
        return `${basename(path)} was replaced by another file while it was in use (${path})`;
      }
      if (path === this.#path) this.#content = { size: found.size, writtenAt: found.mtimeNs };
    }
    return null;
  }

  /**
   * Whether the database file was written since the last `accept`, as every checkpoint does, and with what result; null
   * if it was not. As of the last call of `misplaced`.
   */
  rewritten(): Rewritten | null {
    const { size, writtenAt } = this.#content;
    const before = this.#accepted;
    if (size === before.size && writtenAt === before.writtenAt) return null;
    return { size, shrank: size < before.size };
  }

  /** Accepts the content that `rewritten` reported as the database's own. */
  accept(): void {
    this.#accepted = this.#content;
  }

  #record(): void {
    this.#awaited = this.#awaited.filter((path) => {
      const found = statSync(path, STAT);
      if (found) this.#opened.push({ path, device: found.dev, inode: found.ino });
      return !found;
    });
  }
}

/** Inodes of some file systems need all 64 bits. */
const STAT = { bigint: true, throwIfNoEntry: false } as const;
