/** Whether every endpoint serves the network that payments are sold on: one of another would take money that is none. */
import type { SolanaNetwork } from '../config.ts';
import { isGenesisOf, publicNetworkOf } from './addresses.ts';
import type { Chain } from './chain.ts';

/** An endpoint that serves another network than the one that is configured. */
export interface WrongEndpoint {
  /** 1 for the first of `SOLANA_RPC_URL`. */
  readonly endpoint: number;
  readonly endpoints: number;
  /** What it serves, e.g. `devnet`. */
  readonly serves: string;
}

/**
 * Endpoints that do not answer are passed over: they serve nothing at all.
 * @throws ChainUnavailable if none of them answers
 */
export async function wrongEndpoints(
  chain: Pick<Chain, 'genesisHashes'>,
  network: SolanaNetwork,
): Promise<readonly WrongEndpoint[]> {
  const hashes = await chain.genesisHashes();
  return hashes.flatMap((hash, index) =>
    hash === null || isGenesisOf(network, hash)
      ? []
      : [{ endpoint: index + 1, endpoints: hashes.length, serves: publicNetworkOf(hash) ?? 'a private chain' }],
  );
}

/** In words, without the URL, which may hold a key. */
export const describeWrong = (wrong: readonly WrongEndpoint[], network: SolanaNetwork): string =>
  wrong
    .map(
      ({ endpoint, endpoints, serves }) =>
        `endpoint ${endpoint} of ${endpoints} serves ${serves}, but SOLANA_NETWORK is ${network}`,
    )
    .join('; ');
