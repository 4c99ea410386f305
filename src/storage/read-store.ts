/**
 * The read store: documents that projections build and that can be thrown away, beside a few single-document atomic
 * things (cells, leases, counters) that live outside all generations. Every write is one atomic operation on a unique
 * id, so that MongoDB needs no transaction. The conformance suite in `test/storage/read-store.conformance.ts` is its
 * specification.
 */
import type { JsonObject } from '../events/event.ts';
import type { Micros } from '../runtime/instant.ts';
import type { EventMark, Position } from './event-log.ts';

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

/** How far a document is, also where it was deleted: what a fold continues from. */
export interface DocumentState {
  readonly position: Position;
  /** Null for a tombstone. */
  readonly document: JsonObject | null;
}

export interface DocumentWrite {
  readonly collection: string;
  readonly id: string;
  /** Null deletes: a tombstone with its position stays until the generation retires. */
  readonly document: JsonObject | null;
  readonly position: Position;
}

/** A bounded part of one field's order. Bounds compare as the field's type does (text by code unit). */
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
  /** Order by this field, then by id, both in this direction; documents without the field count as lowest. Without it: by id. */
  readonly order?: { readonly field: string; readonly direction: 'ascending' | 'descending' };
  readonly limit: number;
  /** Continue behind this document: the order field's value (absent where it had none) and the id of the last one seen. */
  readonly after?: { readonly value?: string | number; readonly id: string };
}

export interface Count extends Pick<Find, 'collection' | 'equals' | 'range'> {
  /** Count no further, at least 1: what is left out costs nothing. */
  readonly limit?: number;
}

export interface Commit {
  readonly projection: string;
  readonly generation: number;
  /** Applied in the order given; readers may see any prefix of them. */
  readonly writes: readonly DocumentWrite[];
  /** The checkpoint, stored after all writes. */
  readonly position: Position;
  /** The last event that was folded, at or before the position; left out where the position alone moves. */
  readonly newest?: EventMark;
}

/** A small document outside all generations, changed by compare-and-set on its version. */
export interface Cell {
  /** 0 where the cell does not exist. */
  readonly version: number;
  readonly value: JsonObject | null;
}

export interface Lease {
  readonly name: string;
  readonly owner: string;
  /** Fencing token: grows with every change of owner. */
  readonly token: number;
}

export interface Counted {
  readonly count: number;
  /** Whether this increment fitted under the limit; one that did not fit did not count. */
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

export interface ReadStore {
  /**
   * Creates what is missing of a projection's collections and their indexes, for one generation. A collection that
   * nobody has prepared reads as empty.
   */
  prepare(projection: string, generation: number, collections: readonly CollectionSpec[]): Promise<void>;

  /** Documents by id; those that do not exist, or are deleted, are missing from the map. */
  load<Document = JsonObject>(
    collection: string,
    ids: readonly string[],
    generation?: number,
  ): Promise<ReadonlyMap<string, Stored<Document>>>;

  /** As `load`, tombstones included: a fold must not begin anew on a document that was deleted further on. */
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

  /** Where a projection's generation stands; null before its first commit. */
  checkpoint(projection: string, generation: number): Promise<Position | null>;

  /** The newest event that a generation was told to have folded; null where no commit has named one. */
  newestEvent(projection: string, generation: number): Promise<EventMark | null>;

  find<Document = JsonObject>(query: Find, generation?: number): Promise<readonly Stored<Document>[]>;

  /** How many documents match. */
  count(query: Count, generation?: number): Promise<number>;

  /** The generation that readers see: 1 until another is activated. */
  activeGeneration(projection: string): Promise<number>;
  activateGeneration(projection: string, generation: number): Promise<void>;

  /**
   * Removes the documents, tombstones and the checkpoint of a generation that is not active. Repeating it is harmless.
   * @throws RangeError for the active generation
   */
  retireGeneration(projection: string, generation: number): Promise<void>;

  /** The id of the log that all of this was made from; null until it is said. */
  logId(): Promise<string | null>;
  /** Says which log all of this is made from, unless that is known; gives the id that holds. */
  belongTo(logId: string): Promise<string>;

  cell(id: string): Promise<Cell>;
  /** Sets the value if the cell is still at that version; gives whether it was. The version then grows by one. */
  compareAndSet(id: string, version: number, value: JsonObject): Promise<boolean>;

  /**
   * Takes or renews a lease; null while somebody else holds it. Time comes from the caller. A renewal keeps its token;
   * taking a lease that had expired or was released gives a higher one. Owners are named uniquely for each process.
   */
  acquireLease(name: string, owner: string, now: Micros, durationMicros: Micros): Promise<Lease | null>;
  releaseLease(lease: Lease): Promise<void>;

  /**
   * Adds to a counter with a fixed window that starts with its first increment that counts.
   * @param amount 0 reads, negative gives back (never below 0, and nothing once the window has ended)
   */
  increment(id: string, amount: number, limit: number, now: Micros, windowMicros: Micros): Promise<Counted>;
  /**
   * As `increment` for each in turn, up to the first that does not fit, whose outcome is the last one given: what stands
   * behind it is not tried, and what stood before it stays counted. At one go where the engine can.
   */
  incrementInTurn(increments: readonly Increment[]): Promise<readonly Counted[]>;

  check(): Promise<void>;
  close(): Promise<void>;
}

/** What queries need of it: documents, and the cells of case clocks. */
export type QueryStore = Pick<ReadStore, 'load' | 'find' | 'count' | 'cell' | 'compareAndSet'>;

/** @throws RangeError for the generation that readers see */
export function assertRetirable(active: number, projection: string, generation: number): void {
  if (generation === active) throw new RangeError(`generation ${generation} of ${projection} is the active one`);
}
