/**
 * One request, its payment and its answer (docs/design/request-checks.md#order-of-checks). The process may die at any
 * step. Before the claim is appended, nothing can be charged; after it, recovery completes the payment.
 */
import { type ErrorCode, isProblem, type Problem, problem, statusOf } from '../../errors.ts';
import { paymentStream } from '../../events/payment.ts';
import { problemOf } from '../../failure-problem.ts';
import { transactionId, withFeePayerSignature } from '../../solana/verify-transaction.ts';
import { type CommandContext, RevisionConflict } from '../../storage/event-log.ts';
import { inSpan } from '../../tracing/span.ts';
import { handle, type Loaded, load } from '../handle.ts';
import { sealAnswer } from '../payment/answer.ts';
import { type ChainCheckPorts, checkOnChain, endsTooSoon } from '../payment/chain-checks.ts';
import { claimPayment, type SubmittedPayment, usedProblem } from '../payment/claim.ts';
import { earlierOutcome, type IdentifiedRequest, type SubmittedState } from '../payment/identifier-claim.ts';
import {
  type Authorization,
  mayBePresented,
  type Payment,
  type PaymentCommand,
  type Purchase,
  payment,
} from '../payment/payment.ts';
import { settle } from '../payment/settlement.ts';
import type { KeyCallContext, PurchaseOutcome, PurchasePorts, PurchaseRequest, Timings } from './contract.ts';
import { boughtBefore, settledWith } from './earlier.ts';
import type { FirstOutcome, FirstPayment, FirstPayments } from './first-payments.ts';
import { nobodyWaits, QUERY_DEADLINE_MS, type QueryAnswer, runQuery, stopping } from './query-run.ts';
import type { Patience } from './reservation.ts';
import { pausedProblem } from './sponsor-budget.ts';
import { UNKNOWN_BLOCKHASHES } from './unknown-blockhashes.ts';
import type { EndTurn, WaitingLines } from './waiting-lines.ts';
import type { RateLimitState } from './wallet-limits.ts';
import { WalletReservation, type WalletReservationPorts } from './wallet-reservation.ts';

/** How long a request waits for settlement before it answers 202. */
const SETTLEMENT_PATIENCE_MS = 30_000;
/** How often a transaction is broadcast until the chain confirms it. */
const REBROADCAST_MS = 2_000;
/** A payment that waited longer than this before its query is checked again. */
const LONG_WAIT_MS = 1_000;

export type RunPorts = PurchasePorts &
  WalletReservationPorts &
  ChainCheckPorts & {
    readonly firstPayments: FirstPayments;
    /**
     * Limits how many queries run at once on this node per wallet and per client, so that none takes the processor from
     * the others.
     */
    readonly walletQueries: WaitingLines;
    readonly clientQueries: WaitingLines;
  };

export const QUERIES_OF_A_WALLET = 4;

const queriesUnderWay = (): Problem =>
  problem(
    'rate_limit_exceeded',
    { retry_after: 2, limit: QUERIES_OF_A_WALLET, window: 'payments_under_way' },
    'Too many queries of this wallet or address are under way; wait until they are answered.',
  );

export class PurchaseRun {
  readonly #ports: RunPorts;
  readonly #request: PurchaseRequest;
  readonly #stream: string;
  readonly #context: CommandContext;
  readonly #authorization: Authorization;
  readonly #identified: IdentifiedRequest | null;
  readonly #reservation: WalletReservation;
  /** Set if the wallet is not proven. */
  #first: FirstPayment | null = null;
  #verifiedAt: number | null = null;
  #answeredAt: number | null = null;
  #claimedAt: number | null = null;

