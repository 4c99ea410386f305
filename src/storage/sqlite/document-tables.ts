/** The documents of projections: one table for each generation of each collection. */

import type { JsonObject } from '../../events/event.ts';
import type { EventMark, Position } from '../event-log.ts';
import { markText, readMark } from '../event-mark.ts';
import {
  assertRetirable,
  type CollectionSpec,
  type Commit,
  type Count,
  type DocumentState,
  FIRST_POINTER,
  type Find,
  type GenerationPointer,
  type GenerationProgress,
  type Stored,
  type Tallied,
  type Tally,
} from '../read-store.ts';
import type { Database, Statement } from './driver.ts';
import {
  countSql,
  createTableSql,
  documentTable,
  findSql,
  type Query,
  restWithoutField,
  tallySql,
} from './find-query.ts';

type DocumentRow = readonly [id: string, position: Position, document: string | null];

interface TableStatements {
  readonly load: Statement<[string], DocumentRow>;
  readonly write: Statement<[string, Position, string | null]>;
}

/** Everything here is synchronous and runs inside or outside a transaction of the caller. */
export class DocumentTables {
  readonly #database: Database;
  readonly #owner;
  readonly #claim;
  readonly #generationOf;
  readonly #pointer;
  readonly #movePointer;
  readonly #generationsOf;
  readonly #checkpoint;
  readonly #progress;
  readonly #moveCheckpoint;
  readonly #newest;
  readonly #logId;
  readonly #belongTo;
  readonly #tables = new Map<string, TableStatements>();
  readonly #queries = new Map<string, Statement<unknown[], unknown>>();
  readonly #dataVersion;
  /** The generations that readers see, by collection, at one data version of the file. */
  readonly #generations = new Map<string, number>();
  #generationsAt = -1;

