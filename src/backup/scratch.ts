/**
 * What a copy must remember of a log of any size: a temporary SQLite database, so that memory does not grow with the log.
 * It is gone when it is closed, or when the process ends; TMPDIR says where it is.
 */
import { hash } from 'node:crypto';
import type { BlobName } from '../storage/payload-store.ts';
import type { Database } from '../storage/sqlite/driver.ts';
import { openTemporary } from '../storage/sqlite/open-database.ts';

const CACHE_KIB = 8_000;
/** Streams whose newest events are also in memory. */
const STREAMS_IN_MEMORY = 5_000;

export class Scratch {
  readonly #database: Database;
  #tables = 0;

  private constructor(database: Database) {
    this.#database = database;
  }

  static open(): Scratch {
    const database = openTemporary();
    database.pragma('journal_mode = OFF');
    database.pragma('synchronous = OFF');
    database.pragma(`cache_size = -${CACHE_KIB}`);
    // Never committed: a commit would write pages that still change.
    database.exec('BEGIN');
    return new Scratch(database);
  }

  names(): Names {
    return new Names(this.#database, `names_${++this.#tables}`);
  }

  streamHeads(): StreamHeads {
    return new StreamHeads(this.#database, `heads_${++this.#tables}`);
  }

  close(): void {
    this.#database.close();
  }
}

interface NamesRow {
  readonly id: number;
  readonly name: Buffer;
  readonly about: string | null;
}

export interface KnownName {
  readonly name: BlobName;
  readonly about: string | null;
}

/** Names of content in the order in which they were added, each once, with a text about it. */
export class Names {
  readonly #add;
  readonly #set;
  readonly #find;
  readonly #page;
  #size = 0;

  constructor(database: Database, table: string) {
    database.exec(`CREATE TABLE ${table} (id INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE, about TEXT) STRICT`);
    const insert = `INSERT INTO ${table} (name, about) VALUES (?, ?) ON CONFLICT (name)`;
    this.#add = database.prepare<[Buffer, string | null]>(`${insert} DO NOTHING`);
    this.#set = database.prepare<[Buffer, string | null]>(`${insert} DO UPDATE SET about = excluded.about`);
    this.#find = database.prepare<[Buffer], string | null>(`SELECT about FROM ${table} WHERE name = ?`).pluck();
    this.#page = database.prepare<[number, number], NamesRow>(
      `SELECT id, name, about FROM ${table} WHERE id > ? ORDER BY id LIMIT ?`,
    );
  }

  /** How many `add` has added. */
  get size(): number {
    return this.#size;
  }

  /** Changes nothing about a name that is known. */
  add(name: BlobName, about: string | null = null): void {
    this.#size += this.#add.run(bytesOf(name), about).changes;
  }

  /** The last text about a name wins. */
  set(name: BlobName, about: string | null): void {
    this.#set.run(bytesOf(name), about);
  }

  has(name: BlobName): boolean {
    return this.about(name) !== undefined;
  }

  /** Undefined for a name that is not known. */
  about(name: BlobName): string | null | undefined {
    return this.#find.get(bytesOf(name));
  }

  /** All of them, those included that are added meanwhile. */
  *pages(size: number): Iterable<readonly KnownName[]> {
    for (let after = 0; ; ) {
      const rows = this.#page.all(after, size);
      const last = rows.at(-1);
      if (!last) return;
      yield rows.map(({ name, about }) => ({ name: name.toString('hex'), about }));
      after = last.id;
    }
  }
}

export interface ChainedHead {
  readonly revision: number;
  /** Hex. */
  readonly hash: string;
}

/** The newest event of each stream. */
export class StreamHeads {
  readonly #find;
  readonly #store;
  /** Not stored yet, or as stored. */
  readonly #recent = new Map<string, ChainedHead>();

  constructor(database: Database, table: string) {
    // Found by a hash of its name, since names are long.
    database.exec(
      `CREATE TABLE ${table} (stream BLOB PRIMARY KEY, revision INTEGER NOT NULL, hash BLOB NOT NULL) STRICT, WITHOUT ROWID`,
    );
    this.#find = database.prepare<[Buffer], { readonly revision: number; readonly hash: Buffer }>(
      `SELECT revision, hash FROM ${table} WHERE stream = ?`,
    );
    this.#store = database.prepare<[Buffer, number, Buffer]>(
      `INSERT OR REPLACE INTO ${table} (stream, revision, hash) VALUES (?, ?, ?)`,
    );
  }

  get(stream: string): ChainedHead | null {
    const recent = this.#recent.get(stream);
    if (recent) return recent;
    const found = this.#find.get(keyOf(stream));
    return found ? { revision: found.revision, hash: found.hash.toString('hex') } : null;
  }

  set(stream: string, head: ChainedHead): void {
    this.#recent.set(stream, head);
    if (this.#recent.size < STREAMS_IN_MEMORY) return;
    for (const [each, { revision, hash }] of this.#recent) this.#store.run(keyOf(each), revision, bytesOf(hash));
    this.#recent.clear();
  }
}

const bytesOf = (hex: string): Buffer => Buffer.from(hex, 'hex');
const keyOf = (stream: string): Buffer => hash('sha256', stream, 'buffer');
