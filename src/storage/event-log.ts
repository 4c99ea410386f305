/**
 * The event log: the source of truth about what happened, when and in which order. One port, several engines; the
 * conformance suite in `test/storage/event-log.conformance.ts` is its specification.
 */
import type { DomainEvent, JsonObject } from '../events/event.ts';
import type { Instant } from '../runtime/instant.ts';
import type { SealedPayload } from './payload-store.ts';

/** A position in the whole log. Sorts as text within its log; gapless only in SQLite. */
export type Position = string;

/**
 * What the next writer of a stream needs to know about its newest event: the expected revision and the hash to chain
 * to.
 */
export interface StreamHead {
  /** -1 if the stream does not exist. */
  readonly revision: number;
  /** `metadata.hash` of the newest event; empty if the stream does not exist. */
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
  /** The command whose append wrote the event, so that its id can be recomputed. Absent in events of earlier versions. */
  readonly commandId?: string;
  /** The span that wrote the event, so that what follows from it joins its trace. Only of traces that are exported. */
  readonly traceparent?: string;
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

/** Identifies one event. A reader remembers it to recognize the log later. */
export type EventMark = Pick<RecordedEvent, 'position' | 'stream' | 'revision' | 'id'>;

/** An event that has its id and its hash but no position yet. */
export type PreparedEvent = Omit<RecordedEvent, 'position'>;

/** One complete append. Repeating it unchanged is recognized and harmless. Made by `prepareAppend`. */
export interface Append {
  readonly stream: string;
  /** Revision of the newest event, -1 for no stream. Always exact: only then is a repeat safe. */
  readonly expected: number;
  /** At least one. */
  readonly events: readonly PreparedEvent[];
  /** Content that the events name and that is not stored yet. It is on disk no later than the events. */
  readonly payloads?: readonly SealedPayload[];
}

export interface Appended {
  /** Revision of the last event of the append. */
  readonly revision: number;
  /** Position of the last event of the append. */
  readonly position: Position;
}

/** Who caused an append (docs/design/architecture.md#event-metadata). */
export interface CommandContext {
  /** The request's own id; for a process the id of the event that caused it; for the CLI one per run and batch. */
  readonly commandId: string;
  readonly requestId: string | null;
  readonly correlationId: string;
  readonly causationId: string | null;
  readonly actor: string;
}

/** Which events a reader wants. An engine filters by types or by stream prefixes, not by both. */
export type EventFilter =
  | { readonly by: 'all' }
  | { readonly by: 'types'; readonly types: readonly string[] }
  | { readonly by: 'streams'; readonly prefixes: readonly string[] };

/** An event without its content: what identifies it, and what the log's tree commits to. */
export interface EventLeaf extends EventMark {
  /** `metadata.hash`. */
  readonly hash: string;
}

/** Events in log order. `position` may lie past the last one: the filter has seen everything up to it. */
export interface EventBatch {
  readonly events: readonly RecordedEvent[];
  readonly position: Position;
  /** True once a subscription has reached the head that the log had when it started. */
  readonly live: boolean;
}

export interface EventLog {
  /**
   * Appends durably (on disk when the promise resolves), all or nothing.
   * The same append repeated returns the original outcome. If an append is rejected, its payloads may still be stored.
   * @throws RevisionConflict if the stream is not at the expected revision
   * @throws InvalidAppend for an append of no events or over the size limit
   * @throws StorageFailure if the engine cannot write now; repeat it unchanged until its outcome is known
   */
  append(append: Append): Promise<Appended>;

  /** Events of one stream from a revision (default 0), oldest first; empty if the stream does not exist. */
  read(
    stream: string,
    options?: { readonly from?: number; readonly limit?: number },
  ): Promise<readonly RecordedEvent[]>;

  /**
   * Every event after `from` (null: from the start) up to the current head, in batches, with backpressure; then ends.
   */
  readAll(from: Position | null, filter: EventFilter): AsyncIterable<EventBatch>;

  /**
   * As `readAll` without a filter, but without content. Omitted by engines for which that is not cheaper: `leavesOf` then
   * reads whole events.
   * @throws UnreadableEvent for an event whose metadata cannot be read; content is not looked at
   */
  readLeaves?(from: Position | null): AsyncIterable<{ readonly events: readonly EventLeaf[] }>;

  /**
   * Catches up after `from` and then goes live: each event once, in log order. The next batch is fetched only on
   * request. If there is nothing to catch up with, one empty live batch comes at once. Ends only when `signal` aborts
   * or the caller leaves the loop; a lost connection is resumed internally.
   */
  subscribe(from: Position | null, filter: EventFilter, signal?: AbortSignal): AsyncIterable<EventBatch>;

  /** Position of the newest event; null in an empty log. */
  head(): Promise<Position | null>;

  /**
   * How many events lie after a position (null: in all). Counting stops at `limit`, and at 10,000 in an engine that
   * must read to count.
   */
  countAfter(from: Position | null, limit: number): Promise<number>;

  /**
   * Grows whenever the engine may have been replaced by another: a connection was lost, or the head went back. Omitted
   * by engines that would always notice.
   */
  doubts?(): number;

  /**
   * Throws if the log cannot be reached. Also throws if it cannot be written, where the engine can find out without a
   * write.
   */
  check(): Promise<void>;

  close(): Promise<void>;
}

/** Every event after a position, without content. */
export async function* leavesOf(
  log: Pick<EventLog, 'readAll' | 'readLeaves'>,
  from: Position | null,
): AsyncIterable<readonly EventLeaf[]> {
  if (log.readLeaves) {
    for await (const { events } of log.readLeaves(from)) yield events;
    return;
  }
  for await (const { events } of log.readAll(from, { by: 'all' })) {
    yield events.map(({ position, stream, revision, id, metadata }) => ({
      position,
      stream,
      revision,
      id,
      hash: metadata.hash,
    }));
  }
}

/** The stream was not at the expected revision: another writer was first. */
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

/** An append that every engine would reject. */
export class InvalidAppend extends Error {
  readonly code = 'invalid_append';
  constructor(message: string) {
    super(message);
    this.name = 'InvalidAppend';
  }
}

/** Maximum bytes of data in one append, for every engine: the default limit of EventStoreDB. */
export const MAX_APPEND_BYTES = 1024 * 1024;

export interface EventToAppend {
  readonly stream: string;
  readonly head: StreamHead;
  readonly events: readonly DomainEvent[];
  readonly context: CommandContext;
  readonly recordedAt: Instant;
  /** Of the span that appends, if it is exported. */
  readonly traceparent?: string | undefined;
}
