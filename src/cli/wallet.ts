import type { Command } from 'commander';
import { readSecretVariable } from '../config/secrets.ts';
import { parseUrl } from '../runtime/parse-url.ts';
import type { SolanaNetwork } from '../solana/addresses.ts';
import { associatedTokenAddress, isAddress, NETWORKS, SOL_DECIMALS, USDC_DECIMALS } from '../solana/addresses.ts';
import { type Chain, ChainUnavailable } from '../solana/chain.ts';
import { AmountUnreadable, formatAmount, parseAmount, solText } from '../solana/decimal-amount.ts';
import { createFaucetClient, NoFaucet } from '../solana/faucet-client.ts';
import { SolanaKey, saveKey } from '../solana/keys.ts';
import { createRpcChain } from '../solana/rpc-chain.ts';
import { EndpointFailure } from '../solana/rpc-connections.ts';
import { RpcRefusal } from '../solana/rpc-endpoint.ts';
import { type AddCommand, type CliContext, CliError, EXIT, print, printJson } from './command.ts';

const CONFIRMED_WITHIN_MS = 30_000;
const POLL_MS = 20;

interface NewOptions {
  readonly out?: string;
  readonly json?: boolean;
}

interface FundOptions {
  readonly usdc?: string;
  readonly sol?: string;
  readonly json?: boolean;
}

export const addWalletCommand: AddCommand = (program: Command, context) => {
  const wallet = program
    .command('wallet')
    .description('Your own test wallet: create it, fund it on the local chain, show its balance.')
    .addHelpText(
      'after',
      `
To see the wallets that buy from the service, see docket wallets.
The chain is at SOLANA_RPC_URL if that is set, otherwise on loopback at SOLANA_LOCAL_PORT (8899).

Examples:
  $ docket wallet new --out wallet.json
  $ docket wallet fund 7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU --usdc 10 --sol 0.05
  $ docket wallet balance 7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU --json`,
    );
  wallet
    .command('new')
    .description('Generate a key pair.')
    .option(
      '--out <file>',
      'write the secret key to this file, in the format of solana-keygen; never overwrites a file',
    )
    .option('--json', 'one JSON object')
    .addHelpText('after', '\nExamples:\n  $ docket wallet new --out wallet.json\n  $ docket wallet new --json')
    .action((options: NewOptions) => makeWallet(options, context));
  wallet
    .command('fund')
    .description('Give an address test money; works only on the local chain.')
    .argument('<address>')
    .option('--usdc <amount>', 'USDC, for example 10 or 0.99')
    .option('--sol <amount>', 'SOL, for example 1 or 0.05')
    .option('--json', 'one JSON object')
    .addHelpText(
      'after',
      '\nReturns once the money has arrived.\n\nExamples:\n  $ docket wallet fund ADDRESS --usdc 10\n  $ docket wallet fund ADDRESS --usdc 20 --sol 0.05 --json',
    )
    .action((address: string, options: FundOptions) => fundWallet(address, options, context));
  wallet
    .command('balance')
    .description('Show the USDC and SOL of an address.')
    .argument('<address>')
    .option('--json', 'one JSON object')
    .addHelpText('after', '\nExamples:\n  $ docket wallet balance ADDRESS\n  $ docket wallet balance ADDRESS --json')
    .action((address: string, options: { json?: boolean }) => showBalance(address, options, context));
};

function makeWallet({ out, json }: NewOptions, context: CliContext): void {
  const key = SolanaKey.generate();
  if (out !== undefined) {
    try {
      saveKey(out, key);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === 'EEXIST')
        throw new CliError(`${out} already exists.`, 'Give another file: a key is never overwritten.');
      throw new CliError(`${out} cannot be written: ${message}`, 'Give a file in a folder that you may write to.');
    }
    if (json) printJson(context, { address: key.address, file: out });
    else print(context, `${key.address}\nThe secret key is in ${out}: anyone who reads it controls the wallet.`);
    return;
  }
  const secret = [...key.secretKey()];
  if (json) printJson(context, { address: key.address, secret_key: secret });
  else print(context, `${key.address}\n${JSON.stringify(secret)}`);
}

async function fundWallet(address: string, options: FundOptions, context: CliContext): Promise<void> {
  assertAddress(address);
  const usdc = amountOf('--usdc', options.usdc, USDC_DECIMALS);
  const sol = amountOf('--sol', options.sol, SOL_DECIMALS);
  if (usdc === 0n && sol === 0n)
    throw new CliError('No amount given.', 'Give an amount: --usdc 10, --sol 0.05, or both.');
  const network = networkOf(context.environment);
  if (network !== 'local') {
    throw new CliError(
      `Nothing was given: SOLANA_NETWORK is ${network}.`,
      'Only the local chain gives test money; elsewhere, send money from a wallet.',
    );
  }
  const url = rpcUrl(context.environment);
  const faucet = createFaucetClient(url);
  const chain = openChain(url);
  try {
    const transactions = [
      // USDC first: only the local chain gives it, so no other chain is asked for SOL.
      ...(usdc > 0n ? [await faucet.giveUsdc(address, usdc)] : []),
      ...(sol > 0n ? [await faucet.giveSol(address, sol)] : []),
    ];
    for (const transaction of transactions) await confirmed(chain, transaction);
    const held = await balances(chain, address, NETWORKS.local.usdcMint);
    if (options.json) printJson(context, { ...held, transactions });
    else print(context, `${address} now holds ${held.usdc} USDC and ${held.sol} SOL.`);
  } catch (error) {
    throw explained(error);
  } finally {
    faucet.close();
    chain.close();
  }
}

