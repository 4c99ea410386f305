/** The checks of `/readyz` (docs/design/operations.md#health), each with the reason for a failure. */
import type { BaseLogger } from 'pino';
import type { MasterKeys } from '../callbacks/master-keys.ts';
import type { LogIdentity } from '../commands/log-identity/log-identity.ts';
import type { SponsorBudget } from '../commands/purchase/sponsor-budget.ts';
import { type Problem, problem } from '../errors.ts';
import type { LiveSourceName } from '../events/source.ts';
import {
  type Advice,
  type Check,
  type Finding,
  type Health,
  NOMINAL,
  type PartHealth,
  STARTING,
} from '../http/admin/health.ts';
import { assertMadeFrom } from '../identity/identify-log.ts';
import type { OperatorActs } from '../processes/operator-acts.ts';
import { PROJECTIONS } from '../projections/all.ts';
import { skipCommand } from '../projections/halt.ts';
import type { ProjectionRunner } from '../projections/runner.ts';
import { oldestOverdue, PassedOver } from '../queries/delivery-standing.ts';
import { sourceRecordsOf } from '../queries/live-sources.ts';
import { missingMasterVersions } from '../queries/missing-master-versions.ts';
import { type Clock, MICROS_PER_SECOND } from '../runtime/instant.ts';
import type { OpenFiles } from '../runtime/open-files.ts';
import { steadyClock } from '../runtime/steady-clock.ts';
import type { SolanaNetwork } from '../solana/addresses.ts';
import type { BlockhashWatch } from '../solana/blockhash-watch.ts';
import { type Chain, ChainUnavailable } from '../solana/chain.ts';
import { describeWrong, endpointNetworks, type WrongEndpoint } from '../solana/network-check.ts';
import { checkReceiver, type Receiver, type ReceiverReport } from '../solana/prepare-receiver.ts';
import { LOW_DISK_BYTES } from '../storage/disk-space.ts';
import type { EventLog } from '../storage/event-log.ts';
import type { PayloadStore } from '../storage/payload-store.ts';
import type { ReadStore } from '../storage/read-store.ts';
import { StorageFailure } from '../storage/storage-failure.ts';
import { sourcesFinding } from './sources-finding.ts';

/** If a projection is further behind than this, in seconds, its answers are too old to sell. */
const DEGRADED_BEHIND_SECONDS = 5;
const DOWN_BEHIND_SECONDS = 60;
/** A callback that is this late is not just waiting for its turn. */
const DEGRADED_OVERDUE_SECONDS = 300;

const MEBIBYTE = 1024 * 1024;
/** Less than the write-ahead logs may need between two checkpoints: the next write may fail. */
const FULL_DISK_BYTES = 8 * MEBIBYTE;

/** Fractions of the limit of open files. */
const DEGRADED_OPEN_FILES = 0.8;
const DOWN_OPEN_FILES = 0.95;

const down = (reason: string): Finding => ({ status: 'down', reason });
const degraded = (reason: string): Finding => ({ status: 'degraded', reason });

const whileItAnswers =
  (part: { check(): Promise<void> }): Check =>
  async () => {
    try {
      await part.check();
      return NOMINAL;
    } catch (error) {
      if (!(error instanceof StorageFailure)) throw error;
      const { code, hint, message } = error;
      return { ...down(message), code, hint };
    }
  };

export interface CheckedParts {
  readonly log: EventLog;
  /** The log that the read models must have been built from. */
  readonly logIdentity: Pick<LogIdentity, 'logId'>;
  readonly payloads: PayloadStore;
  readonly readStore: ReadStore;
  readonly chain: Chain;
  /** Why the local chain has stopped for good; null while it runs; left out if there is none. */
  readonly localFailure?: () => Finding | null;
  readonly blockhashes: BlockhashWatch;
  readonly receiver: Receiver;
  /** Called with each report on the accounts that payments need. */
  readonly onReceiver?: (report: ReceiverReport) => void;
  readonly solanaNetwork: SolanaNetwork;
  readonly runner: ProjectionRunner;
  /** What operators have decided, as this node knows it; known if omitted. */
  readonly acts?: Pick<OperatorActs, 'areKnown'>;
  readonly masterKeys: Pick<MasterKeys, 'versions'>;
  /** The cost of failed sponsored payments; if left out, there is no limit. */
  readonly sponsoring?: Pick<SponsorBudget, 'pause'>;
  readonly clock: Clock;
  /** Left out if no storage is on a local disk. */
  readonly freeBytes?: (() => Promise<number | null>) | undefined;
  /** The live sources that are configured. */
  readonly liveSources?: readonly LiveSourceName[];
  /** If left out, file descriptors are not checked. */
  readonly openFiles?: () => Promise<OpenFiles | null>;
}

