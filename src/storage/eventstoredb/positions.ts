/** Positions of EventStoreDB as text that sorts: commit and prepare, each 20 digits. */
import { type ReadPosition, START } from '@eventstore/db-client';
import type { Position } from '../event-log.ts';

interface LogPosition {
  readonly commit: bigint;
  readonly prepare: bigint;
}

const DIGITS = 20;
const digits = (value: bigint): string => value.toString().padStart(DIGITS, '0');

/** Before the first event. */
export const START_OF_LOG: Position = `${'0'.repeat(DIGITS)}/${'0'.repeat(DIGITS)}`;

export const positionText = ({ commit, prepare }: LogPosition): Position => `${digits(commit)}/${digits(prepare)}`;

/**
 * Where to resume a read that has seen everything up to a position.
 * @throws RangeError for a text that is not a position of this log
 */
export function readFrom(position: Position): ReadPosition {
  if (position === START_OF_LOG) return START;
  const [, commit, prepare] = /^(\d{20})\/(\d{20})$/.exec(position) ?? [];
  if (!commit || !prepare) throw new RangeError(`not a position of this log: ${position}`);
  return { commit: BigInt(commit), prepare: BigInt(prepare) };
}
