/**
 * The event log as an auditor reads it: each event as it is stored, broken ones included, so that reading never stops
 * at a fault. `src/audit/verify` judges what is read.
 */
import type { Position } from './event-log.ts';

/** An event with its content as text that may be anything. */
export interface RawEvent {
  readonly position: Position;
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  readonly metadata: string;
  readonly data: string;
}

export interface MisplacedEvent {
  readonly stream: string;
  /** Null if it is not a whole number. */
  readonly revision: number | null;
  /** As it is stored. */
  readonly position: string;
}

/** Consecutive events: everything after one position up to another. */
export interface RawBatch {
  readonly after: Position | null;
  readonly upTo: Position;
  readonly events: readonly RawEvent[];
}

export interface RawEventLog {
  /** Whether positions are 1, 2, 3 … if nothing was removed. */
  readonly gapless: boolean;

  /** Position of the newest event; null in an empty log. */
  head(): Promise<Position | null>;

  /** Events, not all if there are many, at positions where the service never writes and no reader finds them. */
  misplaced(): Promise<readonly MisplacedEvent[]>;

  /** Everything after one position up to another, in order. @throws StorageFailure if the engine cannot read */
  read(after: Position | null, upTo: Position): AsyncIterable<RawBatch>;

  /** One event of a stream; null if there is none. */
  find(stream: string, revision: number): Promise<RawEvent | null>;

  /** Which share of the log up to a head lies before a position, 0 to 1. */
  share(position: Position, head: Position): number;

  close(): Promise<void>;
}
