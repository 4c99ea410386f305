/** Reads the events of a SQLite log as they are stored, on a connection of its own that cannot write. */
import type { Position } from '../event-log.ts';
import type { MisplacedEvent, RawBatch, RawEvent, RawEventLog } from '../raw-events.ts';
import { StorageFailure } from '../storage-failure.ts';
import type { Database } from './driver.ts';
import { AT_A_POSITION, EVENT_COLUMNS, positionNumber, positionText } from './event-rows.ts';
import { openToRead } from './open-database.ts';
import { asStorageFailure } from './sqlite-file.ts';

/**
 * A batch ends with this many events, and soon after this many characters. It is small, so that its events
 * are garbage before they are old, and that sending them to another thread needs no large piece of memory each time.
 */
const MOST_EVENTS = 128;
const MOST_CHARACTERS = 1024 * 1024;
/** Rows that the driver gives at once: faster than one by one. Fewer after large ones: an event may have a megabyte. */
const ROWS_AT_ONCE = 64;
/** Writers hold the file only for moments. */
const BUSY_MS = 15_000;
/** More are not listed: one is enough to know that somebody has changed the file. */
const MOST_MISPLACED = 1000;

/** A column of a table whose schema somebody changed may hold anything. */
type Cell = string | number | bigint | Buffer | null;
type RawRow = readonly [Cell, Cell, Cell, Cell, Cell, Cell, Cell];

/** A connection that cannot write. @throws StorageFailure if the file cannot be opened */
export function openLogToRead(path: string): Database {
  try {
    return openToRead(path, BUSY_MS);
  } catch (error) {
    throw translated(error);
  }
}

export class SqliteRawEvents implements RawEventLog {
  readonly gapless = true;
  readonly #database: Database;
  readonly #head;
  readonly #misplaced;
  readonly #range;
  readonly #place;
  readonly #row;
  #atOnce = ROWS_AT_ONCE;

  /** @throws StorageFailure if the file cannot be opened or has no events table */
  constructor(path: string) {
    this.#database = openLogToRead(path);
    try {
      assertTable(this.#database);
      this.#head = this.#database
        .prepare<[], number | null>(`SELECT max(position) FROM events WHERE ${AT_A_POSITION}`)
        .pluck();
      this.#misplaced = this.#database.prepare<[], { stream: Cell; revision: Cell; position: string }>(
        `SELECT stream, revision, CAST(position AS TEXT) AS position FROM (
           SELECT * FROM events WHERE position < 1
           UNION ALL SELECT * FROM events WHERE position > ${Number.MAX_SAFE_INTEGER}
         ) LIMIT ${MOST_MISPLACED}`,
      );
      this.#range = this.#database
        .prepare<[number, number, number], RawRow>(
          `SELECT ${EVENT_COLUMNS} FROM events WHERE position > ? AND position <= ? ORDER BY position LIMIT ?`,
        )
        .raw();
      this.#place = this.#database
        .prepare<[string, number], number>(
          `SELECT position FROM events WHERE stream = ? AND revision = ? AND ${AT_A_POSITION}`,
        )
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
    return head === 0 ? null : positionText(head);
  }

  async misplaced(): Promise<readonly MisplacedEvent[]> {
    const rows = this.#now(() => this.#misplaced.all());
    return rows.map(({ stream, revision, position }) => {
      const isWhole = Number.isSafeInteger(revision);
      return { stream: text(stream) ?? 'unreadable', revision: isWhole ? Number(revision) : null, position };
    });
  }

  async *read(after: Position | null, upTo: Position): AsyncIterable<RawBatch> {
    const end = positionNumber(upTo);
    let from = positionNumber(after);
    while (from < end) {
      const batch = this.batch(from, end);
      yield batch;
      from = positionNumber(batch.upTo);
    }
  }

  /** The events after one position up to another, or the first of them if they are many or large. */
  batch(from: number, to: number): RawBatch {
    const events: RawEvent[] = [];
    const after = from === 0 ? null : positionText(from);
    let characters = 0;
    for (let at = from; ; ) {
      const [atOnce, before] = [this.#atOnce, characters];
      const rows = this.#now(() => this.#range.all(at, to, atOnce));
      for (const row of rows) {
        const event = rawEvent(row);
        events.push(event);
        characters += event.data.length + event.metadata.length;
      }
      if (rows.length > 0) this.#adapt(atOnce, (characters - before) / rows.length);
      if (rows.length < atOnce) return { after, upTo: positionText(to), events };
      at = positionAfter(at, rows);
      if (events.length >= MOST_EVENTS || characters >= MOST_CHARACTERS)
        return { after, upTo: positionText(at), events };
    }
  }

  /** Many large events at once would need much memory, here and in a thread that they are sent to. */
  #adapt(atOnce: number, charactersOfOne: number): void {
    const fitting = Math.floor(MOST_CHARACTERS / (charactersOfOne + 1));
    this.#atOnce = Math.max(1, Math.min(fitting, 2 * atOnce, ROWS_AT_ONCE));
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

/** Rows that a damaged file gives in another order would be read for ever. @throws StorageFailure for such rows */
function positionAfter(at: number, rows: readonly RawRow[]): number {
  const next = Number(rows.at(-1)?.[0]);
  if (next > at) return next;
  throw new StorageFailure('storage_corrupt', `the event at position ${next} is not in its place`);
}

/** The service finds no event by a cell of another kind, so such an event must not look whole: nothing is said of it. */
function rawEvent([position, type, stream, revision, id, metadata, data]: RawRow): RawEvent {
  const isNumbered = Number.isSafeInteger(revision);
  const areTexts = isText(type) && isText(stream) && isText(id) && isText(metadata) && isText(data);
  return {
    position: positionText(Number(position)),
    stream: text(stream) ?? 'unreadable',
    revision: isNumbered ? Number(revision) : -1,
    id: text(id) ?? '',
    type: text(type) ?? '',
    metadata: isNumbered && areTexts ? metadata : '',
    data: text(data) ?? '',
  };
}

const isText = (cell: Cell): cell is string => typeof cell === 'string';
const text = (cell: Cell): string | null => (isText(cell) ? cell : null);

/** As a StorageFailure, if it is a fault of the file. */
export function translated(error: unknown): unknown {
  if (error instanceof Error && /no such (?:table|column)/.test(error.message)) {
    return new StorageFailure('storage_corrupt', `this is not an event log: ${error.message}`, { cause: error });
  }
  return asStorageFailure(error) ?? error;
}
