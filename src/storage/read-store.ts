/**
 * The read store: disposable documents built by projections, and a few single-document atomic structures (cells,
 * leases, counters) outside all generations. Every write is one atomic operation on a unique id, so MongoDB needs no
 * transaction. The conformance suite in `test/storage/read-store.conformance.ts` is its specification.
 */
import type { JsonObject } from '../events/event.ts';
import type { Instant, Micros } from '../runtime/instant.ts';
import type { EventMark, Position } from './event-log.ts';
import type { Notices } from './notices.ts';

export type Scalar = string | number | boolean | null;

/** A collection of documents, owned by one projection. Each index is a list of top-level fields, ascending. */
export interface CollectionSpec {
  readonly name: string;
  readonly indexes: readonly (readonly string[])[];
}

export interface Stored<Document = JsonObject> {
  readonly id: string;
  /** The log position that the document reflects. */
  readonly position: Position;
  readonly document: Document;
}

/** The position of a document, even if it was deleted: where a fold continues. */
export interface DocumentState {
  readonly position: Position;
  /** Null for a tombstone. */
  readonly document: JsonObject | null;
}

export interface DocumentWrite {
  readonly collection: string;
  readonly id: string;
  /** Null deletes: a tombstone with its position stays until the generation is retired. */
  readonly document: JsonObject | null;
  readonly position: Position;
}

/** A range of one field's values. Bounds compare as the field's type does (text by code unit). */
export interface FieldRange {
  readonly field: string;
  readonly above?: string | number;
  readonly from?: string | number;
  readonly upTo?: string | number;
  readonly below?: string | number;
}

export interface Find {
  readonly collection: string;
  readonly equals?: Readonly<Record<string, Scalar>>;
  readonly range?: FieldRange;
  /**
   * Order by this field, then by id, both in this direction. Documents without the field sort lowest. If omitted: by
   * id.
   */
  readonly order?: { readonly field: string; readonly direction: 'ascending' | 'descending' };
  readonly limit: number;
  /** Continue after this document: the order field's value (absent if it had none) and the id of the last one read. */
  readonly after?: { readonly value?: string | number; readonly id: string };
}

export interface Count extends Pick<Find, 'collection' | 'equals' | 'range'> {
  /** Stop counting here, at least 1: the rest costs nothing. */
  readonly limit?: number;
}

/** Counts the documents of each value of a field, the most frequent first. */
export interface Tally extends Pick<Find, 'collection' | 'equals' | 'range'> {
  readonly by: string;
  /** The most values to return. */
  readonly limit: number;
}

export interface Tallied {
  readonly value: string;
  readonly count: number;
}

export interface Commit {
  readonly projection: string;
  readonly generation: number;
  /** Applied in the given order; readers may see any prefix of them. */
  readonly writes: readonly DocumentWrite[];
  /** The checkpoint, stored after all writes. */
  readonly position: Position;
  /** The last folded event, at or before the position; omitted if only the position moves. */
  readonly newest?: EventMark;
  /** How many events it folds, for those who watch a rebuild. */
  readonly folded?: number;
  /** When it is made, for those who watch a projection from another process. */
  readonly at?: Instant;
}

/** How far a generation has come. */
export interface GenerationProgress {
  readonly position: Position;
  /** When its checkpoint last moved; null if no commit has said so. */
  readonly movedAt: Instant | null;
  /** Events folded so far; those of a repeated commit count twice. */
  readonly folded: number;
}

/** Which generation of a projection readers see. */
export interface GenerationPointer {
  readonly active: number;
  /** The generation that is about to take its place: what denies something waits for both; usually null. */
  readonly next: number | null;
}

/** Where the pointer of each projection starts. */
export const FIRST_POINTER: GenerationPointer = { active: 1, next: null };

/** A small document outside all generations, changed by compare-and-set on its version. */
export interface Cell {
  /** 0 if the cell does not exist. */
  readonly version: number;
  readonly value: JsonObject | null;
}

export interface Lease {
  readonly name: string;
  readonly owner: string;
  /** Fencing token: grows with every change of owner. */
  readonly token: number;
}

/** A lease as operators see it. */
export interface LeaseStanding extends Lease {
  readonly expiresAt: Micros;
}

export interface Counted {
  readonly count: number;
  /** Whether the increment fitted under the limit; if not, it was not counted. */
  readonly allowed: boolean;
  /** When the fixed window ends, microseconds. */
  readonly resetsAt: Micros;
}

/** One change of a counter; the fields are the arguments of `ReadStore.increment`, and one more. */
export interface Increment {
  readonly id: string;
  readonly amount: number;
  readonly limit: number;
  readonly now: Micros;
  readonly windowMicros: Micros;
  /**
   * Whether an increment of a counter that is at 0 starts a new window, though the one before is still open: what was
   * counted and given back then takes nothing of the time of what comes next.
   */
  readonly restartsAtZero?: boolean;
}

