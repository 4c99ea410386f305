/** The event log on SQLite: one table, positions without gaps, one fsync for all concurrent writers. */
import { nextTurn } from '../../runtime/next-turn.ts';
import type {
  Append,
  Appended,
  EventBatch,
  EventFilter,
  EventLeaf,
  EventLog,
  Position,
  RecordedEvent,
} from '../event-log.ts';
import { StorageFailure } from '../storage-failure.ts';
import { serialiseAppend } from './append-events.ts';
import { type EventReader, eventReader, leafReader } from './event-reader.ts';
import {
  AT_A_POSITION,
  EVENT_COLUMNS,
  type EventRow,
  positionNumber,
  positionText,
  recordedEvent,
} from './event-rows.ts';
import type { LogCommitter } from './log-committer.ts';
import type { LogWatch } from './log-watch.ts';
import type { SqliteFile } from './sqlite-file.ts';

export class SqliteEventLog implements EventLog {
  readonly #file: SqliteFile;
  readonly #committer: LogCommitter;
  readonly #watch: LogWatch;
  readonly #selectStream;
  readonly #selectHead;
  readonly #selectFirst;
  #closed = false;
  #doubts = 0;
  /** Id of the first event. It reveals that another program has replaced this log. */
  #first: string | null;
  /** The number of committed groups when `#first` was read. */
  #firstAfter = -1;
  /** The head as read after a mark of the watch: any later commit has woken its followers, or will. */
  #headAfter = { mark: -1, head: 0 };

  constructor(file: SqliteFile, committer: LogCommitter, watch: LogWatch) {
    this.#file = file;
    this.#committer = committer;
    this.#watch = watch;
    this.#selectStream = file.database
      .prepare<[string, number, number], EventRow>(
        `SELECT ${EVENT_COLUMNS} FROM events WHERE stream = ? AND revision >= ? AND ${AT_A_POSITION}
         ORDER BY revision LIMIT 0 + ?`,
      )
      .raw();
    this.#selectHead = file.database
      .prepare<[], number | null>(`SELECT max(position) FROM events WHERE ${AT_A_POSITION}`)
      .pluck();
    this.#selectFirst = file.database.prepare<[], string>('SELECT id FROM events ORDER BY position LIMIT 1').pluck();
    this.#first = this.#selectFirst.get() ?? null;
    committer.hold();
  }

  async append(append: Append): Promise<Appended> {
    this.#assertOpen();
    const appended = await this.#committer.submit<Appended>({ write: 'append', append: serialiseAppend(append) });
    // The file may have been rewritten in place, in which case no connection is lost.
    await this.#compareFirst();
    return appended;
  }

  /**
   * Compares once for everything that a group has written.
   * @throws StorageFailure that leaves open whether the append was kept
   */
  async #compareFirst(): Promise<void> {
    const group = this.#committer.groups;
    if (group === this.#firstAfter) return;
    try {
      await this.#file.whenFree(() => {
        const first = this.#selectFirst.get() ?? null;
        if (this.#first !== null && first !== this.#first) this.#doubts++;
        this.#first = first;
        this.#firstAfter = group;
      });
    } catch (error) {
      if (!(error instanceof StorageFailure)) throw error;
      throw new StorageFailure(error.code, error.message, { cause: error });
    }
  }

  doubts(): number {
    return this.#doubts;
  }

  async read(
    stream: string,
    { from = 0, limit }: { readonly from?: number; readonly limit?: number } = {},
  ): Promise<readonly RecordedEvent[]> {
    this.#assertOpen();
    const rows = await this.#file.whenFree(() => this.#selectStream.all(stream, from, limit ?? -1));
    return rows.map(recordedEvent);
  }

  async *readAll(from: Position | null, filter: EventFilter): AsyncIterable<EventBatch> {
    const head = await this.#head();
    for await (const batch of this.#upTo(head, positionNumber(from), eventReader(this.#file.database, filter))) {
      yield { ...batch, live: false };
    }
  }

  async *readLeaves(from: Position | null): AsyncIterable<{ readonly events: readonly EventLeaf[] }> {
    const head = await this.#head();
    yield* this.#upTo(head, positionNumber(from), leafReader(this.#file.database));
  }

  async *subscribe(from: Position | null, filter: EventFilter, signal?: AbortSignal): AsyncIterable<EventBatch> {
    const read = eventReader(this.#file.database, filter);
    let position = positionNumber(from);
    let live = false;
    while (!signal?.aborted) {
      const mark = this.#watch.mark();
      // Another process's commits show late here, and a new subscriber must reach the head as of its start.
      if (!live || this.#headAfter.mark !== mark) this.#headAfter = { mark, head: await this.#head() };
      const { head } = this.#headAfter;
      if (position >= head) {
        if (!live) yield { events: [], position: positionText(position), live: true };
        live = true;
        await this.#watch.changed(mark, signal);
        continue;
      }
      for await (const batch of this.#upTo(head, position, read)) {
        if (signal?.aborted) return;
        position = positionNumber(batch.position);
        live ||= position >= head;
        yield { ...batch, live };
        if (signal?.aborted) return;
      }
    }
  }

  async head(): Promise<Position | null> {
    const head = await this.#head();
    return head === 0 ? null : positionText(head);
  }

  async countAfter(from: Position | null, limit: number): Promise<number> {
    return Math.min(limit, Math.max(0, (await this.#head()) - positionNumber(from)));
  }

  /** Also checks whether the log can be written: a full or read-only disk can still be read. */
  async check(): Promise<void> {
    await this.#head();
    await this.#committer.checkWritable();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#committer.flush();
    const released = this.#committer.release();
    this.#watch.wake();
    await released;
  }

  async #head(): Promise<number> {
    this.#assertOpen();
    return this.#file.whenFree(() => this.#selectHead.get() ?? 0);
  }

  #assertOpen(): void {
    if (this.#closed) throw new StorageFailure('storage_closed', 'the event log is closed', { nothingWritten: true });
  }

  async *#upTo<Event>(
    head: number,
    from: number,
    read: EventReader<Event>,
  ): AsyncIterable<{ readonly events: readonly Event[]; readonly position: Position }> {
    let position = from;
    while (position < head) {
      const slice = await this.#file.whenFree(() => read(position, head));
      position = slice.upTo;
      yield { events: slice.events, position: positionText(position) };
      // Everything above resolves within this turn of the event loop; other work needs a turn between two slices.
      if (position < head) await nextTurn();
    }
  }
}
