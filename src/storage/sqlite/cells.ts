/**
 * Cells are stored in the file of the event log. Their content (the case clocks) cannot be rebuilt from events, so they
 * are as durable as an append and share its fsync. Deleting the read store's file then loses nothing important.
 */
import type { JsonObject } from '../../events/event.ts';
import type { Cell } from '../read-store.ts';
import type { LogCommitter } from './log-committer.ts';
import type { SqliteFile } from './sqlite-file.ts';

export class SqliteCells {
  readonly #file: SqliteFile;
  readonly #committer: LogCommitter;
  readonly #select;

  constructor(file: SqliteFile, committer: LogCommitter) {
    this.#file = file;
    this.#committer = committer;
    this.#select = file.database.prepare<[string], { version: number; value: string }>(
      'SELECT version, value FROM cells WHERE id = ?',
    );
    committer.hold();
  }

  async get(id: string): Promise<Cell> {
    const row = await this.#file.whenFree(() => this.#select.get(id));
    return row ? { version: row.version, value: JSON.parse(row.value) as JsonObject } : { version: 0, value: null };
  }

  async compareAndSet(id: string, version: number, value: JsonObject): Promise<boolean> {
    return this.#committer.submit<boolean>({ write: 'set cell', id, version, value: JSON.stringify(value) });
  }

  async close(): Promise<void> {
    await this.#committer.flush();
    await this.#committer.release();
  }
}
