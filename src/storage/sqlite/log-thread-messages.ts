/** The messages between the main thread and the thread that writes the log. Classes do not survive the transfer. */
import { RevisionConflict } from '../event-log.ts';
import { StorageFailure } from '../storage-failure.ts';
import type { Outcome } from './commit-together.ts';
import type { OpenedFile } from './database-files.ts';
import type { LogWrite } from './log-writes.ts';

export interface LogThreadData {
  readonly path: string;
  /** The files that the main thread has opened. The thread must have opened the same ones, or it commits nothing. */
  readonly opened: readonly OpenedFile[];
  /** Another database whose write-ahead log the thread checkpoints from time to time; null for none. */
  readonly alsoCheckpoints: string | null;
}

/** To the thread: a group to commit, or the request to end. */
export type ToLogThread = readonly LogWrite[] | 'end';

/** From the thread: that it is ready, or the outcomes of its last group, in order. */
export type FromLogThread = 'ready' | readonly SentOutcome[];

export type SentOutcome =
  | { readonly value: unknown }
  | { readonly conflict: { readonly stream: string; readonly expected: number; readonly actual: number } }
  | { readonly failure: Pick<StorageFailure, 'code' | 'message' | 'nothingWritten'> }
  | { readonly error: { readonly name: string; readonly message: string; readonly stack: string | undefined } };

export function outcomeToSend(outcome: Outcome): SentOutcome {
  if ('value' in outcome) return outcome;
  const { error } = outcome;
  if (error instanceof RevisionConflict) {
    const { stream, expected, actual } = error;
    return { conflict: { stream, expected, actual } };
  }
  if (error instanceof StorageFailure) {
    const { code, message, nothingWritten } = error;
    return { failure: { code, message, nothingWritten } };
  }
  if (!(error instanceof Error)) return { error: { name: 'Error', message: String(error), stack: undefined } };
  const { name, message, stack } = error;
  return { error: { name, message, stack } };
}

export function outcomeReceived(sent: SentOutcome): Outcome {
  if ('value' in sent) return sent;
  if ('conflict' in sent) {
    const { stream, expected, actual } = sent.conflict;
    return { error: new RevisionConflict(stream, expected, actual) };
  }
  if ('failure' in sent) {
    const { code, message, nothingWritten } = sent.failure;
    return { error: new StorageFailure(code, message, { nothingWritten }) };
  }
  const { name, message, stack } = sent.error;
  return { error: Object.assign(new Error(message), { name, ...(stack === undefined ? {} : { stack }) }) };
}
