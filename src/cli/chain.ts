import type { Command } from 'commander';
import { readConfig } from '../config.ts';
import type { ChainLog } from '../solana/local/chain-log.ts';
import { type AddCommand, type CliContext, CliError, EXIT, note, print, printJson } from './command.ts';
import { untilStopped } from './until-stopped.ts';

interface ChainOptions {
  readonly port?: number;
  readonly dataDir?: string;
  readonly slotMs?: number;
  readonly lighthouseStandIn?: boolean;
  readonly json?: boolean;
}

/** A whole number within bounds, for an option. */
const whole =
  (name: string, least: number, most: number) =>
  (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new CliError(`Invalid ${name}: ${JSON.stringify(text)}`, `Give a whole number from ${least} to ${most}.`);
  };

export const addChainCommand: AddCommand = (program: Command, context) => {
  program
    .command('chain')
    .description(
      'Run only the local chain, a Solana RPC endpoint with worthless SOL and USDC, until SIGTERM or Ctrl-C.',
    )
    .option(
      '--port <number>',
      'port on loopback; 0 for any free one (SOLANA_LOCAL_PORT, 8899)',
      whole('--port', 0, 65_535),
    )
    .option('--data-dir <folder>', 'folder of its state, laid out as the service does (DATA_DIR, ./data)')
    .option(
      '--slot-ms <milliseconds>',
      'how long a slot takes (SOLANA_LOCAL_SLOT_MS, 400)',
      whole('--slot-ms', 10, 10_000),
    )
    .option(
      '--lighthouse-stand-in',
      'deploy a program that does nothing at Lighthouse’s address, so that the guards that wallets add run',
    )
    .option('--json', 'one JSON object with the address, once the chain answers')
    .addHelpText(
      'after',
      `
The state survives the end of the process, even a kill. Point the service to this chain with SOLANA_RPC_URL.

Examples:
  $ docket chain
  $ docket chain --port 0 --data-dir /tmp/chain --slot-ms 50 --json
  $ SOLANA_RPC_URL=http://127.0.0.1:8899 docket serve`,
    )
    .action((options: ChainOptions) => run(options, context));
};

async function run(options: ChainOptions, context: CliContext): Promise<void> {
  const stopped = untilStopped();
  const { localChainDirectory, startLocalChain } = await import('../solana/local/start-local-chain.ts');
  const { environment } = context;
  if (environment.NODE_ENV === 'production') {
    throw new CliError(
      'The local chain does not run with NODE_ENV=production.',
      'Its tokens are worthless. Set SOLANA_RPC_URL to an endpoint of devnet or mainnet.',
    );
  }
  const config = readConfig(environment);
  let broken: (error: unknown) => void = () => {};
  const failure = new Promise<never>((_, reject) => {
    broken = reject;
  });
  failure.catch(() => {});
  const chain = await startLocalChain({
    directory: localChainDirectory(options.dataDir ?? config.dataDirectory),
    port: options.port ?? config.solana.localPort,
    slotMs: options.slotMs ?? config.solana.localSlotMs,
    lighthouseStandIn: options.lighthouseStandIn ?? false,
    logger: logTo(context),
    environment,
    onFailure: broken,
  }).catch(explainStart);
  if (options.json) printJson(context, { url: chain.url, port: chain.port, pid: process.pid });
  else print(context, `Local chain at ${chain.url}`);
  const signal = await Promise.race([stopped, failure]);
  note(context, `${signal}: stopping the local chain`);
  await chain.close();
}

/** Writes only warnings and errors, to stderr: the command itself reports the rest. */
function logTo(context: CliContext): ChainLog {
  const say = (details: object, message: string) => {
    const { err } = details as { err?: unknown };
    note(context, err instanceof Error ? `${message}: ${err.message}` : message);
  };
  return { info: () => {}, warn: say, error: say };
}

function explainStart(error: unknown): never {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') {
    throw new CliError(
      'The port is in use.',
      'A chain may already be running. Give another --port, or 0 for any free one.',
      EXIT.unavailable,
    );
  }
  if (code === 'chain_in_use') {
    throw new CliError(message, 'Stop that process, or give another --data-dir.', EXIT.unavailable);
  }
  throw error;
}
