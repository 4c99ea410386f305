/** The composition root: configuration in, a running service out. The only file that knows every concrete class. */
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { type Logger, pino } from 'pino';
import { startCallbackRole } from './callback-role.ts';
import { openMasterKeys } from './callbacks/open-master-keys.ts';
import { createOutbound } from './callbacks/outbound/guarded-outbound.ts';
import { createPurchasing } from './commands/purchase.ts';
import { createKeyCalls } from './commands/signing-key-call.ts';
import type { Config } from './config.ts';
import { freePorts } from './free-ports.ts';
import { alarmsTo, healthChecks } from './health-checks.ts';
import { createAddressLimit } from './http/address-limit.ts';
import { buildAdminApp } from './http/admin-app.ts';
import { buildApp } from './http/app.ts';
import { watchHealth } from './http/health.ts';
import { createSandboxCallbacks } from './http/sandbox/sandbox-callbacks.ts';
import { API_VERSION } from './http/v2/status.ts';
import { keyAnswers } from './http/v2/wallet-keys-answer.ts';
import { type Clock, systemClock } from './instant.ts';
import { logDestination } from './log-destination.ts';
import { countPurchases, createMetrics, type Metrics } from './metrics.ts';
import { createPaymentRecovery } from './processes/payment-recovery.ts';
import { cases } from './projections/cases.ts';
import { deliveries } from './projections/deliveries.ts';
import { payments } from './projections/payments.ts';
import type { Projection } from './projections/projection.ts';
import { createProjectionRunner, type ProjectionRunner } from './projections/runner.ts';
import { signingKeyRecords } from './projections/signing-keys.ts';
import { wallets } from './projections/wallets.ts';
import { associatedTokenAddress, NETWORKS } from './solana/addresses.ts';
import { createBlockhashWatch } from './solana/blockhash-watch.ts';
import { createFaucetClient } from './solana/faucet-client.ts';
import { loadOrCreateKey, parseKey, type SolanaKey } from './solana/keys.ts';
import { checkReceiver, prepareLocalReceiver } from './solana/prepare-receiver.ts';
import { createRpcChain } from './solana/rpc-chain.ts';
import { steadyClock } from './steady-clock.ts';
import { withDamageAlarm } from './storage/damage-alarm.ts';
import type { CommandContext } from './storage/event-log.ts';
import { maskConnectionString } from './storage/eventstoredb/connection-string.ts';
import { leaseOwner } from './storage/lease-owner.ts';
import { maskMongoUrl } from './storage/mongodb/connection-string.ts';
import { withPayloadsFirst } from './storage/payloads-first.ts';
import { openSqlite } from './storage/sqlite/open.ts';
import type { Storage } from './storage/storage.ts';

/** How long requests that are under way at a stop may take to end by themselves. */
const DRAIN_MS = 10_000;

export const PROJECTIONS: readonly Projection[] = [cases, payments, wallets, deliveries, signingKeyRecords];

/**
 * Opens the storage that the configuration names.
 * @throws StorageFailure if an engine does not answer
 */
export async function openStorage(
  config: Config,
  logger?: Pick<Logger, 'debug' | 'warn' | 'error'>,
  { logThread = false }: { readonly logThread?: boolean } = {},
): Promise<Storage> {
  if (!config.engines) return openSqlite({ directory: config.dataDirectory, logger, logThread });
  // Loaded only here: the embedded engine needs neither client.
  const [{ openEventStore }, { openMongo }] = await Promise.all([
    import('./storage/eventstoredb/open.ts'),
    import('./storage/mongodb/open.ts'),
  ]);
  const log = await openEventStore(config.engines.eventStore, logger);
  try {
    const { payloads, readStore, close } = await openMongo(config.engines.mongo);
    return {
      log: withPayloadsFirst(log, payloads),
      payloads,
      readStore,
      async close() {
        await Promise.all([log.close(), close()]);
      },
    };
  } catch (error) {
    await log.close();
    throw error;
  }
}

