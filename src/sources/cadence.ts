/**
 * How long a look at a case stays fresh (docs/design/sources.md#watched-cases). Queries and the watch over cases share
 * this one rule: what a query would look at again is what the watch looks at before.
 */
import type { Court, CourtLevel } from '../courts/court.ts';
import { type Instant, MICROS_PER_SECOND, type Micros, toMicros } from '../runtime/instant.ts';

const HOUR: Micros = 3_600 * MICROS_PER_SECOND;
const DAY: Micros = 24 * HOUR;

export interface CaseActivity {
  /** When its newest filing or visible change became available; null if none is known. */
  readonly activeAt: Instant | null;
  /** Whether the court has closed the case. */
  readonly closed: boolean;
  /** Whether a feed or an alert shows what is new in it, so that a look only completes what they say. */
  readonly covered: boolean;
}

/** Ascending by age; each row applies to newest activity younger than `within`. */
const CADENCE: readonly { readonly within: Micros; readonly open: Micros; readonly closed: Micros }[] = [
  { within: 7 * DAY, open: HOUR, closed: DAY },
  { within: 30 * DAY, open: 6 * HOUR, closed: 7 * DAY },
  { within: Number.POSITIVE_INFINITY, open: DAY, closed: 7 * DAY },
];

/** Courts of appeals docket a few entries a week, so half as many looks find as much. */
const SLOWER: ReadonlySet<CourtLevel> = new Set(['supreme', 'appellate']);
const SLOWER_TIMES = 2;

/** No open case is looked at more rarely because of its court or a feed. */
const AT_LEAST_DAILY = DAY;

/** How long a look stays fresh, microseconds. */
export function freshFor(court: Pick<Court, 'level'>, activity: CaseActivity, now: Micros): Micros {
  const { activeAt, closed, covered } = activity;
  const age = activeAt === null ? Number.POSITIVE_INFINITY : Math.max(0, now - toMicros(activeAt));
  const row = CADENCE.find(({ within }) => age < within) ?? CADENCE.at(-1);
  if (!row) return DAY;
  if (closed) return row.closed;
  if (covered) return AT_LEAST_DAILY;
  return Math.min(AT_LEAST_DAILY, SLOWER.has(court.level) ? SLOWER_TIMES * row.open : row.open);
}
