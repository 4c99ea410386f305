/** One look at everything for `docket status`: what the storage says, what the service here says, and the chain. */
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../../config.ts';
import { PROJECTIONS } from '../../projections/all.ts';
import {
  type FeePayerStatus,
  isUnreadable,
  readStatus,
  type Section,
  type StorageStatus,
  sectionOf,
  type Unreadable,
} from '../../queries/status.ts';
import { runwayOf, UNKNOWN_RUNWAY } from '../../queries/status-fee-payer.ts';
import type { NodeReport, NodeStanding, StatusPart } from '../../queries/status-nodes.ts';
import { type Clock, type Instant, toInstant } from '../../runtime/instant.ts';
import { liveCoverage } from '../../sources/coverage.ts';
import { freeBytes } from '../../storage/disk-space.ts';
import type { Storage } from '../../storage/storage.ts';
import { askService, type Readiness, servesFolderOf } from '../readiness.ts';

/** A part of one node. */
export interface NodePart extends StatusPart {
  readonly part: string;
  /** The node's host, with its process if several nodes have the same. */
  readonly node: string;
}

export interface StatusSnapshot {
  readonly at: Instant;
  /** No part of a node is down, no projection that answers need is halted, and all of the storage can be read. */
  readonly ok: boolean;
  readonly engines: string;
  /** `elsewhere`: the service at the admin port of this configuration serves another storage. */
  readonly service: 'running' | 'stopped' | 'elsewhere';
  readonly parts: readonly NodePart[];
  readonly storage: Section<StorageStatus>;
  readonly feePayer: Section<FeePayerStatus>;
  /** Of the disk that holds DATA_DIR; null if unknown. */
  readonly freeBytes: number | null;
}

export interface Look {
  readonly config: Config;
  readonly clock: Clock;
  readonly hosts: number;
  readonly timeoutMs: number;
  /** How long the storage may take to open, milliseconds. */
  readonly openMs: number;
  /** Opens the storage at the first call; a later call tries again only if that failed. */
  open(): Promise<Storage>;
}

export async function lookAtStatus(look: Look): Promise<StatusSnapshot> {
  const { config, clock, timeoutMs } = look;
  const [readiness, storage, free] = await Promise.all([
    askService(config),
    readable(look),
    freeBytes(config.dataDirectory).catch(() => null),
  ]);
  const ours = readiness !== null && servesFolderOf(config, readiness) ? readiness : null;
  const nodes = runningNodes(storage);
  const parts = partsOf(nodes, ours, config, clock);
  const service = ours || nodes.length > 0 ? 'running' : readiness ? 'elsewhere' : 'stopped';
  return {
    at: toInstant(clock.now()),
    ok: isWell(storage) && parts.every(({ status }) => status !== 'down'),
    engines: config.engines ? 'EventStoreDB and MongoDB' : `SQLite in ${config.dataDirectory}`,
    service,
    parts,
    storage,
    feePayer: await sectionOf(() => feePayerOf(look, storage, nodes), timeoutMs),
    freeBytes: free,
  };
}

async function readable({ open, openMs, config, ...ports }: Look): Promise<Section<StorageStatus>> {
  const storage = await sectionOf(open, openMs);
  if (isUnreadable(storage)) return storage;
  const liveSourcesOf = liveCoverage(config.sources).sourcesOf;
  return readStatus({ ...ports, ...storage, projections: PROJECTIONS, liveSourcesOf });
}

function runningNodes(storage: Section<StorageStatus>): readonly NodeStanding[] {
  if (isUnreadable(storage) || isUnreadable(storage.nodes)) return [];
  return storage.nodes.nodes.filter(({ state }) => state === 'running');
}

/** Read models that only operators use take no node out of service, as on `/readyz`. */
const SERVED: ReadonlySet<string> = new Set(
  PROJECTIONS.filter(({ forOperators }) => !forOperators).map(({ name }) => name),
);

/** Whether all of it can be read, and no projection that answers need is halted. */
const isWell = (storage: Section<StorageStatus>): boolean =>
  !isUnreadable(storage) &&
  Object.values(storage).every((section: Section<object>) => !isUnreadable(section)) &&
  !isUnreadable(storage.projections) &&
  !storage.projections.some(({ projection, active }) => active.halt !== null && SERVED.has(projection));

/** The parts of every node; those of the service here as it answers now. */
function partsOf(
  nodes: readonly NodeStanding[],
  ours: Readiness | null,
  { adminPort }: Config,
  clock: Clock,
): readonly NodePart[] {
  const isOurs = ({ host, adminUrl }: NodeReport): boolean =>
    host === hostname() && adminUrl !== null && Number(/:(\d+)$/.exec(adminUrl)?.[1]) === adminPort;
  const label = ({ host, pid }: NodeReport): string =>
    nodes.filter((node) => node.host === host).length > 1 ? `${host}:${pid}` : host;
  const here = nodes.find(isOurs);
  const reported = nodes
    .filter((node) => ours === null || node !== here)
    .flatMap((node) => Object.entries(node.parts).map(([part, found]) => ({ part, node: label(node), ...found })));
  return ours ? [...partsHere(ours, here ? label(here) : hostname(), clock), ...reported] : reported;
}

function partsHere({ parts }: Readiness, node: string, clock: Clock): readonly NodePart[] {
  return Object.entries(parts).map(([part, { status, since, reason, code, hint }]) => ({
    part,
    node,
    // Only an unknown release has other words; whatever it means, it is not well.
    status: status === 'nominal' || status === 'down' ? status : 'degraded',
    since: since ?? toInstant(clock.now()),
    reason: reason ?? null,
    ...(code !== undefined && { code }),
    ...(hint !== undefined && { hint }),
  }));
}

async function feePayerOf(
  look: Look,
  storage: Section<StorageStatus>,
  nodes: readonly NodeStanding[],
): Promise<FeePayerStatus> {
  const known = nodes.flatMap(({ feePayer }) => feePayer ?? []).toSorted((a, b) => (a.at > b.at ? -1 : 1))[0];
  if (!known && nodes.length > 0) throw new Error('the service has not been able to read its balance');
  const balance = known ?? (await balanceNow(look));
  const money: StorageStatus['money'] | Unreadable = isUnreadable(storage) ? storage : storage.money;
  if (isUnreadable(money) || money.complete !== true) return { ...balance, ...UNKNOWN_RUNWAY };
  return { ...balance, ...runwayOf(BigInt(balance.lamports), money.spend, look.clock.now()) };
}

/** Asks the chain itself, because no service runs that does. */
async function balanceNow({ config, clock, timeoutMs }: Look): Promise<NonNullable<NodeReport['feePayer']>> {
  const { rpcUrls: urls, feePayerKey } = config.solana;
  if (urls.length === 0) throw new Error('the local chain runs only with the service');
  // Loaded only here, because usually a node knows the balance.
  const [{ createRpcChain }, { loadKey, parseKey }] = await Promise.all([
    import('../../solana/rpc-chain.ts'),
    import('../../solana/keys.ts'),
  ]);
  const { address } =
    feePayerKey === null ? loadKey(join(config.dataDirectory, 'keys', 'fee-payer.json')) : parseKey(feePayerKey);
  const chain = createRpcChain({ urls, timeoutMs: timeoutMs / 2, logger: { warn: () => {}, info: () => {} } });
  try {
    return { address, lamports: String(await chain.balance(address)), at: toInstant(clock.now()) };
  } finally {
    await chain.close();
  }
}
