/** Reads the events of a SQLite log as they are stored, on a connection of its own that cannot write. */
import type { Position } from '../event-log.ts';
import type { RawBatch, RawEvent, RawEventLog } from '../raw-events.ts';
import { StorageFailure } from '../storage-failure.ts';
import type { Database } from './driver.ts';
import { EVENT_COLUMNS, positionNumber, positionText, START_OF_LOG } from './event-rows.ts';
import { openDatabase } from './open-database.ts';
import { asStorageFailure } from './sqlite-file.ts';

/**
 * A batch ends with this many events, and soon after this many characters. It is small, so that its events
 * are garbage before they are old.
 */
const MOST_EVENTS = 256;
const MOST_CHARACTERS = 1024 * 1024;
/** Rows that the driver gives at once: faster than one by one. An event is at most a megabyte. */
const ROWS_AT_ONCE = 64;
/** Writers hold the file only for moments. */
const BUSY_MS = 15_000;

/** A column of a table whose schema somebody changed may hold anything. */
type Cell = string | number | bigint | Buffer | null;
type RawRow = readonly [Cell, Cell, Cell, Cell, Cell, Cell, Cell];

export class SqliteRawEvents implements RawEventLog {
  readonly gapless = true;
  readonly #database: Database;
  readonly #head;
  readonly #range;
  readonly #place;
  readonly #row;

  /** @throws StorageFailure if the file cannot be opened or has no events table */
  constructor(path: string) {
    this.#database = openDatabase(path, BUSY_MS);
    try {
      this.#database.pragma('query_only = ON');
      assertTable(this.#database);
      this.#head = this.#database.prepare<[], number | null>('SELECT max(position) FROM events').pluck();
      this.#range = this.#database
        .prepare<[number, number], RawRow>(
          `SELECT ${EVENT_COLUMNS} FROM events WHERE position > ? AND position <= ? ORDER BY position LIMIT ${ROWS_AT_ONCE}`,
        )
        .raw();
      this.#place = this.#database
        .prepare<[string, number], number>('SELECT position FROM events WHERE stream = ? AND revision = ?')
        .pluck();
      this.#row = this.#database
        .prepare<[number], RawRow>(`SELECT ${EVENT_COLUMNS} FROM events NOT INDEXED WHERE position = ?`)
        .raw();
    } catch (error) {
      this.#database.close();
      throw translated(error);
    }
  }

  async head(): Promise<Position | null> {
    const head = this.#now(() => this.#head.get() ?? 0);
    return head <= 0 ? null : positionText(head);
  }

  async *read(after: Position | null, upTo: Position): AsyncIterable<RawBatch> {
    const end = positionNumber(upTo);
    // The service never writes before position 1, and reads streams by an index that would show what is there.
    if (after === null) yield* this.#beforeTheFirst();
    let from = positionNumber(after);
    while (from < end) {
      const batch = this.batch(from, end);
      yield batch;
      from = positionNumber(batch.upTo);
    }
  }

  *#beforeTheFirst(): Iterable<RawBatch> {
    const events = this.#rows(Number.MIN_SAFE_INTEGER, 0).map(rawEvent);
    if (events.length > 0) yield { after: null, upTo: START_OF_LOG, events };
  }

  /** The events after one position up to another, or the first of them if they are many or large. */
  batch(from: number, to: number): RawBatch {
    const events: RawEvent[] = [];
    const after = from === 0 ? null : positionText(from);
    let characters = 0;
    for (let at = from; ; ) {
      const rows = this.#rows(at, to);
      for (const row of rows) {
        const event = rawEvent(row);
        events.push(event);
        characters += event.data.length + event.metadata.length;
      }
      if (rows.length < ROWS_AT_ONCE) return { after, upTo: positionText(to), events };
      at = positionAfter(at, rows);
      if (events.length >= MOST_EVENTS || characters >= MOST_CHARACTERS)
        return { after, upTo: positionText(at), events };
    }
  }

  /** As `read`, one event after the other. */
  *rows(after: Position | null, upTo: Position): Iterable<RawEvent> {
    const to = positionNumber(upTo);
    const isBeforeTheFirst = after === null && upTo === START_OF_LOG;
    for (let at = isBeforeTheFirst ? Number.MIN_SAFE_INTEGER : positionNumber(after); ; ) {
      const rows = this.#rows(at, to);
      for (const row of rows) yield rawEvent(row);
      if (rows.length < ROWS_AT_ONCE) return;
      at = positionAfter(at, rows);
    }
  }

  #rows(from: number, to: number): readonly RawRow[] {
    return this.#now(() => this.#range.all(from, to));
  }

  async find(stream: string, revision: number): Promise<RawEvent | null> {
    return this.findNow(stream, revision);
  }

  /** An index may have been changed to point to another event, so the row itself must say that it is the one. */
  findNow(stream: string, revision: number): RawEvent | null {
    return this.#now(() => {
      const position = this.#place.get(stream, revision);
      const row = position === undefined ? undefined : this.#row.get(position);
      const event = row && rawEvent(row);
      return event?.stream === stream && event.revision === revision ? event : null;
    });
  }

  share(position: Position, head: Position): number {
    return positionNumber(position) / positionNumber(head);
  }

  async close(): Promise<void> {
    this.#database.close();
  }

  #now<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      throw translated(error);
    }
  }
}

/** @throws StorageFailure unless rows are stored by position, each once */
function assertTable(database: Database): void {
  const isTable = database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'events'").get();
  const columns = database.prepare<[], { name: string; type: string; pk: number }>('PRAGMA table_info(events)').all();
  const keys = columns.filter(({ pk }) => pk > 0);
  const [key] = keys;
  if (isTable && keys.length === 1 && key?.name === 'position' && key.type === 'INTEGER') return;
  throw new StorageFailure('storage_corrupt', 'the table of events is not as this service creates it');
}

/** Positions beyond exact numbers would be read again and again. @throws StorageFailure for such a position */
function positionAfter(at: number, rows: readonly RawRow[]): number {
  const position = rows.at(-1)?.[0];
  const next = Number(position);
  if (next > at && Number.isSafeInteger(next)) return next;
  throw new StorageFailure('storage_corrupt', `an event has position ${position}, which this service never writes`);
}

function rawEvent([position, type, stream, revision, id, metadata, data]: RawRow): RawEvent {
  return {
    position: positionText(Number(position)),
    stream: text(stream),
    revision: Number(revision),
    id: text(id),
    type: text(type),
    metadata: text(metadata),
    data: text(data),
  };
}

const text = (cell: Cell): string => (typeof cell === 'string' ? cell : cell === null ? '' : String(cell));

function translated(error: unknown): unknown {
  if (error instanceof Error && /no such (?:table|column)/.test(error.message)) {
    return new StorageFailure('storage_corrupt', `this is not an event log: ${error.message}`, { cause: error });
  }
  return asStorageFailure(error) ?? error;
}
