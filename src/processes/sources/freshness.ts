/** What cannot be kept fresh, before it is stale (docs/design/sources.md#watched-cases): for operators. */
import type { LiveSourceName } from '../../events/source.ts';
import type { Micros } from '../../runtime/instant.ts';
import type { Rate } from '../../sources/budget.ts';
import { dueAt, planDay, type SourcePlan } from '../../sources/watch-plan.ts';
import type { Agenda, AgendaItem } from './agenda.ts';

export interface FreshnessReport {
  /** By source, for those that have a case to look at. */
  readonly sources: Readonly<Partial<Record<LiveSourceName, SourcePlan>>>;
  /** Watched cases of courts that no source can be asked about. */
  readonly unasked: number;
}

export type RatesOf = (source: LiveSourceName) => readonly Rate[];

/**
 * Wanted cases are not counted: most are numbers that no source knows, whose looks have a bounded share of the budget. They
 * must neither slow down the looks at known cases nor raise an alarm about them.
 */
export function reportOf({ items, unasked }: Agenda, rates: RatesOf, now: Micros): FreshnessReport {
  const bySource = new Map<LiveSourceName, AgendaItem[]>();
  for (const item of items) {
    const cases = bySource.get(item.source) ?? [];
    bySource.set(item.source, cases);
    if (!item.isWanted) cases.push(item);
  }
  const plans = [...bySource].map(([source, cases]) => [source, planDay(cases, rates(source), now)] as const);
  return { sources: Object.fromEntries(plans), unasked };
}

/** How the watch does, in numbers. */
export interface WatchStanding {
  readonly cases: number;
  /** Cases that are older than their cadence allows. */
  readonly overdue: number;
  /** Cases that the budgets cannot keep fresh. */
  readonly unaffordable: number;
  /** Cases with filings whose text only a complete look will show. */
  readonly awaitingText: number;
}

export function standingOf(
  items: readonly AgendaItem[],
  unasked: number,
  { sources }: FreshnessReport,
  now: Micros,
): WatchStanding {
  const watched = items.filter(({ isWanted }) => !isWanted);
  const unaffordable = Object.values(sources).reduce((sum, { cannotBeKept }) => sum + cannotBeKept, 0);
  return {
    cases: watched.length + unasked,
    overdue: watched.filter((item) => dueAt(item) < now).length,
    unaffordable,
    awaitingText: watched.filter(({ stubsSince }) => stubsSince !== null).length,
  };
}
