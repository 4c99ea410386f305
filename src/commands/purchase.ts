/**
 * One request that pays and is answered (`http-api.md`, Order of checks, from "not used before" on). Every step may be
 * the last one that this process ever takes: until the claim is appended nothing can be charged, and from then on
 * recovery brings the payment to its end.
 */
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BaseLogger } from 'pino';
import { isProblem, type Problem, problem, statusOf } from '../errors.ts';
import { type PaymentDialect, paymentStream } from '../events/payment.ts';
import { MICROS_PER_SECOND, toInstant } from '../instant.ts';
import { transactionId, type VerifiedTransaction, withFeePayerSignature } from '../solana/verify-transaction.ts';
import { type Append, type CommandContext, type EventLog, RevisionConflict } from '../storage/event-log.ts';
import type { PayloadStore } from '../storage/payload-store.ts';
import { headAfter, prepareAppend } from '../storage/prepare-append.ts';
import { isRejection } from './decider.ts';
import { handle, type Loaded, load } from './handle.ts';
import {
  type Authorization,
  isSubmitted,
  mayBePresented,
  type Payment,
  type PaymentCommand,
  type Purchase,
  payment,
} from './payment.ts';
import { type BlockhashKnowledge, checkOnChain } from './payment-chain-checks.ts';
import { admit, countCases, type RateLimitState } from './payment-limits.ts';
import { type SettlementPorts, settle } from './payment-settlement.ts';

/** How long a query may take. */
export const QUERY_DEADLINE_MS = 20_000;
/** How long a request waits for its settlement before it answers 202. */
export const SETTLEMENT_PATIENCE_MS = 30_000;
/** How often a transaction is broadcast again until the chain confirms it. */
export const REBROADCAST_MS = 2_000;
/** How long a paid answer is kept. */
export const ANSWER_RETENTION_DAYS = 30;
const DAY_MICROS = 86_400 * MICROS_PER_SECOND;

/** Pauses before an append whose outcome is not known is repeated unchanged, milliseconds. */
const APPEND_REPEATS_MS = [50, 250, 1_000] as const;

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
  /** Signs as the fee payer of sponsored payments. */
  readonly feePayer: { sign(message: Uint8Array): Uint8Array };
  readonly payee: Payee;
  /**
   * Aborted when this process has no more time: what was submitted is answered 202, what was not is refused, uncharged.
   */
  readonly draining: AbortSignal;
  readonly logger: Pick<BaseLogger, 'error' | 'warn'>;
  /** Milliseconds; `QUERY_DEADLINE_MS`, `SETTLEMENT_PATIENCE_MS`, `REBROADCAST_MS` where left out. */
  readonly patience?: { readonly queryMs?: number; readonly settlementMs?: number; readonly rebroadcastMs?: number };
}

/** A query's answer. */
export interface QueryAnswer {
  /** The whole body, serialised once: stored and served byte for byte. */
  readonly body: Buffer;
  /** How many cases were answered. */
  readonly answeredCases: number;
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
  /** `performance.now()` when the request came. */
  readonly startedAt: number;
  answer(call: { readonly wallet: string; readonly signal: AbortSignal }): Promise<QueryAnswer | Problem>;
}

/** How long each part took, milliseconds; null for a part that was not reached. */
export interface Timings {
  readonly verify: number;
  readonly query: number | null;
  readonly settle: number | null;
}

export type PurchaseOutcome = (
  | { readonly outcome: 'refused'; readonly problem: Problem }
  | { readonly outcome: 'settled'; readonly transaction: string; readonly body: Buffer }
  /** Not yet known: recovery decides. */
  | { readonly outcome: 'pending'; readonly transaction: string }
  /** It certainly did not move any money. */
  | { readonly outcome: 'failed'; readonly transaction: string; readonly reason: string }
) & {
  readonly timings: Timings;
  /** Null where the request was not counted. */
  readonly limits: RateLimitState | null;
};

export interface Purchasing {
  buy(request: PurchaseRequest): Promise<PurchaseOutcome>;
  /** Message hashes of the payments that this process is tending right now. */
  readonly underway: ReadonlySet<string>;
}

/** Makes the one way in which anything is bought here. */
export function createPurchasing(ports: PurchasePorts): Purchasing {
  const underway = new Set<string>();
  // Every request that waits listens to it.
  setMaxListeners(0, ports.draining);
  return {
    underway,
    async buy(request) {
      const { messageHash } = request.transaction;
      if (underway.has(messageHash)) {
        // A copy of a request that is still at work: no reading, no counting, no second query.
        const refusal = usedProblem(complete(ports, request.transaction).signature, IN_USE);
        return {
          outcome: 'refused',
          problem: refusal,
          limits: null,
          timings: { verify: 0, query: null, settle: null },
        };
      }
      underway.add(messageHash);
      try {
        return await new PurchaseRun(ports, request).run();
      } finally {
        underway.delete(messageHash);
      }
    },
  };
}

const IN_USE = 'Another request with this payment is under way.';
const RESULT_HINT =
  'The answer that this payment bought is at the Content-Location, or the result_url, that its own request was given.';

