/**
 * The case clock (docs/design/dockets.md#case-clock): one small cell for each case, outside all generations. It ensures
 * that the loop of `queried_at` and `last_checked` neither loses nor repeats a filing. Ingests get their times from it;
 * queries record up to when they have answered. Pure: only the values and their transitions.
 */
import type { JsonObject } from '../events/event.ts';
import { type Instant, MICROS_PER_SECOND, type Micros, toInstant, toMicros } from '../runtime/instant.ts';
import type { Position } from '../storage/event-log.ts';

/** An append that has times and may not be visible yet. */
export interface PendingIngest {
  /** The first of its times. Nothing at or after it is included in an answer until the ingest is visible. */
  readonly time: Instant;
  readonly ingestId: string;
  /** The baseline of a case that was answered in part; while it runs, no query is answered. */
  readonly baseline: boolean;
}

export interface CaseClock {
  /** Increased only by ingests. A query that saw another version reads everything again. */
  readonly version: number;
  /** No answer has covered a later time than this; null before the first answer. */
  readonly served: Instant | null;
  readonly pending: PendingIngest | null;
  /** The earliest time from which a caller expects to get everything new; null before the first answer. */
  readonly oldestAsked: Instant | null;
  /**
   * The newest position that the case document was seen to have; null before the first. A document before this position
   * is from a read store that was lost and is being rebuilt. An answer from it would miss what is not rebuilt yet.
   */
  readonly shown: Position | null;
}

export const caseClockId = (stream: string): string => `case-clock-${stream}`;

/** The clock of a case that was never queried. */
export const FRESH_CLOCK: CaseClock = { version: 1, served: null, pending: null, oldestAsked: null, shown: null };

const DAY_MICROS = 86_400 * MICROS_PER_SECOND;

/** The assumption if the clock of a case that may have been queried is gone, e.g. with a lost read store. */
export const lostClock = (now: Micros): CaseClock => ({
  version: 1,
  served: toInstant(now + 5 * MICROS_PER_SECOND),
  pending: null,
  oldestAsked: toInstant(now - 30 * DAY_MICROS),
  shown: null,
});

/** Clocks of earlier versions do not record what was shown. */
export const readClock = (value: JsonObject | null): CaseClock | null =>
  value && ({ shown: null, ...value } as unknown as CaseClock);
export const writeClock = (clock: CaseClock): JsonObject => clock as unknown as JsonObject;

/** The first time that an ingest may use: after now, after the last answer, after everything in the stream. */
export function nextTime(clock: CaseClock, now: Micros, newest: Instant | null): Micros {
  const served = clock.served === null ? 0 : toMicros(clock.served) + 1;
  const recorded = newest === null ? 0 : toMicros(newest) + 1;
  return Math.max(now, served, recorded);
}

export const begin = (clock: CaseClock, pending: PendingIngest): CaseClock => ({
  ...clock,
  version: clock.version + 1,
  pending,
});

/** Ends the pending ingest. @param shown the position of the case document that shows it */
export const clear = (clock: CaseClock, shown: Position | null): CaseClock => ({
  ...clock,
  version: clock.version + 1,
  pending: null,
  shown: isBehind(clock, shown) ? clock.shown : shown,
});

/** Whether a document at a position is missing something that an earlier document has shown. */
export const isBehind = ({ shown }: CaseClock, position: Position | null): boolean =>
  shown !== null && (position === null || position < shown);

/** The time up to which a query can answer: never past a pending ingest, never before what is visible. */
export function answerTime(clock: CaseClock, now: Micros, newestApplied: Instant | null): Instant {
  const reachable = clock.pending === null ? now : Math.min(now, toMicros(clock.pending.time) - 1);
  const time = toInstant(reachable);
  return newestApplied !== null && newestApplied > time ? newestApplied : time;
}

/**
 * How far ahead of an answer `served` is raised, so that the next answers need not raise it again: a case that is
 * queried a thousand times a second is written ten times. Later filings are dated after it, so this also limits how far
 * a filing's time may run ahead of the clock.
 */
const SERVED_AHEAD: Micros = 100_000;

/** The clock after an answer; the same object if the answer changes nothing. */
export function afterAnswer(clock: CaseClock, queriedAt: Instant, askedFrom: Instant): CaseClock {
  const raised = clock.served !== null && clock.served >= queriedAt;
  const served = raised ? clock.served : toInstant(toMicros(queriedAt) + SERVED_AHEAD);
  const oldestAsked = clock.oldestAsked !== null && clock.oldestAsked <= askedFrom ? clock.oldestAsked : askedFrom;
  return served === clock.served && oldestAsked === clock.oldestAsked ? clock : { ...clock, served, oldestAsked };
}
