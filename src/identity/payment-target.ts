/** The chain and receiver of the configuration, which a log is bound to. */

import type { PaymentTarget } from '../commands/log-identity/log-identity.ts';
import { ConfigurationError } from '../config/configuration-error.ts';
import type { SolanaNetwork } from '../solana/addresses.ts';
import { GENESIS_HASHES, NETWORKS } from '../solana/addresses.ts';
import type { Chain } from '../solana/chain.ts';

export interface TargetParts {
  readonly network: SolanaNetwork;
  readonly receiver: string;
  readonly chain: Pick<Chain, 'genesisHashes'>;
}

/**
 * Public networks have a known genesis hash, so no endpoint is asked: that each one serves the configured network is
 * checked elsewhere. A local chain must be asked.
 * @throws ChainUnavailable if the local chain does not answer
 * @throws ConfigurationError if its endpoints serve different chains
 */
export async function paymentTarget({ network, receiver, chain }: TargetParts): Promise<PaymentTarget> {
  const { caip2, usdcMint } = NETWORKS[network];
  const genesisHash = network === 'local' ? await localGenesis(chain) : GENESIS_HASHES[network];
  return { network: caip2, genesisHash, mint: usdcMint, receiver };
}

async function localGenesis(chain: Pick<Chain, 'genesisHashes'>): Promise<string> {
  const hashes = await chain.genesisHashes();
  const [first, ...others] = [...new Set(hashes.filter((hash) => hash !== null))];
  if (first !== undefined && others.length === 0) return first;
  const problem = `the endpoints serve different chains, with genesis hashes ${[first, ...others].join(', ')}`;
  throw new ConfigurationError([{ variable: 'SOLANA_RPC_URL', problem }]);
}