const CHAIN_ADVICE: Advice = {
  code: 'chain_unreachable',
  hint: 'Check SOLANA_RPC_URL and the network; you can set several endpoints. Nothing is sold or charged meanwhile.',
};

const STORAGE_ADVICE: Advice = {
  code: 'storage_unavailable',
  hint: 'Check that the storage answers: EVENTSTORE_URL and MONGODB_URL, or the disk that holds DATA_DIR. It is used again by itself once it does.',
};

const SYSTEM_ADVICE: Advice = {
  code: 'check_failed',
  hint: 'The operating system did not answer the check. Look at its log, and at the disk that holds DATA_DIR.',
};

/** Code and hint for parts whose check fails without naming its own, or does not answer in time (`watchHealth`). */
export const HEALTH_ADVICE: Readonly<Record<string, Advice>> = {
  event_log: STORAGE_ADVICE,
  payload_store: STORAGE_ADVICE,
  read_store: STORAGE_ADVICE,
  disk: SYSTEM_ADVICE,
  open_files: SYSTEM_ADVICE,
  projections: STORAGE_ADVICE,
  signing_keys: STORAGE_ADVICE,
  callbacks: STORAGE_ADVICE,
  sources: STORAGE_ADVICE,
  chain: CHAIN_ADVICE,
  payment_receiver: CHAIN_ADVICE,
};

/** One check for each part, under the name that `/readyz` and `GET /v2/status` use. */
export function healthChecks(parts: CheckedParts): Readonly<Record<string, Check>> {
  const { freeBytes, openFiles } = parts;
  const passed = new PassedOver();
  return {
    event_log: whileItAnswers(parts.log),
    payload_store: whileItAnswers(parts.payloads),
    read_store: whileItAnswers({ check: () => checkReadStore(parts) }),
    ...(freeBytes && { disk: async () => diskFinding(await freeBytes()) }),
    ...(openFiles && { open_files: async () => openFilesFinding(await openFiles()) }),
    chain: chainCheck(parts),
    payment_receiver: () => paymentReceiver(parts),
    projections: () => (parts.acts?.areKnown === false ? ACTS_UNREAD : projections(parts.runner)),
    signing_keys: () => signingKeys(parts),
    callbacks: () => callbacks(parts, passed),
    sources: () => sources(parts),
  };
}

/** A source that does not work costs freshness, never a sale, so this part is at most degraded. */
async function sources({ readStore, liveSources = [] }: CheckedParts): Promise<Finding> {
  if (liveSources.length === 0) return NOMINAL;
  try {
    return sourcesFinding(await sourceRecordsOf(readStore, liveSources));
  } catch (error) {
    if (!(error instanceof StorageFailure)) throw error;
    const { code, hint, message } = error;
    return { ...degraded(message), code, hint };
  }
}

/** Read models, payloads and cells of another log must not be sold as those of this one. */
async function checkReadStore({ readStore, logIdentity }: CheckedParts): Promise<void> {
  await readStore.check();
  assertMadeFrom(logIdentity, await readStore.logId());
}

/** As after an upgrade, or with a read store that was emptied: this takes as long as a look at the whole log. */
const ACTS_UNREAD: Finding = {
  ...down('the decisions of operators (bans, pauses, tokens) are still being read from the log'),
  code: 'operator_acts_unread',
  hint: 'Wait; nothing is sold meanwhile. If it takes longer than a read of the whole log, look at the log of this node.',
};

/** Payments on another network are worthless. */
const WRONG_CHAIN = 'wrong_chain';

/** Parts without which nothing may be charged, even if a purchase itself would not fail. */
const NEEDED_TO_CHARGE = ['event_log', 'read_store'] as const;

/**
 * Why nothing may be charged now; null if it may. Parts that have not been checked yet do not block.
 * @param acts nothing is sold to a banned wallet, not even by a node that has just started
 */
