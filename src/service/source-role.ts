/**
 * The role `sources`: what asks live sources, follows what is new, and keeps cases fresh (docs/design/sources.md#port). Every
 * request to a source leaves through one client.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { IngestPorts } from '../commands/docket/clock.ts';
import { ingestDocket } from '../commands/docket/ingest.ts';
import type { Config } from '../config.ts';
import type { LiveSourceName } from '../events/source.ts';
import type { LiveSourceMetrics } from '../http/admin/metrics/source-metrics.ts';
import { alertCoverage, anyCoverage } from '../processes/sources/alert-coverage.ts';
import { createBackfill } from '../processes/sources/backfill.ts';
import { type Coverage, feedCoverage } from '../processes/sources/feed-coverage.ts';
import { createFeeds, type Feeds, type FeedsPorts } from '../processes/sources/feeds.ts';
import { createLastFeedLook, type LastFeedLook } from '../processes/sources/last-feed-look.ts';
import { createRefresh, type Refresh } from '../processes/sources/refresh.ts';
import { createSourceCases } from '../processes/sources/source-cases.ts';
import { createSourceDesk, type RunningDesk } from '../processes/sources/source-desk.ts';
import { createSourcePauses, type SourcePauses } from '../processes/sources/source-pauses.ts';
import { sourcesContext } from '../processes/sources/sources-context.ts';
import { createStandings, type Standings } from '../processes/sources/standings.ts';
import { createUnpaidLooks } from '../processes/sources/unpaid-looks.ts';
import { createCaseWatch } from '../processes/sources/watch.ts';
import { cases } from '../projections/cases.ts';
import { createFreshness } from '../projections/freshness.ts';
import type { ProjectionRunner } from '../projections/runner.ts';
import { SOURCE_RECORDS } from '../projections/source-records.ts';
import { untilProjected } from '../projections/until-projected.ts';
import { WATCHED_CASES } from '../projections/watched-cases.ts';
import type { Clock, Micros } from '../runtime/instant.ts';
import { untilAborted } from '../runtime/on-abort.ts';
import type { Rate, SourceBudget } from '../sources/budget.ts';
import { createCourtListenerClient } from '../sources/courtlistener/client.ts';
import { createCourtListenerSource } from '../sources/courtlistener/courtlistener-source.ts';
import { createLookStore } from '../sources/courtlistener/look-store.ts';
import { liveCoverage } from '../sources/coverage.ts';
import { createSourceHttp } from '../sources/http/create-source-http.ts';
import { observedHttp } from '../sources/http/observed-http.ts';
import type { SourceHttp } from '../sources/http/source-http.ts';
import { feedsOf } from '../sources/rss/addresses.ts';
import { createSupremeCourt, SCOTUS_RATES } from '../sources/scotus/scotus.ts';
import { createSharedBudget } from '../sources/shared-budget.ts';
import type { AskableSource, Ingest } from '../sources/source.ts';
import type { Storage } from '../storage/storage.ts';
import { openCaseAlerts } from './case-alerts.ts';
import { sourceGauges } from './source-gauges.ts';

export interface SourceRoleOptions {
  readonly storage: Storage;
  readonly runner: Pick<ProjectionRunner, 'waitFor'>;
  readonly config: Pick<Config, 'sources' | 'callbackNat64Prefixes'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: LiveSourceMetrics;
  readonly owner: string;
  readonly userAgent: string;
  /** Never reached, not even by a redirect of a source. */
  readonly ownHosts: readonly string[];
  readonly ownPorts: readonly number[];
  /** Between two polls of a court's feed; only for imitations. */
  readonly feedInterval?: Micros | undefined;
}

export interface SourceRole {
  readonly desk: RunningDesk;
  /** Asks sources while paid queries wait; undefined if no source can be asked. */
  readonly refresh: Refresh | undefined;
  readonly pauses: SourcePauses;
  readonly standings: Standings;
  /** Ends the looks and processes that are under way, and releases every lease. */
  stop(): Promise<void>;
}

