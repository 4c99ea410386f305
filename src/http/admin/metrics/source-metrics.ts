/** Metrics of live sources: requests, looks, what they brought, and how far behind they are. No label holds a case. */
import { Counter, Gauge, type Registry } from 'prom-client';
import { LiveSourceName } from '../../../events/source.ts';
import { MICROS_PER_SECOND, type Micros } from '../../../runtime/instant.ts';
import { once } from '../../../runtime/once.ts';
import type { BudgetStanding } from '../../../sources/budget.ts';
import type { Look, Priority, SourceFault } from '../../../sources/source.ts';
import type { Sources } from './sources.ts';
import { Tally } from './tally.ts';
import { TimeHistogram } from './time-histogram.ts';

/** How a request to a source ended. */
export type RequestOutcome = 'ok' | 'not_modified' | 'not_found' | SourceFault;

/** What became of an item of a feed, or of an entry that a source pushed. */
export type ItemOutcome = 'ingested' | 'unchanged' | 'unknown_case' | 'unreadable';

const BREAKER_STATES = ['closed', 'half_open', 'open'] as const;
export type BreakerState = (typeof BREAKER_STATES)[number];

/** A source at the time of a scrape; it is the same on every node. */
export interface SourceGauges {
  readonly source: LiveSourceName;
  /** Null if nothing limits it. */
  readonly budget: BudgetStanding | null;
  readonly breaker: BreakerState | null;
  /** Courts in each standing, of those that it covers. */
  readonly courts: Readonly<Record<'working' | 'degraded' | 'failing' | 'misconfigured' | 'paused', number>>;
}

/** Of the whole service; known to the node that keeps cases fresh. */
export interface WatchGauges {
  readonly cases: number;
  /** Cases that are older than their cadence allows. */
  readonly overdue: number;
  /** Cases that the budgets cannot keep fresh. */
  readonly unaffordable: number;
  /** Cases with filings whose text only a complete look will show. */
  readonly awaitingText: number;
}

export interface LiveSourceMetrics {
  sourceAsked(source: LiveSourceName, outcome: RequestOutcome, seconds: number): void;
  /** A look that ended before its next request, or began with none. */
  sourceHeldBack(source: LiveSourceName, by: Extract<SourceFault, 'budget' | 'open' | 'paused'>): void;
  caseLookedAt(source: LiveSourceName, priority: Priority, look: Look['look'], seconds: number): void;
  itemsSeen(source: LiveSourceName, outcome: ItemOutcome, count: number): void;
  watchSources(read: () => Promise<readonly SourceGauges[]>): void;
  /** A feed was read. @param builtAt by its own account; null if it does not say */
  feedRead(court: string, at: Micros, builtAt: Micros | null): void;
  /** @param standing null once another node keeps cases fresh */
  casesWatched(standing: WatchGauges | null): void;
}

/** Seconds; a request ends after 20 at the latest, a look at a large case has many. */
const REQUEST_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];
const LOOK_SECONDS = [0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900];

const ITEM_OUTCOMES: readonly ItemOutcome[] = ['ingested', 'unchanged', 'unknown_case', 'unreadable'];
const SOURCES_OF_ITEMS: readonly LiveSourceName[] = ['rss', 'courtlistener'];

/** How a window of a budget is called in labels, by its length. */
const windowName = (micros: Micros): string => {
  const seconds = micros / MICROS_PER_SECOND;
  return { 60: 'minute', 3600: 'hour', 86400: 'day' }[seconds] ?? `${seconds}s`;
};