export function closedFor(health: Health, acts: Pick<OperatorActs, 'areKnown'>): Problem | null {
  if (!acts.areKnown) return problem('service_unavailable', { component: 'read_store', retry_after: 2 });
  if (health.chain?.code === WRONG_CHAIN) {
    return problem('service_unavailable', { component: 'chain', retry_after: 2 });
  }
  const down = NEEDED_TO_CHARGE.find((part) => health[part]?.status === 'down' && health[part].reason !== STARTING);
  return down === undefined ? null : problem('service_unavailable', { component: down, retry_after: 2 });
}

/**
 * Logs each change of a part; `alarm` is the field for log watchers, e.g. `payment_receiver_degraded` when the fee
 * payer's SOL runs low.
 */
export const alarmsTo =
  (logger: Pick<BaseLogger, 'info' | 'warn' | 'error'>) =>
  (part: string, { status, reason, code, hint }: PartHealth): void => {
    if (status === 'nominal') logger.info({ part }, 'component recovered');
    else
      logger[status === 'down' ? 'error' : 'warn'](
        { part, reason, code, hint, alarm: `${part}_${status}` },
        status === 'down' ? 'component down' : 'component degraded',
      );
  };

/**
 * Judges the free space of the disk that holds DATA_DIR (null: unknown), before it is full: a full disk stops all sales
 * and blocks the completion of sold answers.
 */
export function diskFinding(free: number | null): Finding {
  if (free === null || free >= LOW_DISK_BYTES) return NOMINAL;
  const reason = `the disk that holds DATA_DIR has ${Math.floor(free / MEBIBYTE)} MiB left`;
  const hint = 'Free space on it, or move DATA_DIR to a larger one while the service is stopped.';
  return free < FULL_DISK_BYTES
    ? { ...down(reason), code: 'storage_full', hint }
    : { ...degraded(reason), code: 'low_disk', hint };
}

/**
 * Judges the number of open files and connections (null: unknown). Without a free descriptor no connection is accepted
 * and no file opened, so it raises an alarm before that.
 */
export function openFilesFinding(files: OpenFiles | null): Finding {
  if (files === null || files.open < files.limit * DEGRADED_OPEN_FILES) return NOMINAL;
  const reason = `${files.open} of ${files.limit} file descriptors are in use`;
  const hint =
    'Raise the limit of open files (ulimit -n; LimitNOFILE in systemd), or find out which clients hold so many connections.';
  return files.open < files.limit * DOWN_OPEN_FILES
    ? { ...degraded(reason), code: 'few_descriptors', hint }
    : { ...down(reason), code: 'no_descriptors', hint };
}

/** Overdue attempts, except those to paused hosts. After a long stop attempts are spread out, so some are late. */
async function callbacks({ readStore, clock }: CheckedParts, passed: PassedOver): Promise<Finding> {
  const seconds = await oldestOverdue(readStore, clock.now(), passed);
  if (seconds <= DEGRADED_OVERDUE_SECONDS) return NOMINAL;
  return {
    ...degraded(`a callback has been overdue for ${Math.round(seconds)} seconds`),
    code: 'callbacks_overdue',
    hint: 'docket status shows the hosts that are waited for, and the node of each partition. After a long stop this passes by itself; otherwise the log has the failures, and another node takes half of the work.',
  };
}

/** How long to rely on the network of the endpoints, once each has reported it. */
const NETWORK_KNOWN_MICROS = 60 * MICROS_PER_SECOND;

function chainCheck(parts: CheckedParts): Check {
  const { chain, localFailure, blockhashes, solanaNetwork } = parts;
  let networkKnownUntil = Number.NEGATIVE_INFINITY;

  const wrongNow = async (): Promise<readonly WrongEndpoint[]> => {
    if (steadyClock.now() < networkKnownUntil) return [];
    try {
      const { wrong, unknown } = await endpointNetworks(chain, solanaNetwork);
      if (wrong.length === 0 && unknown === 0) networkKnownUntil = steadyClock.now() + NETWORK_KNOWN_MICROS;
      return wrong;
    } catch (error) {
      // Whether the chain answers at all is checked separately.
      if (error instanceof ChainUnavailable) return [];
      throw error;
    }
  };

  return async () => {
    const failed = localFailure?.();
    if (failed) return failed;
    // Ask now: a blockhash stays valid for a while after the chain has become unreachable.
    const [wrong] = await Promise.all([wrongNow(), chain.blockHeight('processed')]);
    if (wrong.length > 0) {
      const hint = 'Make SOLANA_NETWORK and SOLANA_RPC_URL agree. Payments on another network are worthless.';
      return { ...down(describeWrong(wrong, solanaNetwork)), code: WRONG_CHAIN, hint };
    }
    return blockhashes.latest() ? NOMINAL : { ...down('no endpoint has given a recent blockhash'), ...CHAIN_ADVICE };
  };
}

