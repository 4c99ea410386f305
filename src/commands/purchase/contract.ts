/** What a purchase needs, is asked and answers: between the transports and `purchase.ts`. */
import type { BaseLogger } from 'pino';
import type { Problem } from '../../errors.ts';
import type { PaymentDialect } from '../../events/payment.ts';
import type { VerifiedTransaction } from '../../solana/verify-transaction.ts';
import type { CommandContext } from '../../storage/event-log.ts';
import type { PayloadStore } from '../../storage/payload-store.ts';
import type { Promised } from '../payment/answer.ts';
import type { BlockhashKnowledge } from '../payment/chain-checks.ts';
import type { Purchase } from '../payment/payment.ts';
import type { ResultIds } from '../payment/result-id.ts';
import type { SettlementPorts } from '../payment/settlement.ts';
import type { QueryAnswer, UnchargedAnswer } from './query-run.ts';
import type { RateLimitState } from './wallet-limits.ts';

/** Who is paid, in what; addresses in base58. */
export interface Payee {
  /** CAIP-2. */
  readonly network: string;
  readonly mint: string;
  readonly payTo: string;
  /** Our token account. */
  readonly destination: string;
}

export interface PurchasePorts extends SettlementPorts {
  readonly payloads: PayloadStore;
  readonly blockhashes: BlockhashKnowledge;
  readonly keyCalls: KeyCalls;
  /** How many payments of a wallet have settled, as far as it is known; asked only where it has many under way. */
  settledPayments(wallet: string): Promise<number>;
  readonly resultIds: ResultIds;
  /** A new UUIDv4. */
  newDeliveryId(): string;
  /** Signs as the fee payer of sponsored payments. */
  readonly feePayer: { sign(message: Uint8Array): Uint8Array | Promise<Uint8Array> };
  readonly payee: Payee;
  /** Questions about blockhashes that were not offered here, in a second, of all nodes; left out, 10. */
  readonly unknownBlockhashesPerSecond?: number | undefined;
  /**
   * Aborted when this process has no more time: what was submitted is answered 202, what was not is refused, uncharged.
   */
  readonly draining: AbortSignal;
  /** Why nothing may be charged at the moment, e.g. because the event log is down; left out, or null: nothing forbids it. */
  closed?(): Problem | null;
  readonly logger: Pick<BaseLogger, 'error' | 'warn'>;
  /** Milliseconds; what is left out is as it is in production. */
  readonly patience?: {
    readonly queryMs?: number;
    readonly settlementMs?: number;
    readonly rebroadcastMs?: number;
    readonly appendRepeatsMs?: readonly number[];
  };
}

/** Calls on a wallet's signing keys: done and answered once their payment is settled, not before. */
export interface KeyCalls {
  /** Id of a key that does not exist yet. */
  newKeyId(): string;
  /** The wallet's present keys; makes its first key where it has none. */
  show(purchase: Purchase, call: KeyCallContext): Promise<Buffer>;
  /**
   * The new key with its secret: given once, and recorded on the payment's stream before it is; after that
   * `result_gone`. The key itself is made once, however often this is asked.
   */
  rotate(stream: string, purchase: Purchase, call: KeyCallContext): Promise<Buffer | Problem>;
}

export interface KeyCallContext {
  readonly tag: string | null;
  readonly context: CommandContext;
}

export interface PurchaseRequest {
  readonly requestId: string;
  /** Method and path. */
  readonly endpoint: string;
  /** SHA-256, hex, of the canonical request. */
  readonly requestHash: string;
  /** Base units. */
  readonly amount: bigint;
  readonly dialect: PaymentDialect;
  /** Checked against our terms for exactly this amount. */
  readonly transaction: VerifiedTransaction;
  /**
   * Why this payment cannot buy this request, e.g. because it was signed for another one; null where it can. Given after
   * what is known of the payment and its identifier: a caller must learn first that it bought something.
   */
  readonly unfit: Problem | null;
  /** SHA-256, hex, of the wallet and its payment identifier; null where the request has none. */
  readonly identifierHash: string | null;
  /** `X-Service-Tag`, for answers that are composed after settlement. */
  readonly tag: string | null;
  /** The client that faults of the payment are counted for, since its wallet proves nothing yet; null: none. */
  readonly client?: string | null | undefined;
  /** The network that the client is in; null: not known. */
  readonly site?: string | null | undefined;
  /** `performance.now()` when the request came. */
  readonly startedAt: number;
  /** Whether its answer is pushed too, so that it reaches the caller even if the connection breaks. */
  readonly isPushed?: boolean;
  /** Whether its caller has broken off, as far as this node knows. */
  isAbandoned(): boolean;
  answer(call: {
    readonly wallet: string;
    readonly signal: AbortSignal;
  }): Promise<QueryAnswer | UnchargedAnswer | Problem>;
}

/** How long each part took, milliseconds; null for a part that was not reached. */
export interface Timings {
  readonly verify: number;
  readonly query: number | null;
  readonly settle: number | null;
}

/**
 * `boughtBy` is the request that bought the answer: an earlier one, where an identifier was repeated. `resultId` opens the
 * answer and belongs to its buyer alone.
 */
export type PurchaseOutcome = Outcome & {
  readonly timings: Timings;
  /** Null where the request was not counted. */
  readonly limits: RateLimitState | null;
};

export type Outcome =
  | { readonly outcome: 'refused'; readonly problem: Problem }
  /** An answer that says why there is none: nothing is charged, nothing kept. */
  | { readonly outcome: 'uncharged'; readonly body: Buffer }
  | {
      readonly outcome: 'settled';
      readonly transaction: string;
      readonly boughtBy: string;
      readonly resultId: string;
      readonly body: Buffer;
      readonly promised: Promised;
    }
  /** Not yet known: recovery decides. */
  | { readonly outcome: 'pending'; readonly transaction: string; readonly boughtBy: string; readonly resultId: string }
  /** It certainly did not move any money. */
  | { readonly outcome: 'failed'; readonly transaction: string; readonly reason: string };

export interface Purchasing {
  buy(request: PurchaseRequest): Promise<PurchaseOutcome>;
  /** Message hashes of the payments that this process is tending right now. */
  readonly underway: ReadonlySet<string>;
}