export function liveSourceMetrics(registry: Registry, sources: Sources): LiveSourceMetrics {
  const gauge = <Label extends string>(name: string, help: string, ...labelNames: readonly Label[]) =>
    new Gauge({ name, help, labelNames: [...labelNames], registers: [registry] });
  const requests = new Tally(registry, {
    name: 'docket_source_requests_total',
    help: 'Requests to live sources that have ended or were held back, by outcome: ok, not_modified, not_found, or the fault',
    labelNames: ['source', 'outcome'],
  });
  const requestSeconds = new TimeHistogram(registry, {
    name: 'docket_source_request_seconds',
    help: 'Duration of requests to live sources',
    buckets: REQUEST_SECONDS,
    labelNames: ['source'],
  });
  const lookSeconds = new TimeHistogram(registry, {
    name: 'docket_source_look_seconds',
    help: 'Duration of looks at a case, by source, priority and outcome',
    buckets: LOOK_SECONDS,
    labelNames: ['source', 'priority', 'outcome'],
  });
  const items = new Counter({
    name: 'docket_source_items_total',
    help: 'Items of feeds and entries of webhooks, by outcome',
    labelNames: ['source', 'outcome'],
    registers: [registry],
  });
  // A node that reads no feed shows nothing of feeds.
  const feeds = once(() => ({
    built: gauge(
      'docket_feed_built_timestamp_seconds',
      'When the feed of a court was last built, by its own account, as this node read it',
      'court',
    ),
    readAt: gauge('docket_feed_read_timestamp_seconds', 'When this node last read the feed of a court', 'court'),
  }));
  const cases = gauge('docket_watched_cases', 'Cases that are kept fresh because somebody asked for them');
  const overdue = gauge('docket_watched_cases_overdue', 'Watched cases that are older than their cadence allows');
  const unaffordable = gauge(
    'docket_watched_cases_unaffordable',
    'Watched cases that the budgets of the sources cannot keep fresh',
  );
  const stubs = gauge(
    'docket_watched_cases_awaiting_text',
    'Watched cases with filings whose text only a complete look will show',
  );
  for (const each of [cases, overdue, unaffordable, stubs]) each.remove();
  // A counter shows its first increment only if it was 0 before.
  for (const source of SOURCES_OF_ITEMS) for (const outcome of ITEM_OUTCOMES) items.inc({ source, outcome }, 0);
  for (const source of LiveSourceName.options) {
    requests.add(0, source, 'ok');
    requestSeconds.open(source);
    lookSeconds.open(source, 'paid', 'complete');
  }

  return {
    sourceAsked(source, outcome, seconds) {
      requests.add(1, source, outcome);
      requestSeconds.observe(seconds, source);
    },
    sourceHeldBack: (source, by) => requests.add(1, source, by),
    caseLookedAt: (source, priority, look, seconds) => lookSeconds.observe(seconds, source, priority, look),
    itemsSeen: (source, outcome, count) => items.inc({ source, outcome }, count),
    watchSources(read) {
      const left = gauge(
        'docket_source_budget_left',
        'Requests that the budget of a source still allows in a window, for all nodes',
        'source',
        'window',
      );
      const limit = gauge('docket_source_budget_limit', 'Requests that a window allows', 'source', 'window');
      const held = gauge(
        'docket_source_held_until_timestamp_seconds',
        'Until when a source said to wait; no sample if it did not',
        'source',
      );
      const breaker = gauge(
        'docket_source_breaker',
        'State of the circuit breaker of a source: 1 for the present one, 0 for the others',
        'source',
        'state',
      );
      const courts = gauge('docket_source_courts', 'Courts of a source by standing', 'source', 'standing');
      sources.add({
        name: 'live_sources',
        read,
        show(all) {
          for (const each of [left, limit, held, breaker, courts]) each.reset();
          for (const one of all ?? []) {
            const { source } = one;
            for (const { requests: allowed, micros, used } of one.budget?.rates ?? []) {
              const labels = { source, window: windowName(micros) };
              left.set(labels, Math.max(0, allowed - used));
              limit.set(labels, allowed);
            }
            if (one.budget?.heldUntil) held.set({ source }, one.budget.heldUntil / MICROS_PER_SECOND);
            if (one.breaker !== null) {
              for (const state of BREAKER_STATES) breaker.set({ source, state }, Number(state === one.breaker));
            }
            for (const [standing, count] of Object.entries(one.courts)) courts.set({ source, standing }, count);
          }
        },
      });
    },
    feedRead(court, at, builtAt) {
      const { built, readAt } = feeds();
      readAt.set({ court }, at / MICROS_PER_SECOND);
      if (builtAt !== null) built.set({ court }, builtAt / MICROS_PER_SECOND);
    },
    casesWatched(standing) {
      for (const each of [cases, overdue, unaffordable, stubs]) each.remove();
      if (!standing) return;
      cases.set(standing.cases);
      overdue.set(standing.overdue);
      unaffordable.set(standing.unaffordable);
      stubs.set(standing.awaitingText);
    },
  };
}
