/**
 * Cells lie in the file of the event log: what they hold (the case clocks) cannot be rebuilt from events, so they are
 * as durable as an append, and share its fsync. Deleting the read store's file then loses nothing that counts.
 */
import type { JsonObject } from '../../events/event.ts';
import type { Cell } from '../read-store.ts';
import type { GroupCommitter } from './group-committer.ts';
import type { SqliteFile } from './sqlite-file.ts';

export class SqliteCells {
  readonly #file: SqliteFile;
  readonly #committer: GroupCommitter;
  readonly #select;
  readonly #insert;
  readonly #update;

  constructor(file: SqliteFile, committer: GroupCommitter) {
    this.#file = file;
    this.#committer = committer;
    this.#select = file.database.prepare<[string], { version: number; value: string }>(
      'SELECT version, value FROM cells WHERE id = ?',
    );
    this.#insert = file.database.prepare(
      'INSERT INTO cells (id, version, value) VALUES (?, 1, ?) ON CONFLICT DO NOTHING',
    );
    this.#update = file.database.prepare(
      'UPDATE cells SET version = version + 1, value = @value WHERE id = @id AND version = @version',
    );
    file.hold();
  }

  async get(id: string): Promise<Cell> {
    const row = await this.#file.whenFree(() => this.#select.get(id));
    return row ? { version: row.version, value: JSON.parse(row.value) as JsonObject } : { version: 0, value: null };
  }

  async compareAndSet(id: string, version: number, value: JsonObject): Promise<boolean> {
    const text = JSON.stringify(value);
    const { changes } = await this.#committer.submit(() =>
      version === 0 ? this.#insert.run(id, text) : this.#update.run({ id, version, value: text }),
    );
    return changes === 1;
  }

  async close(): Promise<void> {
    await this.#committer.flush();
    this.#file.release();
  }
}