  constructor(database: Database) {
    this.#database = database;
    this.#owner = database
      .prepare<[string, number], string>('SELECT projection FROM collections WHERE collection = ? AND generation = ?')
      .pluck();
    this.#claim = database.prepare('INSERT INTO collections (collection, generation, projection) VALUES (?, ?, ?)');
    this.#generationOf = database
      .prepare<[string], number>(
        `SELECT coalesce(generation, 1)
         FROM (SELECT projection FROM collections WHERE collection = ? LIMIT 1)
         LEFT JOIN active_generations USING (projection)`,
      )
      .pluck();
    this.#pointer = database.prepare<[string], GenerationPointer>(
      'SELECT generation AS active, next FROM active_generations WHERE projection = ?',
    );
    this.#movePointer = database.prepare(
      `INSERT INTO active_generations (projection, generation, next) VALUES (?, ?, ?)
       ON CONFLICT (projection) DO UPDATE SET generation = excluded.generation, next = excluded.next`,
    );
    this.#generationsOf = database
      .prepare<[string], number>('SELECT DISTINCT generation FROM collections WHERE projection = ? ORDER BY generation')
      .pluck();
    this.#dataVersion = database.prepare<[], number>('PRAGMA data_version').pluck();
    this.#checkpoint = database
      .prepare<[string, number], Position>('SELECT position FROM checkpoints WHERE projection = ? AND generation = ?')
      .pluck();
    this.#progress = database.prepare<[string, number], GenerationProgress>(
      'SELECT position, moved_at AS movedAt, folded FROM checkpoints WHERE projection = ? AND generation = ?',
    );
    this.#moveCheckpoint = database.prepare(
      `INSERT INTO checkpoints (projection, generation, position, newest, moved_at, folded) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (projection, generation)
       DO UPDATE SET position = excluded.position, newest = coalesce(excluded.newest, newest),
         moved_at = excluded.moved_at, folded = folded + excluded.folded
       WHERE excluded.position > position`,
    );
    this.#newest = database
      .prepare<[string, number], string | null>(
        'SELECT newest FROM checkpoints WHERE projection = ? AND generation = ?',
      )
      .pluck();
    this.#logId = database.prepare<[], string>('SELECT log_id FROM made_from').pluck();
    this.#belongTo = database.prepare('INSERT INTO made_from (id, log_id) VALUES (1, ?) ON CONFLICT DO NOTHING');
  }

  prepare(projection: string, generation: number, collections: readonly CollectionSpec[]): void {
    this.#generations.clear();
    for (const collection of collections) {
      const owner = this.#owner.get(collection.name, generation);
      if (owner !== undefined && owner !== projection) {
        throw new Error(`collection ${collection.name} belongs to projection ${owner}, not to ${projection}`);
      }
      for (const statement of createTableSql(collection, generation)) this.#database.exec(statement);
      if (owner === undefined) this.#claim.run(collection.name, generation, projection);
    }
  }

  load<Document>(collection: string, ids: readonly string[], generation?: number): Map<string, Stored<Document>> {
    const documents = new Map<string, Stored<Document>>();
    for (const row of this.#rows(collection, ids, generation ?? this.#generation(collection))) {
      const stored = storedDocument<Document>(row);
      if (stored) documents.set(stored.id, stored);
    }
    return documents;
  }

  /** Documents and tombstones. */
  loadStates(collection: string, ids: readonly string[], generation: number): Map<string, DocumentState> {
    const states = new Map<string, DocumentState>();
    for (const [id, position, document] of this.#rows(collection, ids, generation)) {
      states.set(id, { position, document: document === null ? null : (JSON.parse(document) as JsonObject) });
    }
    return states;
  }

  /** Writes, then the checkpoint. A write to a document at or past its position changes nothing. */
  commit({ projection, generation, writes, position, newest, at, folded = 0 }: Commit): void {
    for (const write of writes) {
      const statements = this.#statements(write.collection, generation);
      if (!statements) throw new Error(`generation ${generation} of collection ${write.collection} was never prepared`);
      statements.write.run(write.id, write.position, write.document && JSON.stringify(write.document));
    }
    this.#moveCheckpoint.run(projection, generation, position, newest ? markText(newest) : null, at ?? null, folded);
  }

  checkpoint(projection: string, generation: number): Position | null {
    return this.#checkpoint.get(projection, generation) ?? null;
  }

  progress(projection: string, generation: number): GenerationProgress | null {
    return this.#progress.get(projection, generation) ?? null;
  }

  newestEvent(projection: string, generation: number): EventMark | null {
    const newest = this.#newest.get(projection, generation);
    return newest ? readMark(newest) : null;
  }

  logId(): string | null {
    return this.#logId.get() ?? null;
  }

  belongTo(logId: string): string {
    this.#belongTo.run(logId);
    return this.logId() ?? logId;
  }

  /**
   * Removes up to `most` documents of a generation, and returns whether any are left. Removed content is overwritten, so
   * dropping a large table at once would block every other writer for seconds.
   * @throws RangeError for a generation that readers see
   */
  removeSome(projection: string, generation: number, most: number): boolean {
    assertRetirable(this.pointer(projection), projection, generation);
    for (const collection of this.#collections(projection, generation)) {
      const table = documentTable(collection, generation);
      const { changes } = this.#database
        .prepare(`DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} LIMIT ?)`)
        .run(most);
      if (changes > 0) return true;
    }
    return false;
  }

  #collections(projection: string, generation: number): readonly string[] {
    return this.#database
      .prepare<[string, number], string>('SELECT collection FROM collections WHERE projection = ? AND generation = ?')
      .pluck()
      .all(projection, generation);
  }

  /** @throws RangeError for a generation that readers see */
  retireGeneration(projection: string, generation: number): void {
    assertRetirable(this.pointer(projection), projection, generation);
    for (const collection of this.#collections(projection, generation)) {
      const table = documentTable(collection, generation);
      this.#tables.delete(table);
      this.#database.exec(`DROP TABLE IF EXISTS ${table}`);
    }
    // Statements on dropped tables would fail; the others are prepared again when they are needed.
    this.#queries.clear();
    for (const table of ['collections', 'checkpoints']) {
      this.#database
        .prepare(`DELETE FROM ${table} WHERE projection = ? AND generation = ?`)
        .run(projection, generation);
    }
  }

  find<Document>(query: Find, generation = this.#generation(query.collection)): Stored<Document>[] {
    if (!this.#statements(query.collection, generation)) return [];
    const rows = this.#query(findSql(query, generation)) as DocumentRow[];
    const rest = restWithoutField(query, rows.length);
    if (rest) rows.push(...(this.#query(findSql(rest, generation)) as DocumentRow[]));
    return rows.map((row) => storedDocument<Document>(row)).filter((stored) => stored !== null);
  }

  count(query: Count, generation = this.#generation(query.collection)): number {
    if (!this.#statements(query.collection, generation)) return 0;
    const [row] = this.#query(countSql(query, generation)) as [number][];
    return row?.[0] ?? 0;
  }

  tally(query: Tally, generation = this.#generation(query.collection)): Tallied[] {
    if (!this.#statements(query.collection, generation)) return [];
    const rows = this.#query(tallySql(query, generation)) as [string, number][];
    return rows.map(([value, count]) => ({ value, count }));
  }

  activeGeneration(projection: string): number {
    return this.pointer(projection).active;
  }

  pointer(projection: string): GenerationPointer {
    return this.#pointer.get(projection) ?? FIRST_POINTER;
  }

  /** Within a transaction of the caller. */
  movePointer(projection: string, from: GenerationPointer, to: GenerationPointer): boolean {
    const { active, next } = this.pointer(projection);
    if (active !== from.active || next !== from.next) return false;
    this.#generations.clear();
    this.#movePointer.run(projection, to.active, to.next);
    return true;
  }

  generations(projection: string): readonly number[] {
    return this.#generationsOf.all(projection);
  }

  *#rows(collection: string, ids: readonly string[], generation: number): Iterable<DocumentRow> {
    const statements = this.#statements(collection, generation);
    if (!statements) return;
    for (const id of ids) {
      const row = statements.load.get(id);
      if (row) yield row;
    }
  }

  /**
   * The active generation. A change by this connection clears the cache; a change by another one changes the data
   * version.
   */
  #generation(collection: string): number {
    const version = this.#dataVersion.get() ?? -1;
    if (version !== this.#generationsAt) this.#generations.clear();
    this.#generationsAt = version;
    const known = this.#generations.get(collection);
    if (known !== undefined) return known;
    const generation = this.#generationOf.get(collection) ?? 1;
    this.#generations.set(collection, generation);
    return generation;
  }

  /** Null for a collection that was never prepared: readers see it as empty. */
  #statements(collection: string, generation: number): TableStatements | null {
    const table = documentTable(collection, generation);
    const known = this.#tables.get(table);
    if (known) return known;
    if (this.#owner.get(collection, generation) === undefined) return null;
    const statements: TableStatements = {
      load: this.#database
        .prepare<[string], DocumentRow>(`SELECT id, position, document FROM ${table} WHERE id = ?`)
        .raw(),
      write: this.#database.prepare(
        `INSERT INTO ${table} (id, position, document) VALUES (?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET position = excluded.position, document = excluded.document
         WHERE excluded.position > position`,
      ),
    };
    this.#tables.set(table, statements);
    return statements;
  }

  /** Statements are cached by their text. There are only as many as query shapes in the code. */
  #query({ sql, parameters }: Query): unknown[] {
    let statement = this.#queries.get(sql);
    if (!statement) {
      statement = this.#database.prepare<unknown[], unknown>(sql).raw();
      this.#queries.set(sql, statement);
    }
    return statement.all(...parameters);
  }
}

function storedDocument<Document>([id, position, document]: DocumentRow): Stored<Document> | null {
  return document === null ? null : { id, position, document: JSON.parse(document) as Document };
}
