/**
 * What a verification must remember beyond its memory: a SQLite database, either temporary or the checkpoint from which
 * a later run continues. Each commit leaves a state from which a killed run resumes.
 */
import { hash } from 'node:crypto';
import type { Database } from '../../storage/sqlite/driver.ts';

/** Another number for each change of what is kept: a checkpoint of another format is refused. */
export const CHECKPOINT_FORMAT = 7;

const TABLES = `
  CREATE TABLE IF NOT EXISTS notes (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  -- Streams that are not in memory now. Found by a hash of the name: an index of names would take most of the space.
  CREATE TABLE IF NOT EXISTS streams (
    id INTEGER PRIMARY KEY, hash INTEGER NOT NULL, stream TEXT NOT NULL, open INTEGER NOT NULL, state TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS streams_by_hash ON streams (hash);
  CREATE INDEX IF NOT EXISTS streams_open ON streams (id) WHERE open = 1;
  -- Facts in the order of the log, many in one text, together with those of other keys of the same bucket.
  CREATE TABLE IF NOT EXISTS facts (
    id INTEGER PRIMARY KEY, bucket INTEGER NOT NULL, judged INTEGER NOT NULL, facts TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS facts_by_bucket ON facts (bucket, judged);
  -- Keys whose judgement may change as time passes, although no fact is added.
  CREATE TABLE IF NOT EXISTS open_keys (bucket INTEGER NOT NULL, key TEXT NOT NULL, PRIMARY KEY (bucket, key))
    STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS unprovable (
    source TEXT NOT NULL, rule TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (source, rule)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS breaches (
    id INTEGER PRIMARY KEY, rule TEXT NOT NULL, stream TEXT NOT NULL, revision INTEGER, position TEXT,
    expected TEXT NOT NULL, found TEXT NOT NULL,
    -- Judged again by a later run: the key or the stream; empty for what cannot change.
    source TEXT NOT NULL,
    -- The breach that this one follows from, in words; null for a breach of its own.
    follows_from TEXT
  ) STRICT;
  CREATE INDEX IF NOT EXISTS breaches_by_source ON breaches (source) WHERE source <> '';
  CREATE TABLE IF NOT EXISTS tainted (stream TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS heads (size INTEGER PRIMARY KEY, root TEXT NOT NULL) STRICT;
  -- To be compared at the end of a run, because their trees were no longer in memory.
  CREATE TABLE IF NOT EXISTS late_heads (
    size INTEGER NOT NULL, root TEXT NOT NULL, revision INTEGER NOT NULL, position TEXT NOT NULL, damage TEXT
  ) STRICT;
`;

/** The checkpoint is not as a run left it. */
export class CheckpointDamaged extends Error {
  readonly code = 'checkpoint_damaged';
  constructor() {
    super('The checkpoint is damaged, was edited, or was written by another version of this program');
    this.name = 'CheckpointDamaged';
  }
}

/** Reads a row that a run has stored. @throws CheckpointDamaged */
export function storedRow<Row extends readonly unknown[]>(text: string): Row {
  try {
    const row: unknown = JSON.parse(text);
    if (Array.isArray(row)) return row as unknown as Row;
  } catch {
    // It is not JSON.
  }
  throw new CheckpointDamaged();
}

const SCHEMA = 'SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name';

export class Scratch {
  readonly database: Database;
  readonly #schema: string;
  readonly #begin;
  readonly #commit;
  readonly #read;
  readonly #write;

  /** @throws CheckpointDamaged; errors of SQLite, e.g. for a file that is no database */
  constructor(database: Database) {
    this.database = database;
    this.#begin = database.prepare('BEGIN IMMEDIATE');
    this.#commit = database.prepare('COMMIT');
    this.#begin.run();
    const schema = () => database.prepare<[], string>(SCHEMA).pluck().all().join('\n');
    const before = schema();
    database.exec(TABLES);
    this.#schema = schema();
    this.#commit.run();
    // A table that somebody dropped is empty now.
    if (before !== '' && before !== this.#schema) throw new CheckpointDamaged();
    this.#read = database.prepare<[string], string>('SELECT value FROM notes WHERE name = ?').pluck();
    this.#write = database.prepare('INSERT OR REPLACE INTO notes (name, value) VALUES (?, ?)');
    this.#begin.run();
  }

  /** Everything since the last commit becomes durable at once. */
  commit(): void {
    this.#commit.run();
    this.#begin.run();
  }

  /** What `setNote` kept; null if there is none. @throws CheckpointDamaged */
  note<Value>(name: string): Value | null {
    const text = this.#read.get(name);
    if (text === undefined) {
      // All is committed together, so without the note there is nothing else either.
      if (this.database.prepare('SELECT 1 FROM streams LIMIT 1').get() !== undefined) throw new CheckpointDamaged();
      return null;
    }
    const value = text.slice(text.indexOf('\n') + 1);
    if (text !== this.#sealed(value)) throw new CheckpointDamaged();
    return JSON.parse(value) as Value;
  }

  setNote(name: string, value: unknown): void {
    this.#write.run(name, this.#sealed(JSON.stringify(value)));
  }

  /** With a hash, which finds accidents. Someone who edits the file on purpose can compute it, too. */
  #sealed(value: string): string {
    return `${hash('sha256', `${this.#schema}\n${value}`)}\n${value}`;
  }

  /** Without a commit: what was not committed is done again by the next run. */
  close(): void {
    this.database.close();
  }
}

/** A number of 52 bits for a text (cyrb53): spreads keys, proves nothing. */
export function spreadOf(text: string): number {
  let [a, b] = [0xdeadbeef, 0x41c6ce57];
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return 4294967296 * (0xfffff & b) + (a >>> 0);
}
