/** A map that keeps its most recent entries in memory and the others in a temporary file, so that it has no bound. */
import type { Database } from '../../storage/sqlite/driver.ts';
import { openTemporary } from '../../storage/sqlite/open-database.ts';

const MOST_IN_MEMORY = 20_000;

interface Row {
  readonly key: string;
  readonly value: string;
}

/** @template Value JSON */
export class SpilledMap<Value extends object> {
  readonly #orderOf: (key: string, value: Value) => string;
  readonly #mostInMemory: number;
  readonly #near = new Map<string, Value>();
  #far: Database | null = null;

  /** @param orderOf entries come in the order of this text, and then of their keys */
  constructor(orderOf: (key: string, value: Value) => string, mostInMemory = MOST_IN_MEMORY) {
    this.#orderOf = orderOf;
    this.#mostInMemory = mostInMemory;
  }

  get(key: string): Value | undefined {
    const near = this.#near.get(key);
    if (near || !this.#far) return near;
    const row = this.#far.prepare<[string], Row>('SELECT key, value FROM entries WHERE key = ?').get(key);
    return row && JSON.parse(row.value);
  }

  set(key: string, value: Value): void {
    // The last entry of a Map is the most recent one.
    this.#near.delete(key);
    this.#near.set(key, value);
    if (this.#near.size > this.#mostInMemory) this.#spill(Math.ceil(this.#mostInMemory / 2));
  }

  delete(key: string): void {
    this.#near.delete(key);
    this.#far?.prepare('DELETE FROM entries WHERE key = ?').run(key);
  }

  count(): number {
    if (!this.#far) return this.#near.size;
    this.#spill(this.#near.size);
    return (this.#far.prepare('SELECT count(*) AS count FROM entries').get() as { readonly count: number }).count;
  }

  /** In order. The map must not change meanwhile. @param limit 0 for all */
  *entries(limit = 0): IterableIterator<readonly [string, Value]> {
    if (!this.#far) {
      const sortable = [...this.#near].map(([key, value]) => ({ key, value, order: this.#orderOf(key, value) }));
      const sorted = sortable.toSorted((a, b) => compare(a.order, b.order) || compare(a.key, b.key));
      for (const { key, value } of limit === 0 ? sorted : sorted.slice(0, limit)) yield [key, value];
      return;
    }
    this.#spill(this.#near.size);
    const sql = 'SELECT key, value FROM entries ORDER BY place, key LIMIT ?';
    for (const { key, value } of this.#far.prepare<[number], Row>(sql).iterate(limit || -1)) {
      yield [key, JSON.parse(value)];
    }
  }

  close(): void {
    this.#far?.close();
    this.#far = null;
  }

  /** Moves the oldest entries to the file. */
  #spill(count: number): void {
    this.#far ??= opened();
    const far = this.#far;
    const write = far.prepare('INSERT OR REPLACE INTO entries (key, place, value) VALUES (?, ?, ?)');
    far.transaction(() => {
      let left = count;
      for (const [key, value] of this.#near) {
        if (left-- <= 0) break;
        write.run(key, this.#orderOf(key, value), JSON.stringify(value));
        this.#near.delete(key);
      }
    })();
  }
}

function opened(): Database {
  const database = openTemporary();
  database.exec(
    'CREATE TABLE entries (key TEXT PRIMARY KEY, place TEXT NOT NULL, value TEXT NOT NULL) STRICT, WITHOUT ROWID',
  );
  return database;
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