/** Everything that a look needs. Nothing runs yet, and nothing may be asked before the pauses are known. */
export function openSourceDesk(options: SourceRoleOptions) {
  const { storage, clock, logger, metrics, owner } = options;
  const { log, readStore } = storage;
  const http = openHttp(options);
  /** The client of one source; its requests are counted under that name. */
  const httpOf = (source: LiveSourceName): SourceHttp =>
    observedHttp(http, (outcome, seconds) => metrics.sourceAsked(source, outcome, seconds));
  const ingest = ingestInto(options);
  const pauses = createSourcePauses({ log, logger });
  const standings = createStandings({ log, clock, logger });
  const askable = openAskable(options, httpOf);
  const desk = createSourceDesk({
    sources: askable.sources,
    pauses,
    standings,
    ingest,
    log,
    readStore,
    clock,
    logger,
    owner,
    heldBack: (source, by) => metrics.sourceHeldBack(source, by),
    observe: (source, priority, look, seconds) => metrics.caseLookedAt(source, priority, look, seconds),
  });
  return { http, httpOf, ingest, pauses, standings, askable, desk };
}

export function startSourceRole(options: SourceRoleOptions): SourceRole {
  const { storage, config, clock, logger, metrics, owner } = options;
  const { log, readStore } = storage;
  const stopping = new AbortController();
  const { signal } = stopping;
  const { http, httpOf, ingest, pauses, standings, askable, desk } = openSourceDesk(options);
  const watch = createCaseWatch({
    log,
    readStore,
    desk,
    rates: askable.rates,
    coverage: coverageOf(options),
    watchDays: config.sources.watchDays,
    clock,
    logger,
    owner,
    observe: (standing) => metrics.casesWatched(standing),
  });
  const backfill = createBackfill({ log, readStore, desk, clock, logger, owner });
  // Nothing is asked before the pauses are known, which are read from the log.
  const whenReady = async (run: (signal: AbortSignal) => Promise<void>): Promise<void> => {
    await Promise.race([pauses.ready, untilAborted(signal)]);
    if (!signal.aborted) await run(signal);
  };
  const freshnessOf = (projection: string) => createFreshness({ log, runner: options.runner, projection });
  // Which cases are watched is read from both.
  const freshness = [cases.name, WATCHED_CASES].map(freshnessOf);
  const lastLook = createLastFeedLook({ readStore, clock, freshness: [...freshness, freshnessOf(SOURCE_RECORDS)] });
  const { budgets } = askable;
  metrics.watchSources(
    sourceGauges({
      readStore,
      clock,
      coverage: liveCoverage(config.sources),
      budgets,
      breaker: (source) => desk.breaker(source),
    }),
  );
  const running: Promise<unknown>[] = [pauses.run(signal), standings.run(signal)];
  const feeds = openFeeds(options, { http: httpOf('rss'), ingest, lastLook, pauses, standings });
  if (feeds) running.push(whenReady((ending) => feeds.run(ending)));
  if (askable.sources.length > 0) {
    running.push(
      whenReady((ending) => watch.run(ending)),
      whenReady((ending) => backfill.run(ending)),
    );
  }
  const budget = askable.budgets.get('courtlistener');
  const parts = { storage, config, clock, logger, owner, pauses, freshness, http: httpOf('courtlistener') };
  const alerts = budget && openCaseAlerts({ ...parts, budget });
  if (alerts) running.push(whenReady((ending) => alerts.run(ending)));

  const refresh = createRefresh({
    log,
    desk,
    freshness: freshnessOf(cases.name),
    unpaid: createUnpaidLooks(readStore, clock),
    clock,
    logger,
  });

  return {
    desk,
    refresh: askable.sources.length > 0 ? refresh : undefined,
    pauses,
    standings,
    async stop() {
      stopping.abort();
      refresh.stop();
      await Promise.allSettled([desk.stop(), ...running]);
      await http.close();
    },
  };
}

