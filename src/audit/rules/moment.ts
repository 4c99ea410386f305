/** When something happened in the log, stated with a fact, so that what a payment owes is judged once it was done. */
import type { Json, JsonObject } from '../../events/event.ts';
import type { Fact, Findings, JudgedEvent } from '../judging.ts';
import { isOwedTooLong, type LogMoment } from '../log-time.ts';
import { isEarlier } from './earlier.ts';

/**
 * The moment of an event as part of a fact's value. Nothing for events of earlier versions: what those owed may have
 * waited for the version that does it.
 */
export function momentOf(event: JudgedEvent, { logTime }: Findings): JsonObject {
  return !logTime || isEarlier(event) ? {} : { moment: logTime.momentAt(event.metadata.recordedAt) };
}

/** Until when something should have been done, if it was done too late; null if it was not. */
export function tooLate(owed: Fact, done: Fact): string | null {
  const [from, to] = [momentIn(owed.value), momentIn(done.value)];
  return from && to && isOwedTooLong(from, to) ? `within an hour of ${owed.at}` : null;
}

const momentIn = (value: Json): LogMoment | undefined => (value as { readonly moment?: LogMoment }).moment;
