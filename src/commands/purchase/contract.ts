/** The ports, requests and outcomes of a purchase, shared by the transports and `purchase.ts`. */
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

/** Who is paid and in which token; addresses in base58. */
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
  /** How many payments of a wallet have settled, as far as known. Asked only if it has several pending. */
  settledPayments(wallet: string): Promise<number>;
  readonly resultIds: ResultIds;
  /** A new UUIDv4. */
  newDeliveryId(): string;
  /** Signs as the fee payer of sponsored payments. */
  readonly feePayer: { sign(message: Uint8Array): Uint8Array | Promise<Uint8Array> };
  readonly payee: Payee;
  /** Calls per second, over all nodes, about blockhashes that were not offered here; 10 if omitted. */
  readonly unknownBlockhashesPerSecond?: number | undefined;
  /**
   * Aborted when this process must stop. Submitted payments are then answered with 202, and others rejected uncharged.
   */
  readonly draining: AbortSignal;
  /** Whether nothing is sold to a wallet. Asked for each purchase, so it must be in memory; if omitted, none is banned. */
  isBanned?(wallet: string): boolean;
  /**
   * Why nothing may be charged at the moment, e.g. because the event log is down; null or omitted if there is no
   * reason.
   */
  closed?(): Problem | null;
  readonly logger: Pick<BaseLogger, 'error' | 'warn'>;
  /** Milliseconds; omitted values are the production ones. */
  readonly patience?: {
    readonly queryMs?: number;
    readonly settlementMs?: number;
    readonly rebroadcastMs?: number;
    readonly appendRepeatsMs?: readonly number[];
  };
}

/** Calls on a wallet's signing keys. They take effect and are answered only after their payment has settled. */
export interface KeyCalls {
  /** A new id for a key. */
  newKeyId(): string;
  /** The wallet's current keys; creates its first key if it has none. */
  show(purchase: Purchase, call: KeyCallContext): Promise<Buffer>;
  /**
   * The new key with its secret. The handout is recorded on the payment's stream first, and happens only once; after
   * that the result is `result_gone`. Creating the key is idempotent.
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
  /** How many queries the amount pays for. */
  readonly queries: number;
  /** Base units: the price of the queries. */
  readonly amount: bigint;
  readonly dialect: PaymentDialect;
  /** Verified against our terms for exactly this amount. */
  readonly transaction: VerifiedTransaction;
  /**
   * Why this payment cannot buy this request, e.g. because it was signed for another one; null if it can. Reported only
   * after earlier purchases of the payment and its identifier, because a caller must first learn that it has already
   * bought something.
   */
  readonly unfit: Problem | null;
  /** SHA-256, hex, of the wallet and its payment identifier; null without an identifier. */
  readonly identifierHash: string | null;
  /** `X-Service-Tag`, for answers that are composed after settlement. */
  readonly tag: string | null;
  /**
   * The client that invalid payments are counted for, because an invalid payment does not prove its wallet; null or
   * omitted: none.
   */
  readonly client?: string | null | undefined;
  /** The client's network; null or omitted if unknown. */
  readonly site?: string | null | undefined;
  /** `performance.now()` at the arrival of the request. */
  readonly startedAt: number;
  /** Whether the answer is also pushed, and so reaches the caller even if the connection breaks. */
  readonly isPushed?: boolean;
  /** Whether the caller has disconnected, as far as this node knows. */
  isAbandoned(): boolean;
  answer(call: {
    readonly wallet: string;
    readonly signal: AbortSignal;
  }): Promise<QueryAnswer | UnchargedAnswer | Problem>;
}

/** The duration of each phase, milliseconds; null for a phase that was not reached. */
export interface Timings {
  readonly verify: number;
  readonly query: number | null;
  readonly settle: number | null;
  /** The part of `settle` until the claim was recorded, before the chain was asked. */
  readonly record: number | null;
}

/**
 * `boughtBy` is the request that bought the answer: an earlier one if an identifier was repeated. `resultId` opens the
 * answer and is only for its buyer.
 */
export type PurchaseOutcome = Outcome & {
  readonly timings: Timings;
  /** Null if the request was not counted. */
  readonly limits: RateLimitState | null;
};

export type Outcome =
  | { readonly outcome: 'refused'; readonly problem: Problem }
  /** An answer that explains why there is no result. Nothing is charged or stored. */
  | { readonly outcome: 'uncharged'; readonly body: Buffer }
  | {
      readonly outcome: 'settled';
      readonly transaction: string;
      readonly boughtBy: string;
      readonly resultId: string;
      readonly body: Buffer;
      readonly promised: Promised;
    }
  /** Not known yet: recovery will determine the outcome. */
  | { readonly outcome: 'pending'; readonly transaction: string; readonly boughtBy: string; readonly resultId: string }
  /** Certainly no money was moved. */
  | { readonly outcome: 'failed'; readonly transaction: string; readonly reason: string };

export interface Purchasing {
  buy(request: PurchaseRequest): Promise<PurchaseOutcome>;
  /** Message hashes of the payments that this process is working on. */
  readonly underway: ReadonlySet<string>;
}
