/** The chain as the service needs it: an answer to each question, from whichever configured endpoint gives one. */

/** How long a blockhash is good for, in blocks after its own: the cluster's rule. */
export const BLOCKHASH_LIFE_BLOCKS = 150;

export type Commitment = 'processed' | 'confirmed' | 'finalized';

/**
 * How far ahead of all that was seen an answer may be, in blocks: more than a cluster makes in an hour. One that is
 * further was given by an endpoint that errs, and believed it would have every later payment live for ever.
 */
export const MOST_BLOCKS_AHEAD = 10_000;

/** What the chain knows of a transaction. */
export interface SignatureStatus {
  readonly slot: number;
  readonly commitment: Commitment;
  /** The on-chain error as JSON text; null for success. */
  readonly error: string | null;
}

export interface LatestBlockhash {
  readonly blockhash: string;
  readonly lastValidBlockHeight: number;
}

export type Simulation =
  | { readonly ok: true }
  /** `error` is JSON text as in `SignatureStatus`: `"BlockhashNotFound"`, `{"InstructionError":[2,{"Custom":1}]}`. */
  | { readonly ok: false; readonly error: string; readonly logs: readonly string[] };

export type SendOutcome =
  /** Taken, or already known to the chain. */
  | { readonly sent: true }
  /** Refused before execution: nothing was broadcast by this endpoint. `code` is the chain's word, e.g. `BlockhashNotFound`. */
  | { readonly sent: false; readonly code: string; readonly message: string };

export interface TokenBalance {
  /** Base units. */
  readonly amount: bigint;
  /** Whether a delegate may move some of it too. */
  readonly isDelegated?: boolean;
}

/** No configured endpoint gave an answer. */
export class ChainUnavailable extends Error {
  readonly code = 'chain_unavailable';
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ChainUnavailable';
  }
}

/** Every method throws ChainUnavailable when no endpoint answers in time. */
export interface Chain {
  /**
   * What each endpoint says is the hash of the chain's first block, base58, in the order of the endpoints: two chains
   * never share one. Null for an endpoint that does not answer; throws if none of them does.
   */
  genesisHashes(): Promise<readonly (string | null)[]>;
  latestBlockhash(): Promise<LatestBlockhash>;
  /** @param unanimous the least height that any configured endpoint says; throws unless all of them answer */
  blockHeight(commitment: Commitment, options?: { readonly unanimous?: boolean }): Promise<number>;
  isBlockhashValid(blockhash: string): Promise<boolean>;
  /** Runs the transaction on the chain's present state, without effect. Signatures are checked. */
  simulate(wire: Uint8Array): Promise<Simulation>;
  /**
   * @param everywhere to every endpoint at once: for what one endpoint has taken and the cluster never saw
   * @param signature the transaction's first, base58, where the caller knows it: else it is read from the bytes
   */
  send(
    wire: Uint8Array,
    options?: { readonly everywhere?: boolean; readonly signature?: string },
  ): Promise<SendOutcome>;
  /**
   * What the chain knows of a signature, history included; null if no endpoint that answered knows it.
   * @param unanimous ask every configured endpoint; throws unless all of them answer
   */
  signatureStatus(signature: string, options?: { readonly unanimous?: boolean }): Promise<SignatureStatus | null>;
  /**
   * A block height from which on every configured endpoint knows its history: only of what cannot have landed before
   * it does "unknown" mean that it never landed. 0 for all of it, infinite where an endpoint cannot tell.
   */
  historyFrom(): Promise<number>;
  /** Balance of a token account; null where there is no such account. */
  tokenBalance(account: string): Promise<TokenBalance | null>;
  /** Lamports. */
  balance(address: string): Promise<bigint>;
}
