/** The public port: every endpoint of the API, and its documentation. */
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { MasterKeys } from '../callbacks/master-keys.ts';
import type { ResultIds } from '../commands/payment/result-id.ts';
import type { KeyCalls, Purchasing } from '../commands/purchase/contract.ts';
import type { SponsorBudget } from '../commands/purchase/sponsor-budget.ts';
import type { Court } from '../courts/court.ts';
import { courts, isLive } from '../courts/registry.ts';
import type { CourtSource } from '../courts/status-courts.ts';
import type { Refresh } from '../processes/sources/refresh.ts';
import { cases } from '../projections/cases.ts';
import { courtRecords } from '../projections/court-records.ts';
import { deliveries } from '../projections/deliveries.ts';
import { createFreshness } from '../projections/freshness.ts';
import { payments } from '../projections/payments.ts';
import type { Projection } from '../projections/projection.ts';
import type { ProjectionRunner } from '../projections/runner.ts';
import { createCourtStandings } from '../queries/court-standings.ts';
import { type LiveCoverage, NO_LIVE_SOURCE } from '../sources/coverage.ts';
import type { EventLog } from '../storage/event-log.ts';
import type { PayloadStore } from '../storage/payload-store.ts';
import type { ReadStore } from '../storage/read-store.ts';
import type { Tracer } from '../tracing/tracer.ts';
import type { AddressLimit } from './address-limit.ts';
import type { Health } from './admin/health.ts';
import type { HttpMetrics } from './admin/metrics/http-metrics.ts';
import { type ClientAddresses, createClientAddresses } from './client-address.ts';
import { registerDocs } from './docs/register-docs.ts';
import { registerWebhooks, type WebhookDependencies } from './ingest/courtlistener.ts';
import { type PushDependencies, registerPush } from './ingest/push-dockets.ts';
import { createMcp } from './mcp/mcp.ts';
import type { OriginRules } from './mcp/origins.ts';
import { createBuying } from './paid/buy.ts';
import { registerPaidRoute } from './paid/paid-route.ts';
import { answerSandboxEarly, readyAnswerOf } from './sandbox/answer-early.ts';
import { createSandbox } from './sandbox/sandbox.ts';
import type { SandboxCallbacks } from './sandbox/sandbox-callbacks.ts';
import type { AnsweringService } from './send-problem.ts';
import { makeServer } from './server.ts';
import { createUnreadAnswers, type UnreadAnswersOptions, type UnreadLimits } from './unread-answers.ts';
import { v1CaseRoute, v1MonitorRoute } from './v1/routes.ts';
import { v1StatusEndpoint } from './v1/status.ts';
import { batchRoute, registerBatch } from './v2/batch.ts';
import { caseRoute } from './v2/case.ts';
import { RESULTS_PATIENCE_MS } from './v2/find-result.ts';
import { monitorRoute } from './v2/monitor.ts';
import { registerResults } from './v2/results.ts';
import { statusEndpoint } from './v2/status.ts';
import { walletDeliveriesRoute } from './v2/wallet-deliveries.ts';
import { registerBodilessRoute, rotateKeyRoute, walletKeysRoute } from './v2/wallet-keys.ts';
import type { NewestBlockhash } from './x402/send-payment-required.ts';
import type { Merchant } from './x402/terms.ts';

export interface AppDependencies {
  readonly service: AnsweringService;
  readonly logger: Logger;
  readonly health: () => Health;
  readonly merchant: Merchant;
  readonly purchasing: Purchasing;
  readonly keyCalls: KeyCalls;
  readonly resultIds: ResultIds;
  readonly masterKeys: Pick<MasterKeys, 'versions'>;
  readonly newestBlockhash: NewestBlockhash;
  readonly storage: { readonly log: EventLog; readonly payloads: PayloadStore; readonly readStore: ReadStore };
  /** Waits for the read models, regardless of which process runs their projections. */
  readonly runner: Pick<ProjectionRunner, 'waitFor'>;
  /** Whether sponsored payments pause; if left out, they never do. */
  readonly sponsoring?: Pick<SponsorBudget, 'pause'> | undefined;
  readonly addressLimit?: AddressLimit | undefined;
  /** If left out, no proxy is trusted. */
  readonly clientAddresses?: ClientAddresses;
  readonly unreadLimits?: UnreadLimits;
  /** Where requests, calls of tools and closed connections are counted. */
  readonly metrics?: (UnreadAnswersOptions['metrics'] & HttpMetrics) | undefined;
  /** If left out, sandbox callbacks are not sent. */
  readonly sandboxCallbacks?: SandboxCallbacks | undefined;
  /** Where callers reach the local chain; null on a public network. */
  readonly localRpcUrl: string | null;
  /** Who may push dockets; if left out, nobody. */
  readonly push?: PushDependencies | undefined;
  /** The live sources of each court; if left out, there is none. */
  readonly coverage?: LiveCoverage | undefined;
  /** CourtListener's webhooks; if left out, there is no address for them. */
  readonly webhooks?: WebhookDependencies | undefined;
  /** Asks sources about cases that are stale or unknown; if left out, queries are answered from what is known. */
  readonly refresh?: Refresh | undefined;
  /** If left out, nothing is traced. */
  readonly tracer?: Tracer | undefined;
  /** Which web pages may call the MCP endpoint; if left out, none. */
  readonly mcpOrigins?: OriginRules;
}

