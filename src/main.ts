/** The composition root: turns a configuration into a running service, from the parts in `src/service`. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { createResultIds } from './commands/payment/result-id.ts';
import { SponsorBudget } from './commands/purchase/sponsor-budget.ts';
import { createKeyCalls } from './commands/signing-key/paid-call.ts';
import type { Config } from './config.ts';
import { createAddressLimit } from './http/address-limit.ts';
import { buildAdminApp } from './http/admin/admin-app.ts';
import { watchHealth } from './http/admin/health.ts';
import { countPurchases } from './http/admin/metrics/count-purchases.ts';
import { createMetrics } from './http/admin/metrics/metrics.ts';
import { buildApp } from './http/app.ts';
import { createClientAddresses } from './http/client-address.ts';
import { createSandboxCallbacks } from './http/sandbox/sandbox-callbacks.ts';
import { API_VERSION } from './http/v2/status.ts';
import { keyAnswers } from './http/v2/wallet-keys-answer.ts';
import { createOperatorActs } from './processes/operator-acts.ts';
import { startRemasking } from './processes/remasking.ts';
import { PROJECTIONS } from './projections/all.ts';
import { createProjectionRunner, type ProjectionRunner } from './projections/runner.ts';
import { projectionReports } from './projections/status.ts';
import type { NodeReport } from './queries/status-nodes.ts';
import { reportingAlarms } from './runtime/alarms.ts';
import { freePorts } from './runtime/free-ports.ts';
import { type Clock, type Micros, systemClock, toInstant } from './runtime/instant.ts';
import { listen, reachableHost } from './runtime/listen.ts';
import { makeLogger } from './runtime/logger.ts';
import { makeFolder } from './runtime/make-folder.ts';
import { openFiles } from './runtime/open-files.ts';
import { pause } from './runtime/pause.ts';
import { privateFolder } from './runtime/secret-file.ts';
import { steadyClock } from './runtime/steady-clock.ts';
import { Undo } from './runtime/undo.ts';
import { createAlarmKeeper } from './service/alarm-keeper.ts';
import { bannerOf } from './service/banner.ts';
import { startCallbackRole } from './service/callback-role.ts';
import { dataFolderId } from './service/data-folder-id.ts';
import { startGenerationRole } from './service/generation-role.ts';
import { startHeadRole } from './service/head-role.ts';
import { alarmsTo, closedFor, HEALTH_ADVICE, healthChecks } from './service/health-checks.ts';
import { type NodeRole, startNodeRole } from './service/node-role.ts';
import { openMasterKeys } from './service/open-master-keys.ts';
import { openStorage } from './service/open-storage.ts';
import { reportDamage, reportUntrustedProxies } from './service/operator-reports.ts';
import { openOutbound, ownAddresses, userAgentOf } from './service/outgoing.ts';
import { openOwnLog } from './service/own-log.ts';
import { openPaymentChain } from './service/payment-chain.ts';
import { startPaymentRole } from './service/payment-role.ts';
import { startSourceRole } from './service/source-role.ts';
import { startContext } from './service/start-context.ts';
import { startWebhookRole } from './service/webhook-role.ts';
import { configuredSources, liveCoverage } from './sources/coverage.ts';
import { withDamageAlarm } from './storage/damage-alarm.ts';
import { leaseOwner } from './storage/lease-owner.ts';
import type { Storage } from './storage/storage.ts';
import { createTracer } from './tracing/tracer.ts';

/** How long running requests may take to finish at a stop. */
const DRAIN_MS = 10_000;
/** How long a start waits before it answers without knowing what operators have decided. */
const ACTS_KNOWN_WITHIN_MS = 5_000;
/** How long all parts together may take to end, even if an engine never answers. */
const STOP_MS = 12_000;

export interface Service {
  /** Base URLs, without a trailing slash. */
  readonly url: string;
  readonly adminUrl: string;
  /** Where callers reach the chain; null if it is remote, since its URL may contain a key. */
  readonly rpcUrl: string | null;
  readonly storage: Storage;
  readonly runner: ProjectionRunner;
  /** What an operator needs at the start: what is real, what is local, what to try. */
  readonly banner: readonly string[];
  /**
   * Finishes running requests (10 s at most), then stops every part, within 13 s even if an engine never answers. The next
   * start resumes what is not finished.
   */
  stop(): Promise<void>;
}

export interface ServiceOptions {
  readonly clock?: Clock;
  readonly logger?: Logger;
  /** Between two polls of a court's feed, microseconds; only for imitations. */
  readonly feedInterval?: Micros;
}

/** Starts every part. Resolves once the service answers and is ready, or can report what is missing. */
export async function startService(config: Config, options: ServiceOptions = {}): Promise<Service> {
  const undo = new Undo();
  try {
    return await start(config, options, undo);
  } catch (error) {
    // The first error matters more than a failure of the cleanup after it.
    await undo.run(STOP_MS).catch(() => undefined);
    throw error;
  }
}

