/** An append that gave no answer may be recorded or not; only repeating it unchanged can tell. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Append, type EventLog, RevisionConflict } from '../storage/event-log.ts';

/** Pauses before an append whose outcome is not known is repeated unchanged, milliseconds. */
export const APPEND_REPEATS_MS = [50, 250, 1_000] as const;

/**
 * Appends, and repeats the same append until its outcome is known.
 * @throws RevisionConflict if somebody else wrote first
 * @throws what the last attempt threw, once all pauses are used: then the outcome is not known
 */
export async function appendUntilKnown(
  log: EventLog,
  append: Append,
  pauses: readonly number[] = APPEND_REPEATS_MS,
): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      await log.append(append);
      return;
    } catch (error) {
      const pause = pauses[attempt];
      if (error instanceof RevisionConflict || pause === undefined) throw error;
      await sleep(pause);
    }
  }
}
