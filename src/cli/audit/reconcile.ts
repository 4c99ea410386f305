/** `docket audit reconcile`: compares the log with the chain. */

import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import type { Finding } from '../../audit/reconcile/compare.ts';
import { OtherChain, type Progress, type Reconciliation, reconcile } from '../../audit/reconcile/reconcile.ts';
import { ReconcileState, StateUnusable } from '../../audit/reconcile/state.ts';
import { loadLogIdentity } from '../../commands/log-identity/log-identity.ts';
import { type Config, readConfig } from '../../config.ts';
import { parseUrl } from '../../runtime/parse-url.ts';
import { CallBudget, CallBudgetSpent } from '../../solana/call-budget.ts';
import { ChainUnavailable } from '../../solana/chain.ts';
import { RpcHistory } from '../../solana/rpc-history.ts';
import type { EventLog } from '../../storage/event-log.ts';
import { type AddCommand, type CliContext, CliError, EXIT, FoundWrong, note, print, printJson } from '../command.ts';
import { openServiceLog, withStorage } from '../service-storage.ts';
import { findingJson, findingLines, remaining, summaryJson, summaryLines } from './reconcile-lines.ts';
import { numbered } from './replay-columns.ts';

interface ReconcileOptions {
  readonly rpcUrl?: readonly string[];
  readonly rpcPerSecond?: number;
  readonly maxCalls?: number;
  readonly state?: string;
  readonly json?: boolean;
}

/** Few enough for every provider's free plan, and for an endpoint that the service uses too. */
const CALLS_PER_SECOND = 10;

const whole =
  (name: string, most: number) =>
  (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= 1 && value <= most) return value;
    throw new CliError(`Invalid ${name}: ${JSON.stringify(text)}`, `Give a whole number from 1 to ${most}.`);
  };

function endpoint(text: string, before: readonly string[] = []): readonly string[] {
  const protocol = parseUrl(text)?.protocol;
  if (protocol !== 'http:' && protocol !== 'https:')
    throw new CliError('Invalid --rpc-url.', 'Give an http or https address of a Solana RPC endpoint.');
  return [...before, text];
}

export const addAuditReconcileCommand: AddCommand = (audit: Command, context) => {
  audit
    .command('reconcile')
    .description('Compare every payment with the chain, and every transfer into our accounts with the log.')
    .option(
      '--rpc-url <address>',
      'endpoint to ask, may be repeated; default: from the settings of the service',
      endpoint,
    )
    .option(
      '--rpc-per-second <number>',
      `most calls per second (default: ${CALLS_PER_SECOND}; no limit on the local chain)`,
      whole('--rpc-per-second', 10_000),
    )
    .option(
      '--max-calls <number>',
      'stop after this many calls; --state lets the next run continue',
      whole('--max-calls', 1e9),
    )
    .option('--state <file>', 'keep what was read in this file, so that a later run continues where this one ended')
    .option('--json', 'one JSON object per finding, and a summary; amounts in base units and in USDC')
    .addHelpText(
      'after',
      `
Works with or without a running service. Needs about one call per transfer and two per thousand listed ones. What the
endpoint no longer keeps is listed as not_kept_by_endpoint, and is no difference.
Exit code 1: log and chain differ. Exit code 3: the comparison is not complete.

Examples:
  $ docket audit reconcile
  $ docket audit reconcile --rpc-url https://archive.example --rpc-per-second 5 --state reconcile.db
  $ docket audit reconcile --state reconcile.db --max-calls 50000 --json`,
    )
    .action((options: ReconcileOptions) =>
      withStorage(openServiceLog, context, ({ log }) => run(log, options, context)),
    );
};

async function run(log: EventLog, options: ReconcileOptions, context: CliContext): Promise<void> {
  const state = openState(options.state ?? null);
  try {
    const config = readConfig(context.environment);
    const chain = await openEndpoints(log, config, options, context);
    try {
      await compareWith(chain.urls, { log, state, config, options, context });
    } finally {
      await chain.close();
    }
  } finally {
    state.close();
  }
}

interface Setting {
  readonly log: EventLog;
  readonly state: ReconcileState;
  readonly config: Config;
  readonly options: ReconcileOptions;
  readonly context: CliContext;
}

async function compareWith(urls: readonly string[], { log, state, config, options, context }: Setting): Promise<void> {
  const isLocal = config.solana.network === 'local';
  const budget = new CallBudget({
    perSecond: options.rpcPerSecond ?? (isLocal ? null : CALLS_PER_SECOND),
    inAll: options.maxCalls ?? null,
  });
  const history = new RpcHistory({ urls, budget });
  const progress = showProgress(context);
  const report = (finding: Finding): void => {
    progress.clear();
    if (options.json) printJson(context, findingJson(finding));
    else for (const line of findingLines(finding)) print(context, line);
  };
  try {
    const result = await reconcile({ log, history, state, report, progress });
    progress.clear();
    if (options.json) printJson(context, summaryJson(result, budget.calls));
    else for (const line of summaryLines(result, budget.calls)) print(context, line);
    conclude(result, options);
  } catch (error) {
    progress.clear();
    throw explained(error, options);
  } finally {
    history.close();
  }
}

function conclude({ differences, complete, left }: Reconciliation, { state }: ReconcileOptions): void {
  const rest = complete ? '' : ` The comparison is not complete: ${remaining(left)}.`;
  const again = state === undefined ? 'Give --state FILE, so that a later run continues.' : continues(state);
  if (differences > 0)
    throw new FoundWrong(
      `${numbered(differences, 'difference')} between log and chain.${rest}`,
      `docs/auditing.md, "Compare with the chain", says what each means.${complete ? '' : ` ${again}`}`,
    );
  if (!complete) throw new CliError(`The budget of calls is spent.${rest}`, again, EXIT.unavailable);
}

