/** When the next attempt of a delivery is due, as far as the log can prove it (docs/design/callbacks.md#schedule). */
import type { ScheduledDelivery } from '../../commands/delivery/delivery.ts';
import { delayAfter, MAX_JITTER } from '../../commands/delivery/schedule.ts';
import type { DeliveryAttemptFinished } from '../../events/delivery.ts';
import type { EventOf } from '../../events/event.ts';
import { type Instant, type Micros, toInstant, toMicros } from '../../runtime/instant.ts';

type Finished = EventOf<typeof DeliveryAttemptFinished>['data'];

export interface NextAttempt {
  /** What is expected, if the event says something else; null if it is on schedule. */
  readonly broken: string | null;
  /** Whether only an unrecorded `Retry-After` can have moved it. */
  readonly isUnprovable: boolean;
}

const ON_SCHEDULE: NextAttempt = { broken: null, isUnprovable: false };

/** Judges `nextAttemptAt` of an outcome. @param state the delivery before it */
export function nextAttempt(state: ScheduledDelivery, finished: Finished): NextAttempt {
  const { outcome, failureClass, redelivery, attempt, finishedAt, nextAttemptAt } = finished;
  if (outcome === 'acknowledged' || failureClass === 'content_withdrawn') return exactly(null, nextAttemptAt);
  if (redelivery) return exactly(state.nextAttemptAt, nextAttemptAt);
  if (outcome === 'interrupted') return exactly(finishedAt, nextAttemptAt);
  const shortest = delayAfter(attempt, 0);
  if (shortest === null) return exactly(null, nextAttemptAt);
  return within(toMicros(finishedAt), attempt, shortest, finished);
}

function exactly(expected: Instant | null, found: Instant | null): NextAttempt {
  return expected === found ? ON_SCHEDULE : { broken: expected ?? 'no further attempt', isUnprovable: false };
}

function within(from: Micros, attempt: number, shortest: Micros, finished: Finished): NextAttempt {
  const { nextAttemptAt, retryAfterSeconds } = finished;
  const isRecorded = retryAfterSeconds !== undefined;
  const asked = retryAfterSeconds ?? null;
  const earliest = delayAfter(attempt, 0, asked) ?? shortest;
  const latest = delayAfter(attempt, MAX_JITTER, asked) ?? shortest;
  // The most that a receiver can ask for.
  const longest = isRecorded ? latest : (delayAfter(attempt, 0, Number.POSITIVE_INFINITY) ?? latest);
  const delay = nextAttemptAt === null ? null : toMicros(nextAttemptAt) - from;
  if (delay === null || delay < earliest || delay > longest) {
    return { broken: `${toInstant(from + earliest)} to ${toInstant(from + latest)}`, isUnprovable: false };
  }
  return delay <= latest ? ON_SCHEDULE : { broken: null, isUnprovable: true };
}