/** Null: no feeds are configured. */
function openFeeds(
  { storage: { log, readStore }, config, clock, logger, owner, metrics, feedInterval }: SourceRoleOptions,
  {
    http,
    ingest,
    lastLook,
    pauses,
    standings,
  }: Pick<FeedsPorts, 'http' | 'ingest'> & { readonly lastLook: LastFeedLook } & Pick<
      SourceRole,
      'pauses' | 'standings'
    >,
): Feeds | null {
  const { rss, watchDays } = config.sources;
  const feeds = feedsOf(rss.courts, rss.url);
  if (feeds.length === 0) return null;
  return createFeeds({
    log,
    readStore,
    http,
    ingest,
    lastLook,
    clock,
    logger,
    owner,
    feeds,
    interval: feedInterval,
    keepsAll: rss.keepsAll,
    watchDays,
    isPaused: (court) => pauses.isPaused('rss', court),
    reportStanding: (standing) => standings.report(standing),
    polled({ court, fault, at, builtAt, ingested, unknownCase, unreadable }) {
      if (fault === null) metrics.feedRead(court, at, builtAt);
      metrics.itemsSeen('rss', 'ingested', ingested);
      metrics.itemsSeen('rss', 'unknown_case', unknownCase);
      metrics.itemsSeen('rss', 'unreadable', unreadable);
    },
  });
}

interface Askable {
  /** In the order in which they are asked about a court that several cover. */
  readonly sources: readonly AskableSource[];
  readonly budgets: ReadonlyMap<LiveSourceName, SourceBudget>;
  readonly rates: (source: LiveSourceName) => readonly Rate[];
}

/** The configured sources that can be asked. */
function openAskable(
  { storage, config, clock, logger }: SourceRoleOptions,
  httpOf: (source: LiveSourceName) => SourceHttp,
): Askable {
  const { readStore } = storage;
  const { courtListener, scotus } = config.sources;
  const rates = (source: LiveSourceName): readonly Rate[] =>
    source === 'courtlistener' ? courtListener.rates : source === 'scotus' ? SCOTUS_RATES : [];
  const budgets = new Map<LiveSourceName, SourceBudget>();
  const budgetOf = (name: LiveSourceName): SourceBudget => {
    const budget = createSharedBudget({ readStore, clock, name, rates: rates(name) });
    budgets.set(name, budget);
    return budget;
  };
  const sources: AskableSource[] = [];
  if (scotus.isOn) {
    const { url } = scotus;
    sources.push(createSupremeCourt({ http: httpOf('scotus'), budget: budgetOf('scotus'), readStore, clock, url }));
  }
  const { token, url } = courtListener;
  if (token !== null) {
    const [http, budget] = [httpOf('courtlistener'), budgetOf('courtlistener')];
    sources.push(
      createCourtListenerSource({
        client: createCourtListenerClient({ http, budget, clock, url, token, logger }),
        cases: createSourceCases({ log: storage.log, readStore, clock }, 'courtlistener'),
        looks: createLookStore({ readStore, payloads: storage.payloads, clock }),
        clock,
      }),
    );
  }
  return { sources, budgets, rates };
}

function openHttp({ config, logger, userAgent, ownHosts, ownPorts }: SourceRoleOptions): SourceHttp {
  const { allowPrivate } = config.sources;
  if (allowPrivate.length > 0) {
    logger.warn({ allowed: allowPrivate }, 'sources may have private addresses, as SOURCES_ALLOW_PRIVATE says');
  }
  return createSourceHttp({ userAgent, allowPrivate, ownHosts, ownPorts, refusedRanges: config.callbackNat64Prefixes });
}

/** Records snapshots by the one command that ingests, and waits until answers show them. */
function ingestInto({ storage, runner, clock }: Pick<SourceRoleOptions, 'storage' | 'runner' | 'clock'>): Ingest {
  const ports: IngestPorts = {
    log: storage.log,
    payloads: storage.payloads,
    readStore: storage.readStore,
    clock,
    newId: randomUUID,
    sleep: (ms) => delay(ms),
    waitUntilProjected: untilProjected(runner),
  };
  return (snapshot) => ingestDocket(ports, snapshot, sourcesContext());
}

/** What feeds and alerts cover. Without a webhook, alerts cover nothing. */
function coverageOf({ storage: { readStore }, config }: SourceRoleOptions): Coverage {
  const { rss, courtListener } = config.sources;
  const feeds = feedCoverage(readStore, feedsOf(rss.courts, rss.url));
  return courtListener.webhookSecret === null ? feeds : anyCoverage(feeds, alertCoverage(readStore));
}