async function showBalance(address: string, options: { json?: boolean }, context: CliContext): Promise<void> {
  assertAddress(address);
  const network = networkOf(context.environment);
  if (network !== 'local' && !readSecretVariable(context.environment, 'SOLANA_RPC_URL')) {
    // Otherwise the local chain would answer, and its balance would pass for that of the cluster.
    throw new CliError(
      `No RPC endpoint is configured for ${network}.`,
      `Set SOLANA_RPC_URL to an endpoint of ${network}.`,
    );
  }
  const chain = openChain(rpcUrl(context.environment));
  try {
    const held = await balances(chain, address, NETWORKS[network].usdcMint);
    if (options.json) printJson(context, held);
    else print(context, `${held.usdc} USDC\n${held.sol} SOL`);
  } catch (error) {
    throw explained(error);
  } finally {
    chain.close();
  }
}

interface Held {
  readonly address: string;
  readonly token_account: string;
  /** Exact decimal amounts. */
  readonly usdc: string;
  readonly sol: string;
}

async function balances(chain: Chain, address: string, mint: string): Promise<Held> {
  const tokenAccount = associatedTokenAddress(address, mint);
  const [usdc, sol] = await Promise.all([chain.tokenBalance(tokenAccount), chain.balance(address)]);
  return {
    address,
    token_account: tokenAccount,
    usdc: formatAmount(usdc?.amount ?? 0n, USDC_DECIMALS),
    sol: solText(sol),
  };
}

async function confirmed(chain: Chain, transaction: string): Promise<void> {
  const began = performance.now();
  for (;;) {
    const status = await chain.signatureStatus(transaction);
    if (status?.error) {
      throw new CliError(`Transaction ${transaction} failed: ${status.error}`, 'Nothing was given.', EXIT.found);
    }
    if (status && status.commitment !== 'processed') return;
    if (performance.now() - began > CONFIRMED_WITHIN_MS) {
      throw new CliError(
        `Transaction ${transaction} is not confirmed yet.`,
        'Check again with docket wallet balance.',
        EXIT.unavailable,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function assertAddress(text: string): void {
  if (!isAddress(text))
    throw new CliError(`${JSON.stringify(text)} is not a Solana address.`, 'Give 32 bytes in base58.');
}

function amountOf(option: string, text: string | undefined, decimals: number): bigint {
  if (text === undefined) return 0n;
  try {
    return parseAmount(text, decimals);
  } catch (error) {
    if (error instanceof AmountUnreadable)
      throw new CliError(`${option}: ${error.message}.`, `Give an amount, for example ${option} 0.99.`);
    throw error;
  }
}

function networkOf({ SOLANA_NETWORK }: NodeJS.ProcessEnv): SolanaNetwork {
  const network = SOLANA_NETWORK || 'local';
  if (network === 'local' || network === 'devnet' || network === 'mainnet') return network;
  throw new CliError(`SOLANA_NETWORK is ${JSON.stringify(network)}.`, 'Set it to local, devnet or mainnet.');
}

function rpcUrl(environment: NodeJS.ProcessEnv): string {
  const [first] = (readSecretVariable(environment, 'SOLANA_RPC_URL') || '').split(',');
  const url = first?.trim() || `http://127.0.0.1:${environment.SOLANA_LOCAL_PORT || '8899'}`;
  // The URL may contain a key, so the message does not repeat it.
  if (!/^https?:\/\//.test(url) || parseUrl(url) === null) {
    throw new CliError('SOLANA_RPC_URL or SOLANA_LOCAL_PORT is invalid.', 'Set an http or https URL, or a port.');
  }
  return url;
}

const openChain = (url: string) => createRpcChain({ urls: [url], logger: { info: () => {}, warn: () => {} } });

function explained(error: unknown): unknown {
  if (error instanceof NoFaucet) {
    return new CliError(
      `Nothing was given: ${error.message}.`,
      'Only the local chain gives test money; elsewhere, send money from a wallet.',
      EXIT.unavailable,
    );
  }
  if (error instanceof RpcRefusal) {
    return new CliError(
      `The chain rejected the request: ${error.message}`,
      'The faucet holds about 8 million SOL; request less.',
      EXIT.found,
    );
  }
  if (error instanceof ChainUnavailable || error instanceof EndpointFailure) {
    return new CliError(
      `The chain is unreachable: ${error.message}`,
      'Start it with docket serve or docket chain, or set SOLANA_RPC_URL or SOLANA_LOCAL_PORT.',
      EXIT.unavailable,
    );
  }
  return error;
}