  constructor(ports: RunPorts, request: PurchaseRequest) {
    const { requestId, transaction, dialect, endpoint, requestHash, queries, amount, identifierHash } = request;
    const { network, mint, payTo } = ports.payee;
    this.#ports = ports;
    this.#request = request;
    this.#stream = paymentStream(transaction.messageHash);
    this.#context = { commandId: requestId, requestId, correlationId: requestId, causationId: null, actor: 'http' };
    this.#authorization = {
      requestId,
      wallet: transaction.wallet,
      dialect,
      network,
      mint,
      payTo,
      amount: String(amount),
      queries,
      endpoint,
      requestHash,
      identifierHash,
    };
    this.#reservation = new WalletReservation(ports, { requestId, transaction, mint, amount });
    this.#identified =
      identifierHash === null ? null : { hash: identifierHash, requestHash, payment: transaction.messageHash };
  }

  /**
   * The outcome that the request's identifier already names; null if there is none. Checked before everything that
   * costs or counts, because by now the blockhash may have expired and the wallet may be empty.
   */
  async repeat(): Promise<PurchaseOutcome | null> {
    const earlier = this.#identified && (await earlierOutcome(this.#ports, this.#identified));
    if (!earlier) return null;
    return 'bought' in earlier ? this.#earlier(earlier.bought) : this.refuse(earlier.refused);
  }

  /** Called once it has run, whatever the outcome. */
  end(): void {
    this.#first?.end('harmless');
  }

  /** Another request of this process is working on the same payment. */
  async refuseCopy(): Promise<PurchaseOutcome> {
    const { state } = await load(this.#ports.log, payment, this.#stream);
    return this.refuse(usedProblem(state));
  }

  /** Nothing was claimed, so nothing is charged and the wallet's daily limit is unchanged. */
  async refuse(refusal: Problem): Promise<PurchaseOutcome> {
    await this.#reservation.takeBack();
    return { outcome: 'refused', problem: refusal, ...this.#facts() };
  }

  async run(): Promise<PurchaseOutcome> {
    const ports = this.#ports;
    const { requestId, transaction, amount, answer: query } = this.#request;
    if (ports.draining.aborted) return this.refuse(stopping());
    const closed = ports.closed?.();
    if (closed) return this.refuse(closed);
    const found = await load(ports.log, payment, this.#stream);
    if (!mayBePresented(found.state)) return this.refuse(usedProblem(found.state));
    // After what the payment has bought already, which a banned wallet keeps; before anything counts or costs.
    if (this.#isBanned()) return this.refuse(problem('wallet_banned'));
    const paused = transaction.sponsored ? await this.#sponsorshipPaused() : null;
    if (paused) return this.refuse(paused);
    // Checked before the request counts: a relayed payment must not use up its owner's limit.
    if (this.#request.unfit) return this.refuse(this.#request.unfit);

    // Signed on another thread while the limits are counted, and used only if the payment is admitted.
    const signing = this.#sign();
    signing.catch(() => undefined);
    const { settlementMs = SETTLEMENT_PATIENCE_MS } = ports.patience ?? {};
    const patience = { until: performance.now() + settlementMs, signal: ports.draining };
    const notTaken = await this.#reservation.take(patience);
    if (notTaken?.because === 'limits') return this.refuse(notTaken.problem);
    if (notTaken) return this.#refuseUnlessUsed(notTaken.problem);
    if (this.#isGone()) return this.refuse(nobodyWaits());
    const first = await ports.firstPayments.begin(transaction, this.#request.site ?? null);
    if (first && isProblem(first)) return this.#refuseUnlessUsed(first);
    this.#first = first;

    const signed = await signing;
    const signature = transactionId(signed);
    const { destination } = ports.payee;
    const { client } = this.#request;
    const checked = await inSpan('verify', () =>
      checkOnChain(ports, { transaction, signed, signature, amount, destination, client }),
    );
    this.#verifiedAt = performance.now();
    if (isProblem(checked)) return this.#refuseUnlessUsed(checked);
    const lent = await first?.refusal();
    if (lent) return this.#refuseUnlessUsed(lent);

    const endTurn = await this.#queryTurn(patience);
    if (endTurn === null) return this.refuse(queriesUnderWay());
    // While the request waited, the payment's blockhash may have come too close to its expiry.
    const ending = performance.now() - this.#verifiedAt > LONG_WAIT_MS ? endsTooSoon(ports, checked) : null;
    if (ending) {
      endTurn();
      return this.refuse(ending);
    }
    let answer: Awaited<ReturnType<typeof runQuery>>;
    try {
      if (this.#isGone()) return this.refuse(nobodyWaits());
      answer = await inSpan('query', () =>
        runQuery({
          requestId,
          deadlineMs: ports.patience?.queryMs ?? QUERY_DEADLINE_MS,
          draining: ports.draining,
          logger: ports.logger,
          isAbandoned: () => this.#isGone(),
          query: (signal) => query({ wallet: transaction.wallet, signal }),
        }),
      );
    } finally {
      endTurn();
    }
    this.#answeredAt = performance.now();
    // Counts as answered, but leaves no event, because its caller has disconnected.
    if (isProblem(answer) && this.#isGone()) return this.#abandoned(1);
    if (isProblem(answer)) {
      // The query did not fail; this process is stopping. There is nothing to record.
      const { problem: code } = answer;
      if (!ports.draining.aborted) await this.#recordFailedQuery(found, code, statusOf(code));
      return this.refuse(answer);
    }
    if ('uncharged' in answer) {
      await this.#recordFailedQuery(found, answer.code, 200);
      await this.#reservation.takeBack();
      return { outcome: 'uncharged', body: answer.uncharged, ...this.#facts() };
    }
    const submission = {
      transaction: signature,
      wire: signed.toString('base64'),
      lastValidBlockHeight: checked.lastValidBlockHeight,
    };
    return this.#claimAndSettle(found, answer, submission, patience);
  }

  #isBanned(): boolean {
    return this.#ports.isBanned?.(this.#request.transaction.wallet) ?? false;
  }

  /** Whether the caller has disconnected and the answer is not pushed. Then the caller must not pay. */
  #isGone(): boolean {
    return !this.#request.isPushed && this.#request.isAbandoned();
  }

  /**
   * A turn among the concurrent queries of the wallet and of the client on this node; null if none was free in time.
   */
  async #queryTurn(patience: Patience): Promise<EndTurn | null> {
    const { walletQueries, clientQueries } = this.#ports;
    const { transaction, client } = this.#request;
    const endWallet = await walletQueries.turn(transaction.wallet, patience);
    if (endWallet === null || client === null || client === undefined) return endWallet;
    const endClient = await clientQueries.turn(client, patience);
    if (endClient === null) endWallet();
    return (
      endClient &&
      (() => {
        endClient();
        endWallet();
      })
    );
  }

  /** Proven wallets are sponsored for longer; they are looked up only while sponsorship is paused. */
  async #sponsorshipPaused(): Promise<Problem | null> {
    const { sponsoring, proven, clock } = this.#ports;
    const pause = sponsoring?.pause();
    if (!pause) return null;
    if (pause.wallets === 'new' && (await proven.isProven(this.#request.transaction.wallet))) return null;
    return pausedProblem(pause, clock.now());
  }

  /** The transaction with all signatures; a sponsored one needs ours. */
  async #sign(): Promise<Buffer> {
    const { transaction } = this.#request;
    if (!transaction.sponsored) return transaction.wire;
    return withFeePayerSignature(transaction, await this.#ports.feePayer.sign(transaction.message));
  }

  /**
   * The chain may reject a payment because another node has sent it in the meantime. Then that is the reason to report,
   * and the caller is not asked for another payment. A used payment counts only once.
   */
  async #refuseUnlessUsed(refusal: Problem): Promise<PurchaseOutcome> {
    const { state } = await load(this.#ports.log, payment, this.#stream);
    if (mayBePresented(state)) {
      // While it waited for the wallet's other payments, one of them may have bought the same request.
      const earlier = this.#identified && (await earlierOutcome(this.#ports, this.#identified));
      if (earlier) return 'bought' in earlier ? this.#lost(earlier.bought) : this.refuse(earlier.refused);
      if (provesNoSender(refusal)) await this.#reservation.uncount();
      return this.refuse(refusal);
    }
    await this.#reservation.uncountUsed();
    await this.#reservation.giveBackReserved();
    return (await this.repeat()) ?? this.refuse(usedProblem(state));
  }

  async #recordFailedQuery(found: Loaded<Payment>, code: ErrorCode, httpStatus: number): Promise<void> {
    const command: PaymentCommand = { type: 'RecordFailedQuery', authorization: this.#authorization, code, httpStatus };
    try {
      await handle(this.#ports, payment, this.#stream, command, this.#context, found);
    } catch (error) {
      // After a conflict, the stream of the winner says what happened. If the log is down, nothing was claimed.
      if (error instanceof RevisionConflict) return;
      this.#ports.logger.error({ err: error, ...this.#who() }, 'a failed query was not recorded');
    }
  }

  /** Waits until a payment of an unproven wallet may be submitted. */
  async #firstTurn(submission: Purchase['submission'], patience: Patience): Promise<Problem | null> {
    if (!this.#first) return null;
    const askedAt = performance.now();
    const refusal = await this.#first.turn(patience);
    return refusal ?? (performance.now() - askedAt > LONG_WAIT_MS ? endsTooSoon(this.#ports, submission) : null);
  }

  async #firstOutcome(): Promise<FirstOutcome> {
    const { state } = await load(this.#ports.log, payment, this.#stream);
    if (state.status === 'submitted') return 'undecided';
    return state.status === 'failed' && state.reason === 'on_chain_error' ? 'failed' : 'harmless';
  }

  async #claimAndSettle(
    found: Loaded<Payment>,
    answer: QueryAnswer,
    submission: Purchase['submission'],
    patience: Patience,
  ): Promise<PurchaseOutcome> {
    const { keyCalls, draining, logger } = this.#ports;
    const newKeyId = () => keyCalls.newKeyId();
    const sealed = await sealAnswer({ ...this.#ports, newKeyId }, this.#request.requestId, answer);
    const { answeredCases } = answer;
    const notYet = await this.#firstTurn(submission, patience);
    if (draining.aborted) return this.refuse(stopping());
    if (notYet) return this.#refuseUnlessUsed(notYet);
    const closed = this.#ports.closed?.();
    if (closed) return this.refuse(closed);
    if (this.#isBanned()) return this.refuse(problem('wallet_banned'));
    // After the claim the answer can be fetched, even by a caller that disconnected.
    if (this.#isGone()) return this.#abandoned(answeredCases);
    const purchase: Purchase = { authorization: this.#authorization, answer: sealed.recorded, submission };
    const claim = await inSpan('claim', () =>
      claimPayment(this.#ports, this.#stream, found, purchase, sealed.payloads, this.#context, this.#identified),
    );
    if ('used' in claim) return this.refuse(claim.used);
    if ('bought' in claim) return this.#lost(claim.bought);
    if ('unwritten' in claim) {
      logger.error({ err: claim.unwritten, ...this.#who() }, 'a claim was not recorded: its payment is not charged');
      return this.refuse(problemOf(claim.unwritten));
    }
    if ('unknown' in claim) {
      // If the claim was recorded, recovery will settle it. Only "pending" is correct in both cases.
      logger.error({ err: claim.unknown, ...this.#who() }, 'a claim has no known outcome');
      return this.#pending(submission.transaction, answeredCases);
    }
    this.#claimedAt = performance.now();
    return this.#settle(claim.claimed, 'body' in answer ? answer.body : null);
  }

  /** The work was done but not paid for, so it counts; otherwise a caller could disconnect repeatedly for free. */
  async #abandoned(answeredCases: number): Promise<PurchaseOutcome> {
    await this.#reservation.countCases(answeredCases);
    await this.#reservation.giveBackReserved();
    return { outcome: 'refused', problem: nobodyWaits(), ...this.#facts() };
  }

  /** Another request bought the answer while this one composed it again. This one was counted but took nothing. */
  async #lost(winner: SubmittedState): Promise<PurchaseOutcome> {
    await this.#reservation.takeBack();
    return this.#earlier(winner);
  }

  /** The outcome of the payment that an identifier names. Costs nothing. */
  async #earlier(state: SubmittedState): Promise<PurchaseOutcome> {
    return { ...(await boughtBefore(this.#ports, state, this.#keyCallContext())), ...this.#facts() };
  }

  /** @param composed null if the answer is composed after settlement */
  async #settle(claimed: SubmittedPayment, composed: Buffer | null): Promise<PurchaseOutcome> {
    const { draining, patience, logger } = this.#ports;
    const { settlementMs = SETTLEMENT_PATIENCE_MS, rebroadcastMs = REBROADCAST_MS } = patience ?? {};
    const watch = { until: performance.now() + settlementMs, signal: draining, rebroadcastMs };
    const { answeredCases } = claimed.state.answer;
    const { transaction } = claimed.state.submission;
    try {
      const { state } = await inSpan('settle', () => settle(this.#ports, this.#stream, claimed, this.#context, watch));
      if (state.status === 'settled') {
        const body = composed ?? (await this.#keyAnswer(state));
        if (isProblem(body)) return this.#pending(transaction, answeredCases);
        await this.#reservation.countCases(answeredCases);
        return { ...settledWith(state, this.#newResultId(), body), ...this.#facts() };
      }
      if (state.status === 'failed') {
        if (state.reason === 'on_chain_error') this.#first?.end('failed');
        await this.#reservation.countCases(0);
        return { outcome: 'failed', transaction, reason: state.reason, ...this.#facts() };
      }
    } catch (error) {
      // The money may have moved, so only "pending" is correct. Recovery records the outcome, and the result URL
      // returns the answer.
      logger.error({ err: error, ...this.#who() }, 'a settlement could not be recorded');
    }
    return this.#pending(transaction, answeredCases);
  }

  #keyAnswer(settled: Purchase): Promise<Buffer | Problem> {
    const { keyCalls } = this.#ports;
    return settled.answer.keyCall?.does === 'rotate'
      ? keyCalls.rotate(this.#stream, settled, this.#keyCallContext())
      : keyCalls.show(settled, this.#keyCallContext());
  }

  #keyCallContext(): KeyCallContext {
    return { tag: this.#request.tag, context: this.#context };
  }

  async #pending(transaction: string, answeredCases: number): Promise<PurchaseOutcome> {
    this.#first?.follow(() => this.#firstOutcome());
    await this.#reservation.countCases(answeredCases);
    const { requestId: boughtBy } = this.#request;
    return { outcome: 'pending', transaction, boughtBy, resultId: this.#newResultId(), ...this.#facts() };
  }

  /** The result id of the payment that this request claimed. */
  #newResultId(): string {
    const { resultIds } = this.#ports;
    return resultIds.idOf({ requestId: this.#request.requestId, resultKey: resultIds.newest });
  }

  #who(): { readonly requestId: string; readonly wallet: string } {
    return { requestId: this.#request.requestId, wallet: this.#request.transaction.wallet };
  }

  #facts(): { readonly limits: RateLimitState | null; readonly timings: Timings } {
    const now = performance.now();
    const verifiedAt = this.#verifiedAt ?? now;
    const answeredAt = this.#answeredAt;
    const claimedAt = this.#claimedAt;
    return {
      limits: this.#reservation.limits,
      timings: {
        verify: verifiedAt - this.#request.startedAt,
        query: answeredAt === null ? null : answeredAt - verifiedAt,
        settle: answeredAt === null ? null : now - answeredAt,
        record: answeredAt === null || claimedAt === null ? null : claimedAt - answeredAt,
      },
    };
  }
}

/** A transaction that landed or may have landed is public, so its presenter need not be the wallet that signed it. */
const provesNoSender = ({ details }: Problem): boolean =>
  details.reason === 'already_on_chain' ||
  details.reason === 'blockhash_expired' ||
  details.window === UNKNOWN_BLOCKHASHES;
