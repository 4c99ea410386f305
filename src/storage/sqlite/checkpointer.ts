/**
 * Copies a database's write-ahead log back into it beside those who write there. A writer does that by itself every so
 * many pages, and then stands still for an fsync of both files; here nobody waits for it.
 */
import { Database } from './driver.ts';

export class Checkpointer {
  readonly #path: string;
  #database: Database | null = null;

  /** Nothing is opened before the first checkpoint. */
  constructor(path: string) {
    this.#path = path;
  }

  /** Copies what nobody is reading or writing, without waiting for anybody. Best effort: a writer does it in the end. */
  checkpoint(): void {
    try {
      this.#database ??= new Database(this.#path, { fileMustExist: true, timeout: 0 });
      this.#database.pragma('wal_checkpoint(PASSIVE)');
    } catch {
      // Not there yet, or busy: the next time is soon.
    }
  }

  close(): void {
    this.#database?.close();
    this.#database = null;
  }
}
