/** `docket audit anchor`: puts the newest root of the log into a memo on the chain, and compares such memos with the log. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { type AnchorsReport, checkAnchors } from '../../audit/anchors.ts';
import { AnchorFailed, type AnchorOutcome, anchorNewestHead } from '../../commands/log-head/anchor-head.ts';
import { loadLogIdentity } from '../../commands/log-identity/log-identity.ts';
import { type Config, readConfig } from '../../config.ts';
import { systemClock } from '../../runtime/instant.ts';
import { isAddress } from '../../solana/addresses.ts';
import { ANCHOR_FEE_LAMPORTS, anchorMemo } from '../../solana/anchor-transaction.ts';
import { CallBudget } from '../../solana/call-budget.ts';
import { ChainUnavailable } from '../../solana/chain.ts';
import { KeyUnreadable, loadKey, parseKey, type SolanaKey } from '../../solana/keys.ts';
import { createRpcChain, type RpcChain } from '../../solana/rpc-chain.ts';
import { RpcHistory } from '../../solana/rpc-history.ts';
import type { EventLog } from '../../storage/event-log.ts';
import { type AddCommand, type CliContext, CliError, EXIT, FoundWrong, note, print, printJson } from '../command.ts';
import { actContext, readBy } from '../operator-act.ts';
import { openOwnLog, openServiceLog, withStorage } from '../service-storage.ts';
import { openEndpoints } from './reconcile.ts';

interface AnchorOptions {
  readonly by?: string;
  readonly verify?: boolean;
  readonly feePayer?: readonly string[];
  readonly json?: boolean;
}

/** Few enough for every provider's free plan. */
const CALLS_PER_SECOND = 10;

export const addAuditAnchorCommand: AddCommand = (audit: Command, context) => {
  audit
    .command('anchor')
    .description(`Put the newest root of the log into a memo on the chain; costs ${ANCHOR_FEE_LAMPORTS} lamports.`)
    .option('--by <name>', 'who anchors; recorded (default: the current user)')
    .option('--verify', 'write nothing: compare all anchors of this log with the chain')
    .option(
      '--fee-payer <address>',
      'with --verify: whose anchors count; may be repeated (default: that of the settings)',
      (address: string, before: readonly string[] = []) => [...before, address],
    )
    .option('--json', 'one JSON object')
    .addHelpText(
      'after',
      `
The fee payer (FEE_PAYER_KEY) signs and pays. Waits until the transaction is final, half a minute at most on a healthy
cluster, and records it. A head that is anchored already costs nothing. AUDIT_ANCHOR=hourly or daily does the same.
--verify costs nothing. It also finds the anchors that the log does not know: they show that its end was cut. Give each
fee payer that the service has ever had; without any, the signers are as the log says.
Exit code 1: nothing was anchored, or log and chain differ.

Examples:
  $ docket audit anchor
  $ docket audit anchor --by "Ann Lee" --json
  $ docket audit anchor --verify --fee-payer ADDRESS`,
    )
    .action((options: AnchorOptions) => {
      const { feePayer, verify } = options;
      if (feePayer !== undefined && (!verify || !feePayer.every(isAddress))) {
        throw new CliError(
          '--fee-payer takes an address, and works only with --verify.',
          'Add --verify, or correct the address: 32 bytes in base58.',
        );
      }
      if (verify) return withStorage(openServiceLog, context, ({ log }) => verifyAnchors(log, options, context));
      const by = readBy(options.by);
      return withStorage(openOwnLog, context, ({ log }) => run(log, by, options, context));
    });
};

async function run(log: EventLog, by: string, { json }: AnchorOptions, context: CliContext): Promise<void> {
  const config = readConfig(context.environment);
  const identity = await loadLogIdentity(log);
  if (identity === null) throw noHead();
  const { logId } = identity;
  const feePayer = feePayerOf(config);
  const { rpcUrls, localPort } = config.solana;
  const urls = rpcUrls.length ? rpcUrls : [`http://127.0.0.1:${localPort}`];
  const chain = createRpcChain({ urls, logger: { info() {}, warn() {} } });
  let isSent = false;
  try {
    await assertChain(chain, identity.genesisHash);
    const outcome = await anchorNewestHead(
      {
        log,
        chain,
        feePayer,
        logId,
        clock: systemClock,
        ...(config.solana.network === 'local' && { lookEveryMs: 500 }),
      },
      {
        by,
        context: actContext(),
        sending: ({ size }) =>
          note(
            context,
            `Anchoring the root over ${size} events costs ${feePayer.address} ${ANCHOR_FEE_LAMPORTS} lamports.`,
          ),
        sent: (signature) => {
          isSent = true;
          note(context, `Sent ${signature}; waiting until it is final.`);
        },
      },
    );
    report(outcome, logId, json === true, context);
  } catch (error) {
    throw explained(error, isSent);
  } finally {
    chain.close();
  }
}

