/** Chooses the wallet that pays for `docket query`: the one given, or on the local chain its own with test money. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Config } from '../../config.ts';
import { associatedTokenAddress, NETWORKS } from '../../solana/addresses.ts';
import { KeyUnreadable, loadKey, loadOrCreateKey, type SolanaKey } from '../../solana/keys.ts';
import { type CliContext, CliError, EXIT, note } from '../command.ts';

/** Given to the command's own test wallet when it cannot pay: enough for twenty queries, or for a more expensive call. */
const TEST_USDC_BASE_UNITS = 20_000_000n;
const TEST_LAMPORTS = 100_000_000;

/**
 * The wallet that pays: the one given, or on the local chain the command's own.
 * @param most the most that the call may cost, in base units
 */
export async function walletOf(
  { keypair, most }: { readonly keypair?: string | undefined; readonly most: bigint },
  config: Config,
  rpcUrl: string,
  context: CliContext,
): Promise<SolanaKey> {
  if (keypair !== undefined) {
    if (!existsSync(keypair)) {
      throw new CliError(`There is no key file ${keypair}.`, `Make one: docket wallet new --out ${keypair}`);
    }
    try {
      return loadKey(keypair);
    } catch (error) {
      if (!(error instanceof KeyUnreadable)) throw error;
      throw new CliError(error.message, 'Give a key file written by solana-keygen or `docket wallet new`.');
    }
  }
  if (config.solana.network !== 'local') {
    throw new CliError(
      `A wallet is required on ${config.solana.network}.`,
      'Give its key file with --keypair FILE, in the format of solana-keygen.',
    );
  }
  const key = loadOrCreateKey(join(config.dataDirectory, 'query-wallet.json'));
  await fundTestWallet(key.address, most, rpcUrl, context);
  return key;
}

/** Gets test money from the local chain's faucet if the wallet holds less than the call may cost. */
async function fundTestWallet(address: string, most: bigint, rpcUrl: string, context: CliContext): Promise<void> {
  const account = associatedTokenAddress(address, NETWORKS.local.usdcMint);
  const [balance, lamports] = await Promise.all([
    rpc(rpcUrl, 'getTokenAccountBalance', [account]).catch(() => null),
    rpc(rpcUrl, 'getBalance', [address]),
  ]);
  const parsed = z.object({ value: z.object({ amount: z.string() }) }).safeParse(balance);
  const { value: sol } = z.object({ value: z.number() }).parse(lamports);
  const usdc = parsed.success ? BigInt(parsed.data.value.amount) : 0n;
  if (usdc < most) {
    const given = most > TEST_USDC_BASE_UNITS ? most : TEST_USDC_BASE_UNITS;
    note(context, `Giving the test wallet ${address} ${given / 1_000_000n} test USDC on the local chain`);
    await rpc(rpcUrl, 'requestTokenAirdrop', [address, String(given)]);
  }
  if (sol < 10_000) await rpc(rpcUrl, 'requestAirdrop', [address, TEST_LAMPORTS]);
}

const RpcAnswer = z.union([
  z.object({ result: z.unknown().refine((result) => result !== undefined), error: z.undefined().optional() }),
  z.object({ result: z.undefined().optional(), error: z.object({ message: z.string() }) }),
]);

async function rpc(rpcUrl: string, method: string, params: readonly unknown[]): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
  } catch {
    throw chainUnreachable(rpcUrl);
  }
  const answer = RpcAnswer.safeParse(await response.json().catch(() => null));
  if (!answer.success) {
    throw new CliError(`${rpcUrl} is not a Solana RPC endpoint.`, 'Set the endpoint with --rpc-url.', EXIT.unavailable);
  }
  const { result, error } = answer.data;
  if (error)
    throw new CliError(`The chain rejected ${method}: ${error.message}`, 'Check that this is the local chain.');
  return result;
}

export const chainUnreachable = (rpcUrl: string): CliError =>
  new CliError(
    `The chain at ${rpcUrl} is unreachable.`,
    'Start it with `docket serve` (or alone with `docket chain`), or set another endpoint with --rpc-url.',
    EXIT.unavailable,
  );