/** A runner of every projection on this storage, not yet started. */
export function makeRunner(storage: Storage, logger: Logger, clock: Clock = systemClock): ProjectionRunner {
  return createProjectionRunner({ ...storage, projections: PROJECTIONS, clock, logger, owner: leaseOwner() });
}

/** Logs go to stderr: JSON, or lines for people on a terminal. */
export function makeLogger(level: string): Logger {
  if (!process.stderr.isTTY) return pino({ level }, logDestination(2));
  return pino({ level, transport: { target: 'pino-pretty', options: { destination: 2, ignore: 'pid,hostname' } } });
}

export interface Service {
  /** Base addresses, without a slash at the end. */
  readonly url: string;
  readonly adminUrl: string;
  /** Where callers may reach the chain; null where it is a remote one, whose address may hold a key. */
  readonly rpcUrl: string | null;
  readonly storage: Storage;
  readonly runner: ProjectionRunner;
  /** What an operator should know at once: what is real, what is local, what to try. */
  readonly banner: readonly string[];
  /** Finishes what is under way (10 s at most), then stops every part. What is not finished is taken up at the next start. */
  stop(): Promise<void>;
}

export interface ServiceOptions {
  readonly clock?: Clock;
  readonly logger?: Logger;
}

/** What must be undone, newest first: filled as the parts start, so that a failed start leaves nothing behind. */
class Undo {
  readonly #steps: (() => unknown)[] = [];

  add(step: () => unknown): void {
    this.#steps.unshift(step);
  }

