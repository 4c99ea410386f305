/** The addresses and network names that the service uses (docs/design/payments.md#dialects). */
import { createHash } from 'node:crypto';
import bs58 from 'bs58';
import { deriveProgramAddress } from './derived-address.ts';

export const SYSTEM_PROGRAM = '11111111111111111111111111111111';
export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
export const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
export const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
export const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';
export const MEMO_V1_PROGRAM = 'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo';
export const COMPUTE_BUDGET_PROGRAM = 'ComputeBudget111111111111111111111111111111';
export const LIGHTHOUSE_PROGRAM = 'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95';

export const USDC_DECIMALS = 6;
export const SOL_DECIMALS = 9;

/** The name of one network in each payment dialect. */
export interface NetworkNames {
  /** x402 v2: CAIP-2. */
  readonly caip2: string;
  /** x402 v1. */
  readonly v1: string;
  /** The self-paid dialect. */
  readonly selfPaid: string;
  readonly usdcMint: string;
}

const DEVNET: NetworkNames = {
  caip2: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  v1: 'solana-devnet',
  selfPaid: 'solana-devnet',
  usdcMint: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
};

/** The local chain presents itself as devnet, so that clients need only its address. */
/** `local` is the service's own chain, for development and tests. */
export type SolanaNetwork = 'local' | 'devnet' | 'mainnet';

export const NETWORKS: Readonly<Record<SolanaNetwork, NetworkNames>> = {
  mainnet: {
    caip2: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
    v1: 'solana',
    selfPaid: 'solana-mainnet',
    usdcMint: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  },
  devnet: DEVNET,
  local: DEVNET,
};

/** Genesis hashes of the public networks. They show whether an endpoint serves the configured network. */
export const GENESIS_HASHES: Readonly<Record<Exclude<SolanaNetwork, 'local'>, string>> = {
  mainnet: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
  devnet: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG',
};

/** Not supported here, but named in the error when an endpoint serves it. */
const TESTNET_GENESIS_HASH = '4uhcVJyU9pJkvQyS88uRDiswHXSGkY3zQawwpjk2NsNY';

/** The name of the chain with this genesis hash; null if it is not public. */
export function publicNetworkOf(genesisHash: string): string | null {
  if (genesisHash === TESTNET_GENESIS_HASH) return 'testnet';
  return Object.entries(GENESIS_HASHES).find(([, hash]) => hash === genesisHash)?.[0] ?? null;
}

/** Whether a chain with this genesis hash can be the network. Any chain that is not public can be a local one. */
export const isGenesisOf = (network: SolanaNetwork, genesisHash: string): boolean =>
  network === 'local' ? publicNetworkOf(genesisHash) === null : GENESIS_HASHES[network] === genesisHash;

const GENESIS_LENGTH = 44;

/**
 * The genesis hash of a local chain, from its own 32 random bytes. It begins with the reference of the chain's CAIP-2
 * identifier, as everywhere on Solana, and its end differs from chain to chain.
 * @param seed 32 bytes
 */
export function localGenesisHash(seed: Uint8Array): string {
  const reference = NETWORKS.local.caip2.slice('solana:'.length);
  const own = bs58.encode(createHash('sha256').update('genesis').update(seed).digest());
  return reference + own.slice(-(GENESIS_LENGTH - reference.length));
}

/** The 32 bytes of an address in base58, or null for any other text. */
export function addressBytes(text: string): Uint8Array | null {
  if (text.length < 32 || text.length > 44) return null;
  const bytes = bs58.decodeUnsafe(text);
  return bytes?.length === 32 ? bytes : null;
}

export const isAddress = (text: string): boolean => addressBytes(text) !== null;

/** What names a transaction, in words. */
export const SIGNATURE = 'a signature of a transaction: 64 bytes in base58';

/** Whether a text is the signature of a transaction: 64 bytes in base58. */
export const isSignature = (text: string): boolean =>
  text.length >= 64 && text.length <= 88 && bs58.decodeUnsafe(text)?.length === 64;

const MEMOISED = 10_000;
const derived = new Map<string, string>();

/**
 * The associated token account of an owner for a mint of the classic Token program, in base58. Deriving one takes about
 * a millisecond, so recent ones are cached.
 *
 * @throws RangeError if owner or mint is not an address
 */
export function associatedTokenAddress(owner: string, mint: string, tokenProgram: string = TOKEN_PROGRAM): string {
  const key = `${owner} ${mint} ${tokenProgram}`;
  const known = derived.get(key);
  if (known !== undefined) return known;
  const [ownerBytes, mintBytes, tokenBytes, program] = [owner, mint, tokenProgram, ASSOCIATED_TOKEN_PROGRAM].map(
    (text) => {
      const bytes = addressBytes(text);
      if (!bytes) throw new RangeError(`not a Solana address: ${text}`);
      return bytes;
    },
  ) as [Uint8Array, Uint8Array, Uint8Array, Uint8Array];
  const address = bs58.encode(deriveProgramAddress([ownerBytes, tokenBytes, mintBytes], program));
  if (derived.size >= MEMOISED) derived.clear();
  derived.set(key, address);
  return address;
}
