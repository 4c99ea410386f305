/** An append that gave no answer may be recorded or not; only repeating it unchanged can tell. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Append, type EventLog, RevisionConflict } from '../storage/event-log.ts';
import { isUnwritten } from '../storage/storage-failure.ts';

/** Pauses before an append whose outcome is not known is repeated unchanged, milliseconds. */
export const APPEND_REPEATS_MS = [50, 250, 1_000] as const;

/**
 * Appends, and repeats the same append until its outcome is known.
 * @throws RevisionConflict if somebody else wrote first
 * @throws what an attempt threw, once all pauses are used: the outcome is not known, but for a StorageFailure that
 *   says that nothing was written: then that is true of every attempt
 */
export async function appendUntilKnown(
  log: EventLog,
  append: Append,
  pauses: readonly number[] = APPEND_REPEATS_MS,
): Promise<void> {
  let unknown: { readonly error: unknown } | null = null;
  for (let attempt = 0; ; attempt++) {
    try {
      await log.append(append);
      return;
    } catch (error) {
      if (error instanceof RevisionConflict) throw error;
      // What one attempt may have written, no later one can deny.
      if (!isUnwritten(error)) unknown ??= { error };
      const pause = pauses[attempt];
      if (pause === undefined) throw unknown ? unknown.error : error;
      await sleep(pause);
    }
  }
}