async function start(config: Config, options: ServiceOptions, undo: Undo): Promise<Service> {
  const clock = options.clock ?? systemClock;
  const metrics = createMetrics();
  const alarms = createAlarmKeeper(leaseOwner(), clock);
  const logger = reportingAlarms(
    options.logger ?? makeLogger(config.logLevel),
    (alarm) => {
      metrics.alarmRaised(alarm);
      alarms.raise(alarm);
    },
    clock,
  );
  makeFolder(config.dataDirectory);
  privateFolder(join(config.dataDirectory, 'keys'));
  const tracer = await createTracer({
    settings: config.tracing,
    version: API_VERSION,
    instance: leaseOwner(),
    logger,
  });
  // Stopped last, so that it sends what the others end with.
  undo.add('traces', () => tracer.stop());
  const opened = await openStorage(config, logger, { logThread: true });
  undo.add('storage', () => opened.close());
  // Last of all that uses the storage, so that it has the alarms of a stop, too.
  undo.add('node', () => (node ? node.stop() : alarms.write(opened.readStore)));
  let node: NodeRole | null = null;
  const paymentChain = await openPaymentChain(config, logger, undo, metrics.rpcCalled);
  const { rpcUrl, blockhashes, network, receiver } = paymentChain;
  /** Parts that hold leases: a process that has lost its log gives them up to one that still has it. */
  const leased: (() => Promise<unknown>)[] = [];
  const standDown = () => void Promise.allSettled(leased.map((stop) => stop()));
  const { log, logIdentity } = await openOwnLog({
    config,
    storage: opened,
    paymentChain,
    clock,
    logger,
    metrics,
    onLost: standDown,
  });
  const payloads = withDamageAlarm(opened.payloads, reportDamage(logger, metrics));
  const storage: Storage = { ...opened, log, payloads };
  const runner = createProjectionRunner({ ...storage, projections: PROJECTIONS, clock, logger, owner: leaseOwner() });
  await runner.start();
  undo.add('projections', () => runner.stop());
  const generations = startGenerationRole({ storage, config, clock, logger });
  undo.add('generations', () => generations.stop());

  const acts = createOperatorActs({ log: storage.log, readStore: storage.readStore, logger });
  const followingActs = new AbortController();
  const actsFollowed = acts.run(followingActs.signal);
  undo.add('operator acts', async () => {
    followingActs.abort();
    await actsFollowed;
  });
  // Usually moments. Longer if all of the log must be read: then `/readyz` says so, and nothing is sold until they are known.
  await within(ACTS_KNOWN_WITHIN_MS, acts.ready);
  if (!acts.areKnown) logger.warn('the decisions of operators are still being read from the log; nothing is sold yet');

  const masterKeys = await openMasterKeys({ log: storage.log, clock, logger, by: 'service' }, config, startContext());
  // Started before all that write, so that it stops after them, and the last head covers what they have recorded.
  const heads = startHeadRole({ storage, paymentChain, config, logId: logIdentity.logId, masterKeys, clock, logger });
  undo.add('heads', () => heads.stop());

  const remasking = startRemasking({ ...storage, clock, logger });
  undo.add('remasking', () => remasking.stop());

  const keyCalls = createKeyCalls({ log: storage.log, clock, masterKeys, answers: keyAnswers, newKeyId: randomUUID });
  const sponsoring = new SponsorBudget({ ...storage, clock, logger, limits: config.sponsorLimits });
  await sponsoring.look();
  metrics.watchSponsoring(() => sponsoring.standings);
  const resultIds = createResultIds(masterKeys);
  if (storage.freeBytes) metrics.watchDisk(storage.freeBytes);
  let feePayer: NodeReport['feePayer'] = null;
  metrics.watchProjections(() => projectionReports({ ...storage, projections: PROJECTIONS, clock }));
  const health = watchHealth({
    checks: healthChecks({
      ...storage,
      ...paymentChain,
      logIdentity,
      solanaNetwork: config.solana.network,
      runner,
      acts,
      masterKeys,
      sponsoring,
      clock,
      openFiles,
      liveSources: configuredSources(config.sources),
      onReceiver(report) {
        const { feePayerLamports } = report;
        metrics.receiverChecked(report);
        feePayer = { address: receiver.feePayer, lamports: String(feePayerLamports), at: toInstant(clock.now()) };
      },
    }),
    advice: HEALTH_ADVICE,
    clock,
    onChange: alarmsTo(logger),
  });
  undo.add('health', () => health.stop());
  node = startNodeRole({
    ...storage,
    health: health.health,
    feePayer: () => feePayer,
    alarms,
    clock,
    logger,
    owner: leaseOwner(),
    version: API_VERSION,
  });
  metrics.watchHealth(health.health);
  const draining = new AbortController();
  const paymentRole = startPaymentRole({
    storage,
    paymentChain,
    keyCalls,
    sponsoring,
    unknownBlockhashesPerSecond: config.solana.unknownBlockhashesPerSecond,
    resultIds,
    clock,
    logger,
    draining: draining.signal,
    metrics,
    closed: () => closedFor(health.health(), acts),
    isBanned: (wallet) => acts.isBanned(wallet),
    tracer,
  });
  undo.add('payments', () => paymentRole.stop());

  // URLs must contain the port before the service listens, so a free port is chosen here.
  const port = config.port || ((await freePorts(1))[0] ?? 0);
  const publicUrl = config.publicUrl ?? `http://${reachableHost(config.host)}:${port}`;
  const outbound = openOutbound(config, logger, { port, publicUrl });
  undo.add('outbound', () => outbound.close());
  const userAgent = userAgentOf(publicUrl);
  const callbacks = startCallbackRole({
    storage,
    clock,
    logger,
    outbound,
    masterKeys,
    newKeyId: randomUUID,
    owner: leaseOwner(),
    userAgent,
    metrics,
    tracer,
    hosts: acts,
  });
  undo.add('callbacks', () => callbacks.stop());

  const webhooks =
    config.sources.courtListener.webhookSecret === null
      ? null
      : startWebhookRole({ storage, runner, clock, logger, owner: leaseOwner(), metrics });
  undo.add('webhooks', async () => webhooks?.stop());

  const sources = startSourceRole({
    storage,
    runner,
    config,
    clock,
    logger,
    metrics,
    owner: leaseOwner(),
    userAgent,
    ...ownAddresses(config, { port, publicUrl }),
    feedInterval: options.feedInterval,
  });
  undo.add('sources', () => sources.stop());

  leased.push(
    () => sources.stop(),
    async () => webhooks?.stop(),
    () => callbacks.stop(),
    () => paymentRole.stop(),
    () => heads.stop(),
    () => generations.stop(),
    () => runner.stop(),
  );

  const answering = { publicUrl, clock };
  const app = buildApp({
    service: answering,
    logger,
    health: health.health,
    merchant: { network, ...receiver, publicUrl },
    purchasing: countPurchases(paymentRole.purchasing, metrics, logger),
    keyCalls,
    resultIds,
    masterKeys,
    newestBlockhash: () => blockhashes.latest(),
    storage,
    runner,
    sponsoring,
    addressLimit:
      config.addressLimitPerMinute === null ? undefined : createAddressLimit(config.addressLimitPerMinute, steadyClock),
    clientAddresses: createClientAddresses({
      trustedProxies: config.trustedProxies,
      onUntrusted: reportUntrustedProxies(logger),
    }),
    metrics,
    sandboxCallbacks: createSandboxCallbacks({ outbound, counters: storage.readStore, clock, logger, userAgent }),
    localRpcUrl: rpcUrl,
    push: {
      sources: acts,
      folder: join(config.dataDirectory, 'pushed'),
      unknownTokensPerMinute: config.addressLimitPerMinute,
      steadyClock,
      metrics,
    },
    webhooks:
      config.sources.courtListener.webhookSecret === null
        ? undefined
        : { secret: config.sources.courtListener.webhookSecret, metrics },
    coverage: liveCoverage(config.sources),
    refresh: sources.refresh,
    tracer,
    mcpOrigins: { allowed: config.mcpAllowedOrigins, loopback: !config.production },
  });
  const admin = buildAdminApp({
    service: answering,
    logger,
    health: health.health,
    metrics,
    dataFolderId: dataFolderId(config.dataDirectory),
  });
  const url = await listen(app, config.host, port, undo, 'http');
  const adminUrl = await listen(admin, config.adminHost, config.adminPort, undo, 'admin');
  await health.refresh();
  node.listens({ url, adminUrl });
  logger.info({ url, adminUrl, network: config.solana.network, dataDirectory: config.dataDirectory }, 'ready');

  return {
    url,
    adminUrl,
    rpcUrl,
    storage,
    runner,
    banner: bannerOf({ url, adminUrl, rpcUrl, config, payTo: receiver.payTo }),
    async stop() {
      const late = setTimeout(() => {
        draining.abort();
        // A query that still waits for a source gets an answer, which is not charged.
        sources.stop().catch(() => undefined);
      }, DRAIN_MS);
      // In parallel with the requests: both may take ten seconds, and the whole stop only fifteen.
      callbacks.stop().catch(() => undefined);
      const unfinished = await undo.run(STOP_MS);
      clearTimeout(late);
      if (unfinished.length > 0) logger.warn({ unfinished }, 'stopped; the next start resumes unfinished work');
      else logger.info('stopped');
      logger.flush();
    },
  };
}

/** Waits for something, but no longer than this. */
async function within(milliseconds: number, done: Promise<void>): Promise<void> {
  const over = new AbortController();
  await Promise.race([done, pause(milliseconds, over.signal)]);
  over.abort();
}
