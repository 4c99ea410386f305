/** The chain port: one answer to each question, from any configured endpoint that gives one. */

/** How long a blockhash is valid, in blocks after its own: the cluster's rule. */
export const BLOCKHASH_LIFE_BLOCKS = 150;

export type Commitment = 'processed' | 'confirmed' | 'finalized';

/**
 * How far ahead of everything seen an answer may be, in blocks: more than a cluster makes in an hour. An answer further
 * ahead comes from a faulty endpoint; if it were accepted, later payments would never expire.
 */
export const MOST_BLOCKS_AHEAD = 10_000;

/** What the chain knows about a transaction. */
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
  /** Accepted, or already known to the chain. */
  | { readonly sent: true }
  /**
   * Rejected before execution: this endpoint broadcast nothing. `code` is the chain's error name, e.g.
   * `BlockhashNotFound`.
   */
  | { readonly sent: false; readonly code: string; readonly message: string };

export interface TokenBalance {
  /** Base units. */
  readonly amount: bigint;
  /** Whether a delegate may move some of it too. */
  readonly isDelegated?: boolean;
}

/** No configured endpoint answered. */
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
   * The hash of the chain's first block according to each endpoint, base58, in the order of the endpoints; no two
   * chains share one. Null for an endpoint that does not answer; throws if none answers.
   */
  genesisHashes(): Promise<readonly (string | null)[]>;
  latestBlockhash(): Promise<LatestBlockhash>;
  /** @param unanimous the lowest height that any configured endpoint reports; throws unless all of them answer */
  blockHeight(commitment: Commitment, options?: { readonly unanimous?: boolean }): Promise<number>;
  isBlockhashValid(blockhash: string): Promise<boolean>;
  /** Runs the transaction on the chain's current state, without effect. Signatures are checked. */
  simulate(wire: Uint8Array): Promise<Simulation>;
  /**
   * @param everywhere send to every endpoint at once, in case one endpoint accepted the transaction and the cluster
   * never saw it
   * @param signature the transaction's first, base58, if the caller knows it; otherwise it is read from the bytes
   */
  send(
    wire: Uint8Array,
    options?: { readonly everywhere?: boolean; readonly signature?: string },
  ): Promise<SendOutcome>;
  /**
   * What the chain knows about a signature, history included; null if no endpoint that answered knows it.
   * @param unanimous ask every configured endpoint; throws unless all of them answer
   */
  signatureStatus(signature: string, options?: { readonly unanimous?: boolean }): Promise<SignatureStatus | null>;
  /**
   * The block height from which every configured endpoint knows its history. Only for a transaction that cannot have
   * landed earlier does "unknown" mean that it never landed. 0 for the whole history, infinite if an endpoint cannot
   * tell.
   */
  historyFrom(): Promise<number>;
  /** Balance of a token account; null if there is no such account. */
  tokenBalance(account: string): Promise<TokenBalance | null>;
  /** Lamports. */
  balance(address: string): Promise<bigint>;
}
