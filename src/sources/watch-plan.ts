/**
 * Which watched case comes next, and which cannot be kept fresh (docs/design/sources.md#watched-cases). Pure: the watch
 * asks with it, and the report about tomorrow is made from the same rules.
 */
import { type Instant, MICROS_PER_SECOND, type Micros, toMicros } from '../runtime/instant.ts';
import type { Rate } from './budget.ts';
import { FIRST_LOOK, mostFor } from './budget-windows.ts';

const DAY: Micros = 86_400 * MICROS_PER_SECOND;

/** What decides when a case is looked at. */
export interface PlannedCase {
  /** How long a look stays fresh: `freshFor`. */
  readonly every: Micros;
  /** When the newest look that showed everything was begun; null if there was none. */
  readonly completeAt: Instant | null;
  /** When it was last asked for. */
  readonly askedAt: Instant;
  /** Since when filings wait for their text; null if none does. */
  readonly stubsSince: Instant | null;
}

/** A source learns of a filing from the same feed. A little later it may have the text, too. */
const STUB_PATIENCE: Micros = 15 * 60 * MICROS_PER_SECOND;
/** If it had none, the next look for it comes after so many times as long: the source may never get that text. */
const STUB_GROWTH = 3;

/**
 * How late a look is, as a multiple of what it may be: due from 1 on. The highest comes first, so that no case waits
 * forever: if the budget is short, all are late by the same factor. A case without a complete look is due at once.
 */
export function urgency(planned: PlannedCase, now: Micros): number {
  const { every, completeAt, askedAt, stubsSince } = planned;
  const since = completeAt ?? askedAt;
  const byCadence = (completeAt === null ? 1 : 0) + waited(since, now) / every;
  return stubsSince === null ? byCadence : Math.max(byCadence, waited(stubsSince, now) / patience(planned, stubsSince));
}

const waited = (since: Instant, now: Micros): Micros => Math.max(0, now - toMicros(since));

function patience({ completeAt }: PlannedCase, stubsSince: Instant): Micros {
  if (completeAt === null || completeAt < stubsSince) return STUB_PATIENCE;
  return Math.max(STUB_PATIENCE, STUB_GROWTH * (toMicros(completeAt) - toMicros(stubsSince)));
}

/** When a look is due. */
export function dueAt(planned: PlannedCase): Micros {
  const { every, completeAt, askedAt, stubsSince } = planned;
  const byCadence = completeAt === null ? toMicros(askedAt) : toMicros(completeAt) + every;
  return stubsSince === null ? byCadence : Math.min(byCadence, toMicros(stubsSince) + patience(planned, stubsSince));
}

/** Requests of a look, on average: a later one asks for the docket, its changed entries and its changed documents. */
const LATER_LOOK = 3;

export interface ShortGroup {
  readonly every: Micros;
  /** How often they can be looked at instead. */
  readonly possible: Micros;
  readonly cases: number;
}

export interface SourcePlan {
  readonly watched: number;
  /** Cases whose look is due, and those among them that have waited for twice as long as they may. */
  readonly due: number;
  readonly overdue: number;
  /** Cases that this budget cannot keep fresh in the next 24 hours, although they may be fresh now. */
  readonly cannotBeKept: number;
  /** The same by how often they should be looked at, shortest first. */
  readonly short: readonly ShortGroup[];
  readonly requestsPerDayNeeded: number;
  /** What the budget leaves for them in a day; null if it is not limited. */
  readonly requestsPerDay: number | null;
}

/** What the rates together leave for watched cases in a day; null without any. The rest is for paid queries. */
export function requestsPerDay(rates: readonly Rate[]): number | null {
  if (rates.length === 0) return null;
  return Math.floor(Math.min(...rates.map((rate) => mostFor(rate, 'watched') * Math.max(1, DAY / rate.micros))));
}

/**
 * How long to rest after a look, so that a budget that is too small lasts for the whole day: spent in its first hours, it
 * would leave the filings of working hours for the next day. 0 if it suffices.
 */
export function paceOf({ cannotBeKept, requestsPerDay: allowed }: SourcePlan): Micros {
  return cannotBeKept === 0 || allowed === null || allowed === 0 ? 0 : Math.ceil((LATER_LOOK * DAY) / allowed);
}

/** The next 24 hours of one source. */
export function planDay(cases: readonly PlannedCase[], rates: readonly Rate[], now: Micros): SourcePlan {
  const urgencies = cases.map((one) => urgency(one, now));
  const needed = cases.reduce((sum, one) => sum + requestsOf(one), 0);
  const allowed = requestsPerDay(rates);
  const factor = allowed === null ? 1 : allowed === 0 ? Number.POSITIVE_INFINITY : needed / allowed;
  const short = factor > 1 ? groups(cases, factor) : [];
  return {
    watched: cases.length,
    due: urgencies.filter((one) => one >= 1).length,
    overdue: urgencies.filter((one) => one >= 2).length,
    cannotBeKept: short.reduce((sum, group) => sum + group.cases, 0),
    short,
    requestsPerDayNeeded: Math.ceil(needed),
    requestsPerDay: allowed,
  };
}

/** Looks for a text that does not come: after 15 and 45 minutes, and so on within a day. */
const STUB_LOOKS = 5;

/** Requests that a case needs in 24 hours. A look every week is a part of a look a day. */
const requestsOf = ({ every, completeAt, stubsSince }: PlannedCase): number =>
  (completeAt === null ? FIRST_LOOK : 0) +
  (stubsSince === null ? 0 : STUB_LOOKS * LATER_LOOK) +
  (LATER_LOOK * DAY) / every;

/** All are late by the same factor (`urgency`). */
function groups(cases: readonly PlannedCase[], factor: number): ShortGroup[] {
  const counts = new Map<Micros, number>();
  for (const { every } of cases) counts.set(every, (counts.get(every) ?? 0) + 1);
  return [...counts]
    .sort(([a], [b]) => a - b)
    .map(([every, count]) => ({ every, possible: every * factor, cases: count }));
}