  async run(): Promise<void> {
    for (const step of this.#steps.splice(0)) await step();
  }
}

/** Starts every part; resolves once the service answers and is ready for work or can say what it lacks. */
export async function startService(config: Config, options: ServiceOptions = {}): Promise<Service> {
  const undo = new Undo();
  try {
    return await start(config, options, undo);
  } catch (error) {
    await undo.run();
    throw error;
  }
}

async function start(config: Config, options: ServiceOptions, undo: Undo): Promise<Service> {
  const clock = options.clock ?? systemClock;
  const logger = options.logger ?? makeLogger(config.logLevel);
  mkdirSync(config.dataDirectory, { recursive: true, mode: 0o700 });
  const metrics = createMetrics();
  const opened = await openStorage(config, logger, { logThread: true });
  undo.add(() => opened.close());
  const storage: Storage = { ...opened, payloads: withDamageAlarm(opened.payloads, damageTeller(logger, metrics)) };
  const { log, payloads, readStore } = storage;

  const { chain, rpcUrl } = await joinChain(config, logger, undo);
  const blockhashes = createBlockhashWatch({ chain });
  undo.add(() => blockhashes.close());
  const { feePayer, payTo } = ourKeys(config);
  const network = NETWORKS[config.solana.network];
  const receiver = { payTo, feePayer: feePayer.address, mint: network.usdcMint };
  if (rpcUrl) await prepareOnLocalChain(rpcUrl, chain, receiver, undo);
  else await reportReceiver(chain, receiver, logger);

  const runner = makeRunner(storage, logger, clock);
  await runner.start();
  undo.add(() => runner.stop());

  const masterKeys = await openMasterKeys({ log, clock, logger }, config, startContext());
  const keyCalls = createKeyCalls({ log, clock, masterKeys, answers: keyAnswers, newKeyId: randomUUID });
  const draining = new AbortController();
  const destination = associatedTokenAddress(payTo, network.usdcMint);
  const settlement = { log, clock, chain, readStore, logger };
  const purchasing = createPurchasing({
    ...settlement,
    payloads,
    keyCalls,
    newDeliveryId: randomUUID,
    blockhashes,
    feePayer: { sign: (message) => feePayer.signAside(message) },
    payee: { network: network.caip2, mint: network.usdcMint, payTo, destination },
    draining: draining.signal,
  });
  const recovery = createPaymentRecovery({ ...settlement, underway: purchasing.underway, owner: leaseOwner() });
  const recoveryStopped = new AbortController();
  const recovering = recovery.run(recoveryStopped.signal);
  undo.add(async () => {
    recoveryStopped.abort();
    await recovering;
  });

  if (storage.freeBytes) metrics.watchDisk(storage.freeBytes);
  const health = watchHealth({
    checks: healthChecks({ ...storage, chain, blockhashes, receiver, runner, masterKeys, clock }),
    clock,
    onChange: alarmsTo(logger),
  });
  undo.add(() => health.stop());

  // Links must name the port before anything listens on it, so a port that the system is to choose is chosen here.
  const port = config.port || ((await freePorts(1))[0] ?? 0);
  const publicUrl = config.publicUrl ?? `http://${reachableHost(config.host)}:${port}`;
  const outbound = openOutbound(config, logger, { port, publicUrl });
  undo.add(() => outbound.close());
  const userAgent = `DocketMonitor/${API_VERSION} (+${publicUrl}/docs)`;
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
  });
  undo.add(() => callbacks.stop());

  const answering = { publicUrl, clock };
  const app = buildApp({
    service: answering,
    logger,
    health: health.health,
    merchant: { network, payTo, feePayer: feePayer.address, publicUrl },
    purchasing: countPurchases(purchasing, metrics),
    keyCalls,
    masterKeys,
    newestBlockhash: () => blockhashes.latest(),
    storage,
    runner,
    addressLimit:
      config.addressLimitPerMinute === null ? undefined : createAddressLimit(config.addressLimitPerMinute, steadyClock),
    sandboxCallbacks: createSandboxCallbacks({ outbound, clock, logger, userAgent }),
    localRpcUrl: rpcUrl,
    mcpOrigins: { allowed: config.mcpAllowedOrigins, loopback: !config.production },
  });
  const admin = buildAdminApp({ service: answering, logger, health: health.health, metrics });
  const url = await listen(app, config.host, port, undo);
  const adminUrl = await listen(admin, config.host, config.adminPort, undo);
  await health.refresh();
  logger.info({ url, adminUrl, network: config.solana.network, dataDirectory: config.dataDirectory }, 'ready');

  return {
    url,
    adminUrl,
    rpcUrl,
    storage,
    runner,
    banner: bannerOf({ url, adminUrl, rpcUrl, config, payTo }),
    async stop() {
      const late = setTimeout(() => draining.abort(), DRAIN_MS);
      // Beside the requests: what both of them wait for may take ten seconds, and the whole stop fifteen.
      const callbacksStopped = callbacks.stop();
      await undo.run();
      await callbacksStopped;
      clearTimeout(late);
      logger.info('stopped');
      logger.flush();
    },
  };
}

/** Joins the configured chain, or starts the local one where nothing is configured. */
async function joinChain(config: Config, logger: Logger, undo: Undo) {
  const { network, rpcUrls, localPort, localSlotMs } = config.solana;
  let urls = rpcUrls;
  if (network === 'local' && urls.length === 0) {
    // Loaded only here: a service on a real chain needs no virtual machine.
    const { startLocalChainWorker } = await import('./solana/local/start-local-chain-worker.ts');
    const { localChainDirectory } = await import('./solana/local/start-local-chain.ts');
    const localChain = await startLocalChainWorker({
      directory: localChainDirectory(config.dataDirectory),
      port: localPort,
      slotMs: localSlotMs,
      logger,
      environment: process.env,
      onFailure: (error) => logger.fatal({ err: error }, 'the local chain failed; restart the service'),
    });
    undo.add(() => localChain.close());
    urls = [localChain.url];
  }
  const chain = createRpcChain({ urls, logger });
  undo.add(() => chain.close());
  return { chain, rpcUrl: network === 'local' ? (urls[0] ?? null) : null };
}

/** Callers are told by whatever they ask for; that only a backup brings it back is an operator's business. */
const damageTeller = (logger: Logger, metrics: Metrics) => (blob: string) => {
  metrics.payloadDamaged();
  logger.error({ blob, alarm: 'payload_damaged' }, 'stored content is damaged: restore it from a backup');
};

