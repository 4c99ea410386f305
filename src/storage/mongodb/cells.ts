/** Cells: state that cannot be rebuilt, and is therefore as durable as an append. */
import type { Collection, Db } from 'mongodb';
import type { JsonObject } from '../../events/event.ts';
import type { Cell } from '../read-store.ts';
import { isDuplicate } from './failures.ts';

interface StoredCell {
  readonly _id: string;
  readonly version: number;
  /** As text, so that it comes back exactly as it was set. */
  readonly json: string;
}

export class Cells {
  readonly #cells: Collection<StoredCell>;

  constructor(database: Db) {
    this.#cells = database.collection('cells', { writeConcern: { w: 'majority', journal: true } });
  }

  async get(id: string): Promise<Cell> {
    const stored = await this.#cells.findOne({ _id: id });
    if (!stored) return { version: 0, value: null };
    return { version: stored.version, value: JSON.parse(stored.json) as JsonObject };
  }

  async compareAndSet(id: string, version: number, value: JsonObject): Promise<boolean> {
    const json = JSON.stringify(value);
    if (version === 0) {
      try {
        await this.#cells.insertOne({ _id: id, version: 1, json });
        return true;
      } catch (error) {
        if (isDuplicate(error)) return false;
        throw error;
      }
    }
    const { matchedCount } = await this.#cells.updateOne(
      { _id: id, version },
      { $set: { json }, $inc: { version: 1 } },
    );
    return matchedCount === 1;
  }
}
