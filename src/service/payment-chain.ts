/** The payment side of the chain: the connection, our two keys, and the account that receives payments. */
import { join } from 'node:path';
import type { Logger } from 'pino';
import { ConfigurationError } from '../config/configuration-error.ts';
import type { Config } from '../config.ts';
import type { Finding } from '../http/admin/health.ts';
import type { Undo } from '../runtime/undo.ts';
import { associatedTokenAddress, NETWORKS } from '../solana/addresses.ts';
import { createBlockhashWatch } from '../solana/blockhash-watch.ts';
import type { Chain } from '../solana/chain.ts';
import { createFaucetClient } from '../solana/faucet-client.ts';
import { loadOrCreateKey, parseKey, type SolanaKey } from '../solana/keys.ts';
import { describeWrong, endpointNetworks, type WrongEndpoint } from '../solana/network-check.ts';
import { checkReceiver, prepareLocalReceiver, type Receiver } from '../solana/prepare-receiver.ts';
import { createRpcChain } from '../solana/rpc-chain.ts';
import type { RpcCalled } from '../solana/rpc-endpoints.ts';
import { StorageFailure } from '../storage/storage-failure.ts';

/**
 * Joins the chain. On the local chain it also creates the accounts that payments need; on a remote chain it only logs
 * what is missing.
 */
export async function openPaymentChain(config: Config, logger: Logger, undo: Undo, called?: RpcCalled) {
  const { chain, rpcUrl, localFailure } = await joinChain(config, logger, undo, called);
  await refuseOtherNetworks(chain, config, logger);
  const blockhashes = createBlockhashWatch({ chain });
  undo.add('blockhashes', () => blockhashes.close());
  const { feePayer, payTo } = ourKeys(config);
  const network = NETWORKS[config.solana.network];
  const receiver: Receiver = { payTo, feePayer: feePayer.address, mint: network.usdcMint };
  if (rpcUrl) await prepareOnLocalChain(rpcUrl, chain, receiver, undo);
  else await reportReceiver(chain, receiver, logger);
  return {
    chain,
    /** Why the local chain has stopped for good; null while it runs, and on every other chain. */
    localFailure,
    /** Where callers reach the chain; null if it is remote, since its URL may contain a key. */
    rpcUrl,
    blockhashes,
    feePayer,
    network,
    receiver,
    /** The token account that receives payments. */
    destination: associatedTokenAddress(payTo, network.usdcMint),
  };
}

export type PaymentChain = Awaited<ReturnType<typeof openPaymentChain>>;

/**
 * Only payments on the configured network are accepted. If no endpoint answers, the start continues and `/readyz` checks.
 * @throws ConfigurationError if an endpoint serves another network
 */
async function refuseOtherNetworks(chain: Chain, { solana: { network } }: Config, logger: Logger): Promise<void> {
  let wrong: readonly WrongEndpoint[];
  try {
    ({ wrong } = await endpointNetworks(chain, network));
  } catch (error) {
    logger.error({ err: error }, 'the network of the chain endpoints cannot be checked yet');
    return;
  }
  if (wrong.length === 0) return;
  throw new ConfigurationError([
    {
      variable: 'SOLANA_RPC_URL',
      problem: `${describeWrong(wrong, network)}; make SOLANA_NETWORK and SOLANA_RPC_URL agree`,
    },
  ]);
}

/** Joins the configured chain, or starts the local one if none is configured. */
async function joinChain(config: Config, logger: Logger, undo: Undo, called: RpcCalled | undefined) {
  const { network, rpcUrls, localPort, localSlotMs } = config.solana;
  let urls = rpcUrls;
  let failure: Finding | null = null;
  if (network === 'local' && urls.length === 0) {
    // Loaded only here, because a service on a real chain needs no virtual machine.
    const { startLocalChainWorker } = await import('../solana/local/start-local-chain-worker.ts');
    const { localChainDirectory } = await import('../solana/local/start-local-chain.ts');
    const localChain = await startLocalChainWorker({
      directory: localChainDirectory(config.dataDirectory),
      port: localPort,
      slotMs: localSlotMs,
      logger,
      environment: process.env,
      onFailure(error) {
        failure = localChainFinding(error);
        const { code, hint } = failure;
        logger.fatal({ err: error, code, hint, alarm: code }, 'the local chain failed; restart the service');
      },
    });
    undo.add('local chain', () => localChain.close());
    urls = [localChain.url];
  }
  const chain = createRpcChain({ urls, logger, callsPerSecond: config.solana.callsPerSecond, called });
  undo.add('chain', () => chain.close());
  return { chain, rpcUrl: network === 'local' ? (urls[0] ?? null) : null, localFailure: () => failure };
}

/** The error may come from another thread, which passes on only its message and code. */
function localChainFinding(error: unknown): Finding {
  const reason = error instanceof Error ? error.message : String(error);
  const replaced = error instanceof Error && 'code' in error && error.code === 'storage_replaced';
  if (replaced) {
    const { code, hint } = new StorageFailure('storage_replaced', reason);
    return { status: 'down', reason, code, hint };
  }
  const hint =
    'Check that the folder `chain` in DATA_DIR is writable and the disk is not full, then restart the service.';
  return { status: 'down', reason, code: 'local_chain_failed', hint };
}

/** The configured keys, or those in the data folder, which are generated on first use. */
function ourKeys(config: Config): { readonly feePayer: SolanaKey; readonly payTo: string } {
  const { feePayerKey, payTo } = config.solana;
  const keyIn = (name: string) => loadOrCreateKey(join(config.dataDirectory, 'keys', name));
  return {
    feePayer: feePayerKey === null ? keyIn('fee-payer.json') : parseKey(feePayerKey),
    payTo: payTo ?? keyIn('receiver.json').address,
  };
}

async function prepareOnLocalChain(rpcUrl: string, chain: Chain, receiver: Receiver, undo: Undo): Promise<void> {
  const faucet = createFaucetClient(rpcUrl);
  undo.add('faucet', () => faucet.close());
  await prepareLocalReceiver(chain, faucet, receiver);
}

/** On a remote chain, logs what is missing now; `/readyz` always reports it. */
async function reportReceiver(chain: Chain, receiver: Receiver, logger: Logger): Promise<void> {
  try {
    const { missing } = await checkReceiver(chain, receiver);
    if (missing.length) logger.error({ missing, receiver }, 'payments cannot be accepted yet');
  } catch (error) {
    logger.error({ err: error }, 'the chain is not reachable yet');
  }
}