function usedProblem(transaction: string, message?: string): Problem {
  return problem('payment_already_used', { transaction, result_hint: RESULT_HINT, retry_after: 1 }, message);
}

/** The transaction with every signature, and its id. Signing is deterministic: the same message, the same id. */
function complete({ feePayer }: PurchasePorts, transaction: VerifiedTransaction) {
  const signed = transaction.sponsored
    ? withFeePayerSignature(transaction, feePayer.sign(transaction.message))
    : transaction.wire;
  return { signed, signature: transactionId(signed) };
}

class PurchaseRun {
  readonly #stream: string;
  readonly #context: CommandContext;
  readonly #authorization: Authorization;
  #limits: RateLimitState | null = null;
  #verifiedAt: number | null = null;
  #answeredAt: number | null = null;

  constructor(
    private readonly ports: PurchasePorts,
    private readonly request: PurchaseRequest,
  ) {
    const { requestId, transaction, dialect, endpoint, requestHash, amount } = request;
    const { network, mint, payTo } = ports.payee;
    this.#stream = paymentStream(transaction.messageHash);
    this.#context = {
      commandId: requestId,
      requestId,
      correlationId: requestId,
      causationId: null,
      actor: 'http',
    };
    this.#authorization = {
      requestId,
      wallet: transaction.wallet,
      dialect,
      network,
      mint,
      payTo,
      amount: String(amount),
      endpoint,
      requestHash,
      identifierHash: null,
    };
  }

  async run(): Promise<PurchaseOutcome> {
    const { ports, request } = this;
    const { transaction, amount } = request;
    if (ports.draining.aborted) return this.#refused(stopping());
    const found = await load(ports.log, payment, this.#stream);
    if (!mayBePresented(found.state)) return this.#refused(this.#used(found.state));

    const admission = await admit(ports, transaction.wallet);
    if (isProblem(admission)) return this.#refused(admission);
    this.#limits = admission.state;

    const { signed, signature } = complete(ports, transaction);
    const { destination } = ports.payee;
    const checked = await checkOnChain(ports, { transaction, signed, signature, amount, destination });
    this.#verifiedAt = performance.now();
    if (isProblem(checked)) return this.#refusedAndCounted(checked);

    const answer = await this.#query();
    this.#answeredAt = performance.now();
    if (isProblem(answer)) {
      if (!ports.draining.aborted) await this.#recordFailedQuery(found, answer);
      return this.#refusedAndCounted(answer);
    }

    const submission = {
      transaction: signature,
      wire: signed.toString('base64'),
      lastValidBlockHeight: checked.lastValidBlockHeight,
    };
    return this.#claimAndSettle(found, answer, submission);
  }

  /** Runs the query within its deadline. Whatever it does after that is nobody's business any more. */
  async #query(): Promise<QueryAnswer | Problem> {
    const { request, ports } = this;
    if (ports.draining.aborted) return stopping();
    const controller = new AbortController();
    const { signal } = controller;
    const stop = () => controller.abort(stopping());
    const late = () => controller.abort(problem('query_timeout', { retry_after: 1 }));
    const timer = setTimeout(late, ports.patience?.queryMs ?? QUERY_DEADLINE_MS);
    ports.draining.addEventListener('abort', stop, { once: true });
    try {
      const ended = new Promise<Problem>((resolve) => {
        signal.addEventListener('abort', () => resolve(signal.reason), { once: true });
      });
      return await Promise.race([request.answer({ wallet: request.transaction.wallet, signal }), ended]);
    } catch (error) {
      ports.logger.error({ err: error, requestId: request.requestId }, 'a paid query failed');
      return problem('internal_error');
    } finally {
      clearTimeout(timer);
      ports.draining.removeEventListener('abort', stop);
    }
  }

  async #recordFailedQuery(found: Loaded<Payment>, { problem: code }: Problem): Promise<void> {
    const command: PaymentCommand = {
      type: 'RecordFailedQuery',
      authorization: this.#authorization,
      code,
      httpStatus: statusOf(code),
    };
    try {
      await handle(this.ports, payment, this.#stream, command, this.#context, found);
    } catch (error) {
      // Where a copy of this request won, the stream says so better; where the log is down, nothing was claimed.
      if (error instanceof RevisionConflict) return;
      this.ports.logger.error({ err: error, requestId: this.request.requestId }, 'a failed query was not recorded');
    }
  }

  async #claimAndSettle(
    found: Loaded<Payment>,
    { body, answeredCases }: QueryAnswer,
    submission: Purchase['submission'],
  ): Promise<PurchaseOutcome> {
    const { ports, request } = this;
    const name = await ports.payloads.put('answer', body);
    const keepUntil = toInstant(ports.clock.now() + ANSWER_RETENTION_DAYS * DAY_MICROS);
    const command: PaymentCommand = {
      type: 'Submit',
      authorization: this.#authorization,
      answer: {
        requestId: request.requestId,
        answer: name,
        keepUntil,
        answeredCases,
        reservedKeyId: null,
        callbacks: [],
      },
      submission,
    };
    if (ports.draining.aborted) return this.#refusedAndCounted(stopping());
    const claim = await this.#claim(found, command);
    if ('refusal' in claim) {
      // The claim was somebody else's, so no event names these bytes.
      await ports.payloads.remove(name).catch(() => undefined);
      return this.#refusedAndCounted(claim.refusal);
    }
    if ('unknown' in claim) return this.#pending(submission.transaction, answeredCases);
    return this.#settle(claim.claimed, body, answeredCases);
  }

  /** The double-spend guard: one append at exactly the revision that was read. */
  async #claim(
    found: Loaded<Payment>,
    command: PaymentCommand,
  ): Promise<{ readonly claimed: SubmittedPayment } | { readonly refusal: Problem } | { readonly unknown: true }> {
    let at = found;
    for (;;) {
      const events = payment.decide(at.state, command);
      if (isRejection(events)) return { refusal: this.#used(at.state) };
      const append = prepareAppend({
        stream: this.#stream,
        head: at.head,
        events,
        context: this.#context,
        recordedAt: toInstant(this.ports.clock.now()),
      });
      const state = events.reduce(payment.evolve, at.state);
      if (state.status !== 'submitted') throw new Error('a claim that does not submit');
      try {
        await this.#appendUntilKnown(append);
        return { claimed: { state, head: headAfter(append) } };
      } catch (error) {
        if (!(error instanceof RevisionConflict)) {
          // It may be recorded or not. If it is, recovery will settle it: only "pending" is true of both.
          this.ports.logger.error({ err: error, requestId: this.request.requestId }, 'a claim has no known outcome');
          return { unknown: true };
        }
      }
      // A copy wrote first: if its query failed, the payment is free again.
      at = await load(this.ports.log, payment, this.#stream);
    }
  }

  async #appendUntilKnown(append: Append): Promise<void> {
    const log: EventLog = this.ports.log;
    for (let attempt = 0; ; attempt++) {
      try {
        await log.append(append);
        return;
      } catch (error) {
        const pause = APPEND_REPEATS_MS[attempt];
        if (error instanceof RevisionConflict || pause === undefined) throw error;
        await sleep(pause);
      }
    }
  }

  async #settle(claimed: SubmittedPayment, body: Buffer, answeredCases: number): Promise<PurchaseOutcome> {
    const { ports, request } = this;
    const { transaction } = claimed.state.submission;
    let settled: Loaded<Payment>;
    try {
      const { settlementMs = SETTLEMENT_PATIENCE_MS, rebroadcastMs = REBROADCAST_MS } = ports.patience ?? {};
      const watch = { until: performance.now() + settlementMs, signal: ports.draining, rebroadcastMs };
      settled = await settle(ports, this.#stream, claimed, this.#context, watch);
    } catch (error) {
      // The money may have moved, so nothing but "pending" may be said; recovery records what the chain says.
      ports.logger.error({ err: error, requestId: request.requestId }, 'a settlement could not be recorded');
      return this.#pending(transaction, answeredCases);
    }
    const { state } = settled;
    if (state.status === 'settled') {
      await this.#count(answeredCases);
      return { outcome: 'settled', transaction, body, ...this.#facts() };
    }
    if (state.status === 'failed') {
      await this.#count(0);
      return { outcome: 'failed', transaction, reason: state.reason, ...this.#facts() };
    }
    return this.#pending(transaction, answeredCases);
  }

  async #pending(transaction: string, answeredCases: number): Promise<PurchaseOutcome> {
    await this.#count(answeredCases);
    return { outcome: 'pending', transaction, ...this.#facts() };
  }

  #refused(refusal: Problem): PurchaseOutcome {
    return { outcome: 'refused', problem: refusal, ...this.#facts() };
  }

  async #refusedAndCounted(refusal: Problem): Promise<PurchaseOutcome> {
    await this.#count(0);
    return this.#refused(refusal);
  }

  /** A count that cannot be corrected costs a wallet one case of its day, and must not cost it its answer. */
  async #count(cases: number): Promise<void> {
    try {
      await countCases(this.ports, this.request.transaction.wallet, cases);
    } catch (error) {
      this.ports.logger.warn({ err: error, requestId: this.request.requestId }, 'the day of a wallet is miscounted');
    }
  }

  #used(state: Payment): Problem {
    const transaction = isSubmitted(state)
      ? state.submission.transaction
      : complete(this.ports, this.request.transaction).signature;
    return usedProblem(transaction);
  }

  #facts(): { readonly limits: RateLimitState | null; readonly timings: Timings } {
    const now = performance.now();
    const verifiedAt = this.#verifiedAt ?? now;
    const answeredAt = this.#answeredAt;
    return {
      limits: this.#limits,
      timings: {
        verify: verifiedAt - this.request.startedAt,
        query: answeredAt === null ? null : answeredAt - verifiedAt,
        settle: answeredAt === null ? null : now - answeredAt,
      },
    };
  }
}

type SubmittedPayment = Loaded<Payment> & { readonly state: Extract<Payment, { status: 'submitted' }> };

const stopping = (): Problem =>
  problem('service_unavailable', { component: 'http', retry_after: 5 }, 'This node is stopping; nothing was charged.');
