/** The event log on EventStoreDB. The tests of this adapter document the server behavior that it relies on. */

import {
  type Append,
  type Appended,
  type EventBatch,
  type EventFilter,
  type EventLog,
  InvalidAppend,
  type Position,
  type RecordedEvent,
} from '../event-log.ts';
import { StorageFailure } from '../storage-failure.ts';
import { Trouble, type TroubleLogger } from '../trouble.ts';
import { appendUntilKnown } from './appending.ts';
import { Lane } from './client.ts';
import type { EventStoreSettings } from './connection-string.ts';
import { finalError, unreachable } from './failures.ts';
import { type Following, follow, readUpTo } from './following.ts';
import { HeadWatch } from './head-watch.ts';
import { START_OF_LOG } from './positions.ts';
import { type ReadOptions, readHead, readHeadOnce, readStream } from './stream-reading.ts';

/** The event store can count only by reading. Beyond this limit, the exact number no longer matters. */
const MOST_COUNTED = 10_000;

export class EventStoreEventLog implements EventLog {
  /** Used for appends and short reads. Subscriptions keep their calls open and have a connection of their own. */
  readonly #commands: Lane;
  readonly #subscriptions: Lane;
  readonly #watch: HeadWatch;
  readonly #closing = new AbortController();
  readonly #following: Following;
  readonly #appending = new Set<Promise<unknown>>();

  constructor(settings: EventStoreSettings, logger?: TroubleLogger) {
    this.#commands = new Lane(settings);
    this.#subscriptions = new Lane(settings);
    this.#watch = new HeadWatch(this.#commands);
    this.#following = {
      lane: this.#subscriptions,
      watch: this.#watch,
      closing: this.#closing.signal,
      head: () => this.head(),
      ...(logger && { trouble: new Trouble(logger, { part: 'event_log' }) }),
    };
  }

  /** Payloads are stored in another engine: see `withPayloadsFirst`. */
  async append(append: Append): Promise<Appended> {
    this.#assertOpen();
    if (append.payloads?.length)
      throw new InvalidAppend(`an append to ${append.stream} carries payloads that no payload store has stored`);
    const appending = appendUntilKnown(
      {
        lane: this.#commands,
        closing: this.#closing.signal,
        positionOf: (stream, revision, id) => this.#positionOf(stream, revision, id),
      },
      append,
    );
    this.#appending.add(appending);
    try {
      const appended = await appending;
      this.#watch.reached(appended.position);
      return appended;
    } finally {
      this.#appending.delete(appending);
    }
  }

  async read(stream: string, options: ReadOptions = {}): Promise<readonly RecordedEvent[]> {
    this.#assertOpen();
    return readStream(this.#commands, this.#closing.signal, stream, options);
  }

  async *readAll(from: Position | null, filter: EventFilter): AsyncIterable<EventBatch> {
    this.#assertOpen();
    const head = await this.head();
    const start = from ?? START_OF_LOG;
    if (head === null || start >= head) return;
    for await (const batch of readUpTo(this.#following, start, head, filter)) yield { ...batch, live: false };
  }

  subscribe(from: Position | null, filter: EventFilter, signal?: AbortSignal): AsyncIterable<EventBatch> {
    this.#assertOpen();
    return follow(this.#following, from, filter, signal);
  }

  async head(): Promise<Position | null> {
    this.#assertOpen();
    const head = await readHead(this.#commands, this.#closing.signal);
    if (head !== null) this.#watch.reached(head);
    return head;
  }

  async countAfter(from: Position | null, limit: number): Promise<number> {
    const most = Math.min(limit, MOST_COUNTED);
    let count = 0;
    for await (const { events } of this.readAll(from, { by: 'all' })) {
      count += events.length;
      if (count >= most) return most;
    }
    return count;
  }

  doubts(): number {
    return this.#commands.losses + this.#subscriptions.losses + this.#watch.losses + this.#watch.regressions;
  }

  /** Asks once, without retries: a check reports the current state. */
  async check(): Promise<void> {
    this.#assertOpen();
    try {
      await readHeadOnce(this.#commands);
    } catch (error) {
      throw finalError(error, 'read $all') ?? unreachable('it does not answer', error);
    }
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    await Promise.allSettled(this.#appending);
    await Promise.all([this.#commands.close(), this.#subscriptions.close()]);
  }

  async #positionOf(stream: string, revision: number, id: string): Promise<Position> {
    const [event] = await this.read(stream, { from: revision, limit: 1 });
    if (event?.id === id) return event.position;
    throw new StorageFailure(
      'storage_corrupt',
      `event ${revision} of stream ${stream} was accepted but cannot be found`,
    );
  }

  #assertOpen(): void {
    if (this.#closing.signal.aborted) throw new StorageFailure('storage_closed', 'the event log is closed');
  }
}