const NO_PAGES: OriginRules = { allowed: [], loopback: false };

/** The fullest of the live sources of a court; without any, what operators import. */
const sourceAmong =
  ({ sourcesOf }: LiveCoverage) =>
  (court: Court): CourtSource =>
    isLive(court) ? (sourcesOf(court)[0] ?? 'imported') : 'none';

/** Builds the public port, ready to listen. */
export function buildApp(dependencies: AppDependencies): FastifyInstance {
  const { service, logger, health, merchant, purchasing, newestBlockhash, storage, runner, localRpcUrl } = dependencies;
  const { clock } = service;
  const clientAddresses = dependencies.clientAddresses ?? createClientAddresses();
  const sandbox = createSandbox(clock);
  const reachOf = ({ name }: Pick<Projection, 'name'>, patienceMs?: number) =>
    createFreshness({ log: storage.log, runner, projection: name, patienceMs });
  const freshness = reachOf(cases);
  const coverage = dependencies.coverage ?? NO_LIVE_SOURCE;
  const standings = createCourtStandings({
    ...storage,
    freshness: reachOf(courtRecords),
    courts,
    liveSourcesOf: coverage.sourcesOf,
    clock,
  });
  const sourceOf = sourceAmong(coverage);
  const statusOf = { service, courts, sourceOf, cadenceOf: coverage.cadenceOf, health, standings };
  const status = statusEndpoint(statusOf);
  const v1Status = v1StatusEndpoint(statusOf);
  const { refresh } = dependencies;
  const readCase = caseRoute({ ...storage, freshness, clock, sandbox, refresh });
  const monitor = monitorRoute({ ...storage, freshness, clock, sandbox, refresh });
  const batch = batchRoute({ ...storage, freshness, clock, sandbox, publicUrl: service.publicUrl, refresh });
  const walletKeys = walletKeysRoute({ ...storage, clock, masterKeys: dependencies.masterKeys });
  const answerSandbox = answerSandboxEarly(
    service.publicUrl,
    new Map([
      [readCase.path, readyAnswerOf(readCase)],
      [monitor.path, readyAnswerOf(monitor)],
    ]),
  );
  const buying = createBuying({ ...dependencies, clock });
  const origins = dependencies.mcpOrigins ?? NO_PAGES;
  const walletDeliveries = walletDeliveriesRoute({ ...storage, freshness: reachOf(deliveries), clock });
  const routes = { case: readCase, monitor, batch, walletKeys, walletDeliveries };
  const { metrics } = dependencies;
  const mcp = createMcp({
    ...statusOf,
    logger,
    metrics,
    origins,
    merchant,
    buying,
    clientAddresses,
    newestBlockhash,
    routes,
    tracer: dependencies.tracer,
  });
  const app = makeServer(service, logger, {
    tracer: dependencies.tracer,
    unread: createUnreadAnswers({
      limits: dependencies.unreadLimits,
      clientAddresses,
      logger,
      metrics,
    }),
    metrics,
    answerEarly: (request, response) =>
      status.answerEarly(request, response) ||
      answerSandbox(request, response) ||
      mcp.answerEarly(request, response) ||
      v1Status.answerEarly(request, response),
  });
  status.register(app);
  v1Status.register(app);
  mcp.register(app);
  const { addressLimit, sandboxCallbacks, sponsoring } = dependencies;
  const common = { clientAddresses, addressLimit, sandboxCallbacks, sponsoring };
  const paying = { merchant, purchasing, newestBlockhash, clock, ...common };
  registerPaidRoute(app, paying, readCase);
  registerPaidRoute(app, paying, monitor);
  registerBatch(app, (scope) => registerPaidRoute(scope, paying, batch));
  registerPaidRoute(app, paying, v1CaseRoute({ ...storage, freshness, clock, refresh }));
  registerPaidRoute(app, paying, v1MonitorRoute({ ...storage, freshness, clock, refresh }));
  registerPaidRoute(app, paying, walletKeys);
  registerPaidRoute(app, paying, walletDeliveries);
  registerBodilessRoute(app, paying, rotateKeyRoute({ ...storage, clock }));
  registerResults(app, {
    ...storage,
    freshness: reachOf(payments, RESULTS_PATIENCE_MS),
    clock,
    keyCalls: dependencies.keyCalls,
    resultIds: dependencies.resultIds,
  });
  if (dependencies.push) registerPush(app, { ...storage, ...dependencies.push, runner, clock, clientAddresses });
  if (dependencies.webhooks) registerWebhooks(app, { ...storage, ...dependencies.webhooks, clock });
  registerDocs(app, { localRpcUrl, merchant });
  return app;
}
