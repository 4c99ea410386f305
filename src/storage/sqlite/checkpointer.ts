/**
 * Checkpoints a database's write-ahead log from a separate connection. A writer that checkpoints by itself, after a
 * number of pages, blocks for an fsync of both files; here no caller waits for it.
 */
import { Database } from './driver.ts';

export class Checkpointer {
  readonly #path: string;
  #database: Database | null = null;

  /** Opens nothing before the first checkpoint. */
  constructor(path: string) {
    this.#path = path;
  }

  /** Copies pages that no connection is using, without waiting. Best effort: a writer does the rest eventually. */
  checkpoint(): void {
    try {
      this.#database ??= new Database(this.#path, { fileMustExist: true, timeout: 0 });
      this.#database.pragma('wal_checkpoint(PASSIVE)');
    } catch {
      // The file does not exist yet or is busy; the next attempt comes soon.
    }
  }

  close(): void {
    this.#database?.close();
    this.#database = null;
  }
}