const continues = (state: string): string => `Run it again with --state ${state} to continue.`;

function explained(error: unknown, { state }: ReconcileOptions): unknown {
  if (error instanceof ChainUnavailable || error instanceof CallBudgetSpent) {
    const again =
      state === undefined ? 'Give --state FILE, so that the next run need not start again.' : continues(state);
    return new CliError(
      `The comparison stopped: ${error.message}.`,
      `Check the endpoint, ask it less often (--rpc-per-second), or give another one with --rpc-url. ${again}`,
      EXIT.unavailable,
      { code: error.code },
    );
  }
  if (error instanceof OtherChain)
    return new CliError(
      `Wrong chain: ${error.message}.`,
      'Give an endpoint of that chain with --rpc-url.',
      EXIT.usage,
      {
        code: error.code,
      },
    );
  if (error instanceof StateUnusable && state !== undefined) {
    if (!error.isChanged) return stateError(error.message, state);
    return new FoundWrong(
      `--state ${state} cannot be used: ${error.message}.`,
      'Run docket audit verify. Another --state file compares what the log holds now.',
    );
  }
  // A run without the file shows whether the fault is in it or in this program.
  if (
    state !== undefined &&
    (error instanceof TypeError || error instanceof SyntaxError || error instanceof RangeError)
  )
    return stateError('it is damaged or was edited', state);
  const { code, message } = error as { code?: unknown; message?: unknown };
  // The log reports failures of its own, so this one is of the state.
  if (typeof code === 'string' && code.startsWith('SQLITE_'))
    return stateError(`${message}`, state ?? '(a temporary file)');
  return error;
}

const stateError = (problem: string, path: string): CliError =>
  new CliError(`--state ${path} cannot be used: ${problem}.`, 'Give another file; a new one is created.', EXIT.usage, {
    code: 'reconcile_state_unusable',
  });

function openState(path: string | null): ReconcileState {
  try {
    return ReconcileState.open(path);
  } catch (error) {
    throw error instanceof StateUnusable && path !== null ? stateError(error.message, path) : error;
  }
}

export interface Endpoints {
  readonly urls: readonly string[];
  close(): Promise<void>;
}

const remote = (urls: readonly string[]): Endpoints => ({ urls, close: async () => {} });

/** The given endpoints, the configured ones, or the local chain: the one that the service runs, else a chain of our own. */
export async function openEndpoints(
  log: EventLog,
  { solana, dataDirectory }: Config,
  { rpcUrl }: Pick<ReconcileOptions, 'rpcUrl'>,
  context: CliContext,
): Promise<Endpoints> {
  if (rpcUrl) return remote(rpcUrl);
  if (solana.rpcUrls.length) return remote(solana.rpcUrls);
  const running = `http://127.0.0.1:${solana.localPort}`;
  const expected = (await loadLogIdentity(log))?.genesisHash ?? null;
  const served = await genesisAt(running);
  if (served !== null && (expected === null || served === expected)) return remote([running]);
  const { localChainDirectory, startLocalChain } = await import('../../solana/local/start-local-chain.ts');
  const directory = localChainDirectory(dataDirectory);
  if (!existsSync(directory)) {
    throw new CliError(
      `The local chain does not answer at ${running}, and there is none in ${dataDirectory}.`,
      'Give the endpoint of the chain with --rpc-url.',
      EXIT.unavailable,
    );
  }
  const silent = { info() {}, warn() {}, error() {} };
  try {
    const chain = await startLocalChain({ directory, port: 0, logger: silent, environment: context.environment });
    return { urls: [chain.url], close: () => chain.close() };
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'chain_in_use') throw error;
    throw new CliError(
      `Another process runs the local chain of ${dataDirectory}, and it does not answer at ${running}.`,
      'Give its address with --rpc-url; docket serve prints it at its start.',
      EXIT.unavailable,
    );
  }
}

async function genesisAt(url: string): Promise<string | null> {
  const history = new RpcHistory({
    urls: [url],
    budget: new CallBudget({ perSecond: null, inAll: 1 }),
    timeoutMs: 2_000,
  });
  try {
    return await history.genesisHash();
  } catch (error) {
    if (error instanceof ChainUnavailable || error instanceof CallBudgetSpent) return null;
    throw error;
  } finally {
    history.close();
  }
}

const REDRAW_MS = 200;
/** Elsewhere than on a terminal there is a line for each so many. */
const EVERY = { listed: 10_000, fetched: 1_000 };

/** One line that is redrawn on a terminal; elsewhere a line now and then. */
function showProgress(context: CliContext): Progress & { clear(): void } {
  let [line, drawnAt, listed, fetched] = ['', 0, 0, 0];
  const noted = { listed: 0, fetched: 0 };
  const show = (text: string, what?: keyof typeof noted, count = 0): void => {
    line = text;
    const now = performance.now();
    if (context.interactive && now - drawnAt >= REDRAW_MS) {
      drawnAt = now;
      context.stderr.write(`\r\u001B[K${line}`);
    }
    if (!context.interactive && what && count - noted[what] >= EVERY[what]) {
      noted[what] = count;
      note(context, line);
    }
  };
  return {
    log: (events) => show(`log: ${events} events`),
    listed(signatures) {
      listed += signatures;
      show(`chain: ${listed} transactions listed`, 'listed', listed);
    },
    fetched(transactions, left) {
      fetched += transactions;
      show(`chain: ${fetched} transactions fetched, ${left} left`, 'fetched', fetched);
    },
    clear() {
      if (context.interactive && line !== '') context.stderr.write('\r\u001B[K');
      line = '';
    },
  };
}
