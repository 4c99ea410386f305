/** When a court is polled again, and what its feed's silence and gaps mean (docs/design/sources.md#feeds). Pure. */
import { dayAt, wallTime } from '../../dockets/court-time.ts';
import { MICROS_PER_SECOND, type Micros } from '../../runtime/instant.ts';
import type { FeedMemory } from './feed-memory.ts';
import { weekdayAt } from './feed-time.ts';

const MINUTE: Micros = 60 * MICROS_PER_SECOND;
const HOUR: Micros = 60 * MINUTE;
const DAY: Micros = 24 * HOUR;

/** No court is polled more often. */
export const INTERVAL: Micros = 5 * MINUTE;
/** At most this part of it later, so that courts are not polled in step. */
const JITTER = 0.1;
const LONGEST_BACK_OFF: Micros = 2 * HOUR;

/**
 * When to poll next.
 * @param failures polls that failed in a row, this one included
 * @param random from 0 to 1
 * @param interval shorter only for imitations
 */
export function nextPoll(
  now: Micros,
  failures: number,
  retryAt: Micros | null,
  random: number,
  interval: Micros = INTERVAL,
): Micros {
  const wait = failures === 0 ? interval : Math.min(interval * 2 ** Math.min(failures - 1, 10), LONGEST_BACK_OFF);
  return Math.max(now + wait, Math.min(retryAt ?? 0, now + DAY)) + Math.floor(interval * JITTER * random);
}

/** What no wait exceeds. */
const LONGEST_WAIT: Micros = DAY + HOUR;
/** By how much the clocks of two nodes may differ. */
const CLOCKS_DIFFER: Micros = MINUTE;

/** Whether a court must wait. A clock that was ahead and is set back must not stop the polls until it has caught up. */
export function mustWait({ nextAt, decidedAt }: Pick<FeedMemory, 'nextAt' | 'decidedAt'>, now: Micros): boolean {
  const wasAhead = nextAt > now + LONGEST_WAIT || (decidedAt !== null && decidedAt > now + CLOCKS_DIFFER);
  return nextAt > now && !wasAhead;
}

/** Failures in a row before the court counts as failing: one time-out is nothing. */
export const FAILING_AFTER = 3;

/** The same content has been built at times that differed by a minute. */
const WOBBLE: Micros = 2 * MINUTE;

/** Whether a feed was built anew. */
export const isRebuilt = (before: Micros | null, builtAt: Micros | null): boolean =>
  builtAt !== null && (before === null || Math.abs(builtAt - before) > WOBBLE);

const SILENT_AFTER: Micros = 2 * HOUR;

/** Whether a feed has not moved for two hours of a working day, by the court's calendar. */
export function isSilent(courtZone: string, movedAt: Micros, now: Micros): boolean {
  if (isWeekend(courtZone, now)) return false;
  // Silence of a weekend does not count, so on a Monday it begins at midnight.
  const midnight = wallTime(courtZone, dayAt(courtZone, now).day, 0, 0, 0);
  const begins = isWeekend(courtZone, midnight - HOUR) ? Math.max(movedAt, midnight) : movedAt;
  return now - begins >= SILENT_AFTER;
}

function isWeekend(courtZone: string, at: Micros): boolean {
  const weekday = weekdayAt(courtZone, at);
  return weekday === 0 || weekday === 6;
}

/** No court is known to keep its items for a shorter time. */
const SHORTEST_WINDOW: Micros = HOUR;
/** A feed that keeps a number of items, not a time, keeps more than these. */
const FEWEST_KEPT = 20;

/**
 * The time between the last look and the oldest item, or now if there is none, if entries of that time may have left the feed unseen. A court
 * without much to tell has no older item either; so the time since the last look must be longer than the feed is known
 * to keep its items, or there must be so many new items that they can have pushed out all others.
 */
export function gapOf(
  memory: Pick<FeedMemory, 'lookedAt' | 'window'>,
  feed: { readonly oldestAt: Micros | null; readonly count: number },
  now: Micros,
): { readonly from: Micros; readonly to: Micros } | null {
  const { lookedAt, window } = memory;
  if (lookedAt === null) return null;
  const to = feed.oldestAt ?? now;
  if (to <= lookedAt) return null;
  const isLonger = now - lookedAt >= Math.max(window, SHORTEST_WINDOW);
  // Of a few items all may have grown too old at once, as of a quiet court that had one.
  const isFull = feed.count >= FEWEST_KEPT;
  return isLonger || isFull ? { from: lookedAt, to } : null;
}
