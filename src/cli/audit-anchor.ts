/** `docket audit anchor`: puts the newest root of the log into a memo on the chain. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { AnchorFailed, type AnchorOutcome, anchorNewestHead } from '../commands/log-head/anchor-head.ts';
import { loadLogIdentity } from '../commands/log-identity/log-identity.ts';
import { type Config, readConfig } from '../config.ts';
import { systemClock } from '../runtime/instant.ts';
import { ANCHOR_FEE_LAMPORTS, anchorMemo } from '../solana/anchor-transaction.ts';
import { ChainUnavailable } from '../solana/chain.ts';
import { KeyUnreadable, loadKey, parseKey, type SolanaKey } from '../solana/keys.ts';
import { createRpcChain, type RpcChain } from '../solana/rpc-chain.ts';
import type { EventLog } from '../storage/event-log.ts';
import { type AddCommand, type CliContext, CliError, EXIT, note, print, printJson } from './command.ts';
import { actContext, readBy } from './operator-act.ts';
import { openOwnLog, withStorage } from './service-storage.ts';

interface AnchorOptions {
  readonly by?: string;
  readonly json?: boolean;
}

export const addAuditAnchorCommand: AddCommand = (audit: Command, context) => {
  audit
    .command('anchor')
    .description(`Put the newest root of the log into a memo on the chain; costs ${ANCHOR_FEE_LAMPORTS} lamports.`)
    .option('--by <name>', 'who anchors; recorded (default: the current user)')
    .option('--json', 'one JSON object')
    .addHelpText(
      'after',
      `
The fee payer (FEE_PAYER_KEY) signs and pays. Waits until the transaction is final, half a minute at most on a healthy
cluster, and records it. A head that is anchored already costs nothing. AUDIT_ANCHOR=hourly or daily does the same.

Examples:
  $ docket audit anchor
  $ docket audit anchor --by "Ann Lee" --json`,
    )
    .action((options: AnchorOptions) => {
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
      { log, chain, feePayer, logId, clock: systemClock },
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
  throw new CliError(
    `The endpoint serves another chain than this log belongs to (genesis hash ${expected}).`,
    'Make SOLANA_RPC_URL, or SOLANA_LOCAL_PORT, that of the service.',
  );
}

/** The configured key, or the one that the service generated. Creates none. */
function feePayerOf({ solana: { feePayerKey }, dataDirectory }: Config): SolanaKey {
  const file = join(dataDirectory, 'keys', 'fee-payer.json');
  try {
    if (feePayerKey !== null) return parseKey(feePayerKey);
    if (existsSync(file)) return loadKey(file);
  } catch (error) {
    if (!(error instanceof KeyUnreadable)) throw error;
    throw new CliError(
      `The key of the fee payer cannot be read: ${error.message}.`,
      'Check FEE_PAYER_KEY, or the file.',
    );
  }
  throw new CliError(
    `There is no fee payer: neither FEE_PAYER_KEY nor ${file}.`,
    'Set DATA_DIR to that of the service.',
  );
}

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
