/** Whether every endpoint serves the network that payments are sold on: one of another would take money that is none. */
import { isGenesisOf, publicNetworkOf, type SolanaNetwork } from './addresses.ts';
import type { Chain } from './chain.ts';

/** An endpoint that serves another network than the one that is configured. */
export interface WrongEndpoint {
  /** 1 for the first of `SOLANA_RPC_URL`. */
  readonly endpoint: number;
  readonly endpoints: number;
  /** What it serves, e.g. `devnet`. */
  readonly serves: string;
}

export interface EndpointNetworks {
  readonly wrong: readonly WrongEndpoint[];
  /** How many did not answer: they serve nothing for now. */
  readonly unknown: number;
}

/** @throws ChainUnavailable if no endpoint answers */
export async function endpointNetworks(
  chain: Pick<Chain, 'genesisHashes'>,
  network: SolanaNetwork,
): Promise<EndpointNetworks> {
  const hashes = await chain.genesisHashes();
  const wrong = hashes.flatMap((hash, index) =>
    hash === null || isGenesisOf(network, hash)
      ? []
      : [{ endpoint: index + 1, endpoints: hashes.length, serves: publicNetworkOf(hash) ?? 'a private chain' }],
  );
  return { wrong, unknown: hashes.filter((hash) => hash === null).length };
}

/** In words, without the URL, which may hold a key. */
export const describeWrong = (wrong: readonly WrongEndpoint[], network: SolanaNetwork): string =>
  wrong
    .map(
      ({ endpoint, endpoints, serves }) =>
        `endpoint ${endpoint} of ${endpoints} serves ${serves}, but SOLANA_NETWORK is ${network}`,
    )
    .join('; ');