/** The guard through which callbacks leave. */
function openOutbound(config: Config, logger: Logger, own: { readonly port: number; readonly publicUrl: string }) {
  const { adminPort, callbackAllowPrivate, callbackNat64Prefixes, solana } = config;
  if (callbackAllowPrivate.length > 0) {
    logger.warn(
      { allowed: callbackAllowPrivate, alarm: 'private_callbacks_allowed' },
      'callbacks may reach private addresses: whoever pays for a query can have this service call them',
    );
  }
  return createOutbound({
    ownHosts: [new URL(own.publicUrl).hostname],
    ownPorts: [own.port, adminPort, solana.localPort].filter((port) => port > 0),
    trustedPairs: callbackAllowPrivate,
    refusedRanges: callbackNat64Prefixes,
  });
}

/** What a start does in the log is its own act. */
const startContext = (): CommandContext => {
  const commandId = randomUUID();
  return { commandId, requestId: null, correlationId: commandId, causationId: null, actor: 'start' };
};

/** The keys of configuration, or those in the data folder, which are made on first use. */
function ourKeys(config: Config): { readonly feePayer: SolanaKey; readonly payTo: string } {
  const { feePayerKey, payTo } = config.solana;
  const keyIn = (name: string) => loadOrCreateKey(join(config.dataDirectory, 'keys', name));
  return {
    feePayer: feePayerKey === null ? keyIn('fee-payer.json') : parseKey(feePayerKey),
    payTo: payTo ?? keyIn('receiver.json').address,
  };
}

type Receiver = Parameters<typeof checkReceiver>[1];
type ReceiverChain = Parameters<typeof checkReceiver>[0];

async function prepareOnLocalChain(
  rpcUrl: string,
  chain: ReceiverChain,
  receiver: Receiver,
  undo: Undo,
): Promise<void> {
  const faucet = createFaucetClient(rpcUrl);
  undo.add(() => faucet.close());
  await prepareLocalReceiver(chain, faucet, receiver);
}

/** On a remote chain nothing is made for the operator; what lacks is said, by the log now and by `/readyz` always. */
async function reportReceiver(chain: ReceiverChain, receiver: Receiver, logger: Logger): Promise<void> {
  try {
    const { lacks } = await checkReceiver(chain, receiver);
    if (lacks.length) logger.error({ lacks, receiver }, 'payments cannot be taken yet');
  } catch (error) {
    logger.error({ err: error }, 'the chain cannot be reached yet');
  }
}

async function listen(app: FastifyInstance, host: string, port: number, undo: Undo): Promise<string> {
  undo.add(() => app.close());
  await app.listen({ host, port });
  const address = app.server.address();
  const actual = typeof address === 'object' && address ? address.port : port;
  return `http://${reachableHost(host)}:${actual}`;
}

/** How a host that is listened on is written in an address: a wildcard stands for this machine. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

function bannerOf(facts: {
  readonly url: string;
  readonly adminUrl: string;
  readonly rpcUrl: string | null;
  readonly config: Config;
  readonly payTo: string;
}): readonly string[] {
  const { url, adminUrl, rpcUrl, config, payTo } = facts;
  const chain = rpcUrl
    ? `local chain at ${rpcUrl}: real token program, test money`
    : `${config.solana.network}: real payments to ${payTo}`;
  return [
    `Docket Monitor answers at ${url} (health at ${adminUrl}/readyz)`,
    `  payments  ${chain}`,
    `  storage   ${storageLine(config)}`,
    `  dockets   from files: docket import FILE…`,
    `Try next:   docket wallet new --out wallet.json, docket demo, or read ${url}/docs`,
  ];
}

function storageLine({ engines, dataDirectory }: Config): string {
  if (!engines) return `SQLite in ${dataDirectory}: one machine`;
  return `events in EventStoreDB at ${maskConnectionString(engines.eventStore)}, the rest in MongoDB at ${maskMongoUrl(engines.mongo)}`;
}

/** A unique id for a run of the command line. */
export const newId = (): string => randomUUID();