async function verifyAnchors(log: EventLog, options: AnchorOptions, context: CliContext): Promise<void> {
  const config = readConfig(context.environment);
  const identity = await loadLogIdentity(log);
  if (identity === null) throw noHead();
  const { logId } = identity;
  const endpoints = await openEndpoints(log, config, {}, context);
  const perSecond = config.solana.network === 'local' ? null : CALLS_PER_SECOND;
  const history = new RpcHistory({ urls: endpoints.urls, budget: new CallBudget({ perSecond, inAll: null }) });
  try {
    if ((await history.genesisHash()) !== identity.genesisHash) throw anotherChain(identity.genesisHash);
    const feePayers = options.feePayer ?? [knownFeePayer(config)?.address].filter((address) => address !== undefined);
    const result = await checkAnchors(log, history, logId, feePayers);
    if (options.json) printJson(context, { logId, ...result });
    else for (const line of linesOf(result)) print(context, line);
    const { length } = result.faults;
    if (length > 0) {
      throw new FoundWrong(
        `Log and chain differ in ${length === 1 ? 'one anchor' : `${length} anchors`}.`,
        'Events were removed or changed since. Run docket audit verify, and compare with a backup.',
      );
    }
  } catch (error) {
    throw explained(error, false);
  } finally {
    history.close();
    await endpoints.close();
  }
}

function linesOf(report: AnchorsReport): readonly string[] {
  const { recorded, held, notKept, listedNotKept, otherSigner, signersFrom, onChain, foreign, proven, faults } = report;
  const lines = faults.map(
    ({ transaction, expected, found }) => `${transaction}: expected ${expected}; found ${found}`,
  );
  lines.push(
    `log: anchors ${recorded}; on the chain as recorded ${held}, no longer kept by the endpoint ${notKept}`,
    `chain: anchors of this log ${onChain}; memos of somebody else ${foreign}`,
  );
  if (listedNotKept > 0) {
    lines.push(
      `WARNING: the endpoint lists ${listedNotKept} more that it no longer keeps: they may be anchors that are missing in the log. Ask an endpoint with an archive.`,
    );
  }
  if (otherSigner > 0) {
    lines.push(`WARNING: anchors by none of the given fee payers, so they prove nothing: ${otherSigner} (--fee-payer)`);
  }
  if (proven === null) lines.push('no head of the log is proven by the chain');
  else if (signersFrom === 'given') {
    lines.push(
      `the first ${proven.size} events are proven by the chain, if the log leads to root ${proven.root} (docket audit verify)`,
    );
  } else {
    lines.push(
      `the first ${proven.size} events are anchored with root ${proven.root}, but by signers that only the log names: give --fee-payer`,
    );
  }
  return lines;
}

function report({ anchored, ...outcome }: AnchorOutcome, logId: string, json: boolean, context: CliContext): void {
  if (anchored === null) throw noHead();
  const isNew = 'isNew' in outcome && outcome.isNew;
  if (json) {
    printJson(context, { logId, ...anchored, memo: anchorMemo({ logId, ...anchored }), new: isNew });
    return;
  }
  const { size, root, transaction, slot } = anchored;
  if (!isNew) print(context, 'The newest head is anchored already; nothing was sent.');
  print(context, `The root ${root} over ${size} events is on the chain: transaction ${transaction}, slot ${slot}.`);
}

async function assertChain(chain: RpcChain, expected: string): Promise<void> {
  const hashes = (await chain.genesisHashes()).filter((hash) => hash !== null);
  if (hashes.every((hash) => hash === expected)) return;
  throw anotherChain(expected);
}

const anotherChain = (expected: string): CliError =>
  new CliError(
    `The endpoint serves another chain than this log belongs to (genesis hash ${expected}).`,
    'Make SOLANA_RPC_URL, or SOLANA_LOCAL_PORT, that of the service.',
  );

function feePayerOf(config: Config): SolanaKey {
  const key = knownFeePayer(config);
  if (key) return key;
  throw new CliError(
    `There is no fee payer: neither FEE_PAYER_KEY nor ${feePayerFile(config)}.`,
    'Set DATA_DIR to that of the service.',
  );
}

/** The configured key, or the one that the service generated; null if there is neither. Creates none. */
function knownFeePayer(config: Config): SolanaKey | null {
  const { feePayerKey } = config.solana;
  const file = feePayerFile(config);
  try {
    if (feePayerKey !== null) return parseKey(feePayerKey);
    return existsSync(file) ? loadKey(file) : null;
  } catch (error) {
    if (!(error instanceof KeyUnreadable)) throw error;
    throw new CliError(
      `The key of the fee payer cannot be read: ${error.message}.`,
      'Check FEE_PAYER_KEY, or the file.',
    );
  }
}

const feePayerFile = ({ dataDirectory }: Config): string => join(dataDirectory, 'keys', 'fee-payer.json');

const noHead = (): CliError =>
  new CliError(
    'The log has no head to anchor yet.',
    'Start the service: it records one each minute in which something happened, and at a stop, unless AUDIT_HEADS=off.',
    EXIT.unavailable,
  );

function explained(error: unknown, isSent: boolean): unknown {
  if (error instanceof ChainUnavailable) {
    const hint = 'Start the service or `docket chain`, or set SOLANA_RPC_URL.';
    const more = isSent ? ' The transaction was sent: a repeat may cost its fee once more.' : '';
    return new CliError(`The chain does not answer: ${error.message}.`, `${hint}${more}`, EXIT.unavailable, {
      code: error.code,
    });
  }
  if (!(error instanceof AnchorFailed)) return error;
  const hint =
    error.code === 'fee_payer_funds' ? 'Send SOL to the fee payer.' : 'Run it again; docket doctor checks the chain.';
  return new CliError(`Not anchored: ${error.message}.`, hint, EXIT.found, { code: error.code });
}
