/**
 * Checks that every endpoint serves the network of the payments. An endpoint of another network would accept worthless
 * money.
 */
import { isGenesisOf, publicNetworkOf, type SolanaNetwork } from './addresses.ts';
import type { Chain } from './chain.ts';

/** An endpoint that serves another network than the configured one. */
export interface WrongEndpoint {
  /** 1 for the first of `SOLANA_RPC_URL`. */
  readonly endpoint: number;
  readonly endpoints: number;
  /** What it serves, e.g. `devnet`. */
  readonly serves: string;
}

export interface EndpointNetworks {
  readonly wrong: readonly WrongEndpoint[];
  /** How many did not answer: they are unusable for now. */
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

/** As text, without the URL, which may contain a key. */
export const describeWrong = (wrong: readonly WrongEndpoint[], network: SolanaNetwork): string =>
  wrong
    .map(
      ({ endpoint, endpoints, serves }) =>
        `endpoint ${endpoint} of ${endpoints} serves ${serves}, but SOLANA_NETWORK is ${network}`,
    )
    .join('; ');
