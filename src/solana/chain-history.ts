/** What the chain keeps about the past: for audits, apart from the port that payments use. */

/** A transaction that names an account. */
export interface ListedSignature {
  readonly signature: string;
  readonly slot: number;
  /** Whether it failed, and so moved no token. */
  readonly failed: boolean;
}

/** How one transaction changed the balance of one token account. Base units. */
export interface TokenChange {
  readonly account: string;
  readonly mint: string;
  /** Null if the endpoint does not name it. */
  readonly owner: string | null;
  /** Null if the account did not exist. */
  readonly before: bigint | null;
  readonly after: bigint | null;
}

/** A transaction on the chain. All but slot, time, error, fee and changes is read from its own bytes. */
export interface LandedTransaction {
  readonly signature: string;
  readonly slot: number;
  /** Seconds since the Unix epoch; null if the endpoint does not know. */
  readonly blockTime: number | null;
  /** JSON text; null for success. */
  readonly error: string | null;
  /** Lamports. */
  readonly fee: bigint;
  /** All that signed, the fee payer first. */
  readonly signers: readonly string[];
  /** SHA-256 of the signed message, hex: names the stream of a payment. */
  readonly messageHash: string;
  readonly memos: readonly string[];
  readonly changes: readonly TokenChange[];
}

export type TransactionLookup =
  | { readonly found: true; readonly transaction: LandedTransaction }
  /** `keptFrom`: from which slot an endpoint keeps its history that does not have it; infinite if it keeps none. */
  | { readonly found: false; readonly keptFrom: number };

export interface SignaturePage {
  /** Newest first. */
  readonly signatures: readonly ListedSignature[];
  /** From which slot the endpoint that answered keeps its history. */
  readonly keptFrom: number;
}

/**
 * Every method throws ChainUnavailable if no endpoint answers, and CallBudgetSpent once the budget is spent. An answer of
 * another shape counts as none.
 */
export interface ChainHistory {
  /** Hash of the chain's first block. Throws if the endpoints serve different chains. */
  genesisHash(): Promise<string>;
  /** One page of the finalized transactions that name an account, before one signature and back to another. */
  signatures(
    account: string,
    range: { readonly before: string | null; readonly until: string | null },
  ): Promise<SignaturePage>;
  /** @param slot where it should be, if known: an endpoint whose history begins later is not asked */
  transaction(
    signature: string,
    options: { readonly slot: number | null; readonly commitment: 'confirmed' | 'finalized' },
  ): Promise<TransactionLookup>;
  /** Balance of a token account at a finalized slot; null if there is no such account. */
  tokenBalance(account: string): Promise<{ readonly amount: bigint; readonly slot: number } | null>;
}