export interface ReadStore extends Notices {
  /**
   * Creates the missing collections and indexes of a projection, for one generation. A collection that was never
   * prepared reads as empty.
   */
  prepare(projection: string, generation: number, collections: readonly CollectionSpec[]): Promise<void>;

  /** Documents by id; missing and deleted documents are absent from the map. */
  load<Document = JsonObject>(
    collection: string,
    ids: readonly string[],
    generation?: number,
  ): Promise<ReadonlyMap<string, Stored<Document>>>;

  /** As `load`, tombstones included: a fold must not restart on a document that was deleted at a later position. */
  loadStates(
    collection: string,
    ids: readonly string[],
    generation: number,
  ): Promise<ReadonlyMap<string, DocumentState>>;

  /**
   * Writes in order, then the checkpoint. A write to a document already at or past its position changes nothing; a
   * checkpoint never goes back.
   */
  commit(commit: Commit): Promise<void>;

  /** The position that a projection's generation has reached; null before its first commit. */
  checkpoint(projection: string, generation: number): Promise<Position | null>;

  /** The checkpoint, and when it last moved; null before the first commit. */
  progress(projection: string, generation: number): Promise<GenerationProgress | null>;

  /** The newest event that a generation's commits have named as folded; null if none has named one. */
  newestEvent(projection: string, generation: number): Promise<EventMark | null>;

  find<Document = JsonObject>(query: Find, generation?: number): Promise<readonly Stored<Document>[]>;

  /** How many documents match. */
  count(query: Count, generation?: number): Promise<number>;

  /**
   * How many documents have each text in a field; other values are left out. Equal counts are in the order of the
   * texts. Walks an index of that field once, so it takes as long as there are documents: not for a request.
   */
  tally(query: Tally, generation?: number): Promise<readonly Tallied[]>;

  /** The generation that readers see: 1 until the pointer is moved. */
  activeGeneration(projection: string): Promise<number>;
  generationPointer(projection: string): Promise<GenerationPointer>;
  /**
   * Moves the pointer in one step, if it is still as it was read. Returns whether it did. Every later read, on any node,
   * sees the generation that it names.
   */
  movePointer(projection: string, from: GenerationPointer, to: GenerationPointer): Promise<boolean>;
  /** The generations that were prepared and not retired, ascending. */
  generations(projection: string): Promise<readonly number[]>;

  /**
   * Removes the documents, tombstones and the checkpoint of a generation that readers do not see, in small steps.
   * Repeating it is harmless.
   * @throws RangeError for the active generation, and for the next one
   */
  retireGeneration(projection: string, generation: number): Promise<void>;

  /** The id of the log that all of this was built from; null until it is set. */
  logId(): Promise<string | null>;
  /** Sets the log that all of this is built from, unless it is already set. Returns the id in effect. */
  belongTo(logId: string): Promise<string>;

  cell(id: string): Promise<Cell>;
  /** Sets the value if the cell is still at that version, and returns whether it did. The version then grows by one. */
  compareAndSet(id: string, version: number, value: JsonObject): Promise<boolean>;

  /**
   * Acquires or renews a lease; null while another owner holds it. Time comes from the caller. A renewal keeps its
   * token; acquiring an expired or released lease returns a higher one. Owner names are unique for each process.
   */
  acquireLease(name: string, owner: string, now: Micros, durationMicros: Micros): Promise<Lease | null>;
  releaseLease(lease: Lease): Promise<void>;
  /** Leases that have not expired, by name. Their number is small: one for each task that one node at a time does. */
  leases(now: Micros): Promise<readonly LeaseStanding[]>;

  /**
   * Adds to a fixed-window counter. The window starts with the first increment that counts.
   * @param amount 0 reads, negative refunds (never below 0, and has no effect once the window has ended)
   */
  increment(id: string, amount: number, limit: number, now: Micros, windowMicros: Micros): Promise<Counted>;
  /**
   * As `increment` for each in turn, up to the first that does not fit. That outcome is the last one returned: later
   * increments are not tried, earlier ones stay counted. In one step if the engine supports it.
   */
  incrementInTurn(increments: readonly Increment[]): Promise<readonly Counted[]>;

  check(): Promise<void>;
  close(): Promise<void>;
}

/** The part that queries need: documents, and the cells of case clocks. */
export type QueryStore = Pick<ReadStore, 'load' | 'find' | 'count' | 'cell' | 'compareAndSet' | 'activeGeneration'>;

/** @throws RangeError for the generation that readers see, and for the one that they are about to see */
export function assertRetirable({ active, next }: GenerationPointer, projection: string, generation: number): void {
  if (generation === active) throw new RangeError(`generation ${generation} of ${projection} is the active one`);
  if (generation === next) throw new RangeError(`generation ${generation} of ${projection} is about to be active`);
}