/** A low balance of the fee payer is an alarm before it becomes a failure. */
async function paymentReceiver({ chain, receiver, onReceiver, sponsoring }: CheckedParts): Promise<Finding> {
  const { feePayer, payTo, mint } = receiver;
  const report = await checkReceiver(chain, receiver);
  onReceiver?.(report);
  const { missing, feePayerLamports, feePayerLow, tokenAccount } = report;
  const sendSol = `Send SOL to ${feePayer}: it pays the network’s fees of x402 payments.`;
  if (missing.includes('fee_payer_funds')) {
    const reason = `the fee payer ${feePayer} has ${feePayerLamports} lamports: too little for network fees`;
    return { ...down(reason), code: 'fee_payer_empty', hint: sendSol };
  }
  if (missing.includes('token_account')) {
    const reason = `${payTo} has no USDC token account (${tokenAccount}); it must be created before payments can arrive`;
    const hint = `Create it: spl-token create-account ${mint} --owner ${payTo} --fee-payer KEYPAIR; or send it any USDC from a wallet.`;
    return { ...down(reason), code: 'token_account_missing', hint };
  }
  if (feePayerLow) {
    const reason = `the fee payer ${feePayer} has only ${feePayerLamports} lamports left`;
    return { ...degraded(reason), code: 'fee_payer_low', hint: sendSol };
  }
  const pause = sponsoring?.pause();
  if (pause) {
    const { window, lost, limit } = pause.standing;
    const reason = `failed payments cost the fee payer ${lost} lamports within the ${window}, above the limit of ${limit}: sponsored payments are paused`;
    const hint =
      'Payments whose sender pays the fee continue. Check docket_purchases_total and the wallets in the log; SPONSOR_LOSS_LAMPORTS_PER_HOUR and _PER_DAY set the budget.';
    return { ...degraded(reason), code: 'sponsored_payments_paused', hint };
  }
  return NOMINAL;
}

const FOR_OPERATORS: ReadonlySet<string> = new Set(
  PROJECTIONS.filter(({ forOperators }) => forOperators).map(({ name }) => name),
);

const mostBehind = (statuses: readonly { readonly secondsBehind: number }[]): number =>
  statuses.reduce((most, { secondsBehind }) => Math.max(most, secondsBehind), 0);

/** A halted projection stays behind until an operator acts, so the hint is the very command. */
async function projections(runner: ProjectionRunner): Promise<Finding> {
  const statuses = await runner.status();
  const served = statuses.filter(({ projection }) => !FOR_OPERATORS.has(projection));
  const halted = statuses.filter(({ halt }) => halt !== null);
  if (halted.length) {
    const reason = halted
      .map(({ projection, halt }) => `${projection} halted at ${halt?.position}: ${halt?.error}`)
      .join('; ');
    const commands = halted.map(({ projection, halt }) => skipCommand(projection, halt?.position ?? ''));
    return {
      ...(halted.some((one) => served.includes(one)) ? down(reason) : degraded(reason)),
      code: 'projection_halted',
      hint: `Correct the cause, or skip the event: ${commands.join('; ')}`,
    };
  }
  const slowest = mostBehind(statuses);
  if (slowest <= DEGRADED_BEHIND_SECONDS) return NOMINAL;
  const reason = `a projection is ${Math.round(slowest)} seconds behind`;
  const hint =
    'docket projections status shows which, and whether it moves. It catches up by itself after a rebuild or a long stop; otherwise the log has the failure that it waits out.';
  return {
    ...(mostBehind(served) > DOWN_BEHIND_SECONDS ? down(reason) : degraded(reason)),
    code: 'projections_behind',
    hint,
  };
}

/** This node cannot send callbacks for wallets whose key was derived from a missing master key. */
async function signingKeys({ readStore, masterKeys: { versions } }: CheckedParts): Promise<Finding> {
  const missing = await missingMasterVersions(readStore, versions);
  if (missing.length === 0) return NOMINAL;
  const reason = `signing keys were derived from version ${missing.join(', ')} of the master key, which is missing here`;
  const hint = 'Add it to MASTER_KEY after the newest, as VERSION:HEX. Their wallets get no callbacks until then.';
  return { ...degraded(reason), code: 'master_key_missing', hint };
}
