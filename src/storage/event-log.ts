/**
 * The event log: the truth about what happened, when and in which order. One port, several engines; the conformance
 * suite in `test/storage/event-log.conformance.ts` is its specification.
 */
import type { DomainEvent, JsonObject } from '../events/event.ts';
import type { Instant } from '../runtime/instant.ts';
import type { SealedPayload } from './payload-store.ts';

/** A place in the whole log. Sorts as text within its log; gapless only in SQLite. */
export type Position = string;

/** The newest event of a stream as its next writer must know it: expected revision and link of the hash chain. */
export interface StreamHead {
  /** -1 where the stream does not exist. */
  readonly revision: number;
  /** `metadata.hash` of the newest event; empty where the stream does not exist. */
  readonly hash: string;
}

export const NO_STREAM: StreamHead = { revision: -1, hash: '' };

export interface EventMetadata {
  readonly recordedAt: Instant;
  readonly requestId: string | null;
  readonly correlationId: string;
  readonly causationId: string | null;
  /** Who acted: `http`, `cli`, or the name of a process. */
  readonly actor: string;
  readonly schemaVersion: number;
  /** SHA-256, hex, over the previous hash, stream, revision, id, type, data and the metadata without it (RFC 8785). */
  readonly hash: string;
}

export interface RecordedEvent {
  /** UUIDv5 of (command id, stream, expected revision, index). */
  readonly id: string;
  readonly stream: string;
  readonly revision: number;
  readonly position: Position;
  readonly type: string;
  readonly data: JsonObject;
  readonly metadata: EventMetadata;
}

/** One event, told from every other: what a reader remembers in order to know a log again. */
export type EventMark = Pick<RecordedEvent, 'position' | 'stream' | 'revision' | 'id'>;

/** An event that was given its id and its hash but not yet its position. */
export type PreparedEvent = Omit<RecordedEvent, 'position'>;

/** One append, complete: repeating it unchanged is recognised and harmless. Made by `prepareAppend`. */
export interface Append {
  readonly stream: string;
  /** Revision of the newest event, -1 for no stream: always exact, since nothing else makes a repeat safe. */
  readonly expected: number;
  /** At least one. */
  readonly events: readonly PreparedEvent[];
  /** What its events name and nobody has stored yet: on disk no later than they are. */
  readonly payloads?: readonly SealedPayload[];
}

export interface Appended {
  /** Revision of the last event of the append. */
  readonly revision: number;
  /** Position of the last event of the append. */
  readonly position: Position;
}

/** Whose act an append is (docs/design/architecture.md#event-metadata). */
export interface CommandContext {
  /** The request's own id; for a process the id of the event that caused it; for the CLI one per run and batch. */
  readonly commandId: string;
  readonly requestId: string | null;
  readonly correlationId: string;
  readonly causationId: string | null;
  readonly actor: string;
}

/** Which events a reader wants: engines filter by one thing at a time. */
export type EventFilter =
  | { readonly by: 'all' }
  | { readonly by: 'types'; readonly types: readonly string[] }
  | { readonly by: 'streams'; readonly prefixes: readonly string[] };

/** Events in log order. `position` may lie past the last one: everything up to it was seen by the filter. */
export interface EventBatch {
  readonly events: readonly RecordedEvent[];
  readonly position: Position;
  /** True from the moment that a subscription has reached what was the head of the log. */
  readonly live: boolean;
}

export interface EventLog {
  /**
   * Appends durably (on disk when the promise resolves), all or nothing.
   * The same append repeated gives the original outcome. Where it is refused its payloads may be stored all the same.
   * @throws RevisionConflict if the stream is not at the expected revision
   * @throws InvalidAppend for an append of no events or over the size limit
   * @throws StorageFailure if the engine cannot take it now; repeat it unchanged until its outcome is known
   */
  append(append: Append): Promise<Appended>;

  /** Events of one stream from a revision (default 0), oldest first; empty where the stream does not exist. */
  read(
    stream: string,
    options?: { readonly from?: number; readonly limit?: number },
  ): Promise<readonly RecordedEvent[]>;

  /** Every event after `from` (null: from the start) up to the present head, in batches, with backpressure; then ends. */
  readAll(from: Position | null, filter: EventFilter): AsyncIterable<EventBatch>;

  /**
   * Catches up after `from` and then goes live, each event once, in log order; the next batch is fetched only when
   * asked for. With nothing to catch up with, one empty live batch comes at once. Ends only by `signal` or by leaving
   * the loop; a lost connection is resumed inside.
   */
  subscribe(from: Position | null, filter: EventFilter, signal?: AbortSignal): AsyncIterable<EventBatch>;

  /** Position of the newest event, null in an empty log. */
  head(): Promise<Position | null>;

  /**
   * How many events lie after a position (null: in all), counted no further than `limit`, nor than 10,000 where an
   * engine has to read in order to count.
   */
  countAfter(from: Position | null, limit: number): Promise<number>;

  /**
   * Grows whenever the engine may have been exchanged for another: a connection was lost, or the head went back. Left
   * out where nothing of the kind can happen unnoticed.
   */
  doubts?(): number;

  /** Throws if the log cannot be reached or, where the engine can tell without adding to it, not be written. */
  check(): Promise<void>;

  close(): Promise<void>;
}

/** The stream was not at the expected revision: somebody else wrote first. */
export class RevisionConflict extends Error {
  readonly code = 'revision_conflict';
  constructor(
    readonly stream: string,
    readonly expected: number,
    readonly actual: number,
  ) {
    super(`stream ${stream} is at revision ${actual}, not at ${expected}`);
    this.name = 'RevisionConflict';
  }
}

/** An append that no engine would take. */
export class InvalidAppend extends Error {
  readonly code = 'invalid_append';
  constructor(message: string) {
    super(message);
    this.name = 'InvalidAppend';
  }
}

/** Most bytes of data in one append, for every engine: the default limit of EventStoreDB. */
export const MAX_APPEND_BYTES = 1024 * 1024;

export interface EventToAppend {
  readonly stream: string;
  readonly head: StreamHead;
  readonly events: readonly DomainEvent[];
  readonly context: CommandContext;
  readonly recordedAt: Instant;
}
