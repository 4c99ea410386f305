/** What every paid endpoint has in common: the order of checks, payment, settlement, receipts (`http-api.md`). */
import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { PurchaseOutcome, Purchasing } from '../commands/purchase-contract.ts';
import { isProblem, type Problem, problem } from '../errors.ts';
import type { PaymentDialect } from '../events/payment.ts';
import { type Clock, toInstant } from '../instant.ts';
import {
  REJECTION,
  type TransferTerms,
  type VerifiedTransaction,
  verifyTransaction,
} from '../solana/verify-transaction.ts';
import type { AddressLimit } from './address-limit.ts';
import { metaOf } from './meta.ts';
import { type PaidCallContext, type PaidRoute, PRICE_BASE_UNITS } from './paid-call.ts';
import { isBareRequest, readTag } from './parameters/request-parameters.ts';
import { SANDBOX_HEADERS } from './sandbox/answer-early.ts';
import { sendProblem } from './send-problem.ts';
import { type PresentedPayment, readPayment, rejectedPayment, unreadable } from './x402/payment-header.ts';
import { identifierHashOf } from './x402/payment-identifier.ts';
import { type Receipt, receiptHeaders } from './x402/receipt.ts';
import { checkTerms, type NewestBlockhash, sendPaymentRequired } from './x402/send-payment-required.ts';
import { type Merchant, type Offer, transferTermsOf } from './x402/terms.ts';

export interface PaidRouteDependencies {
  readonly merchant: Merchant;
  readonly purchasing: Purchasing;
  readonly newestBlockhash: NewestBlockhash;
  readonly clock: Clock;
  /** Bounds requests with an invalid payment; left out, they are not bounded. */
  readonly addressLimit?: AddressLimit | undefined;
}

/** Where a paid answer can be fetched again. */
export const resultPath = (requestId: string): string => `/v2/results/${requestId}`;

/** When a caller whose payment is not yet settled should look again, seconds. */
export const PENDING_RETRY_SECONDS = 2;

/** Price in US dollars of an amount in base units: exact, since prices are whole cents. */
export const costInUsd = (amount: bigint): number => Number(amount / 10_000n) / 100;

/**
 * Opens one paid endpoint.
 * @throws Error if its terms could not be understood by clients of x402
 */
export function registerPaidRoute<Parameters>(
  app: FastifyInstance,
  dependencies: PaidRouteDependencies,
  route: PaidRoute<Parameters>,
): void {
  const { merchant } = dependencies;
  const termsOf = transferTermsOf(merchant);
  const offerOf = (amount: bigint): Offer => ({ path: route.path, description: route.description, amount });
  checkTerms(merchant, offerOf(PRICE_BASE_UNITS));

  app.route({
    method: route.method,
    url: route.path,
    handler: async (request, reply) => {
      const startedAt = performance.now();
      let parameters = route.parse(request);
      if (isRefusal(parameters) && route.reconsider) parameters = await route.reconsider(request, parameters);
      if (!isRefusal(parameters)) {
        // Before any payment is looked at: one that is sent along is not even read.
        const rehearsal = route.sandbox(parameters);
        if (rehearsal !== null) {
          const answer = await rehearsal;
          return reply.headers(SANDBOX_HEADERS).send(answer({ requestId: request.requestId, tag: readTag(request) }));
        }
      }
      const payment = readPayment(request.headers, merchant.network);
      const askForPayment = (amount: bigint, refusal?: Problem) =>
        sendPaymentRequired(reply, merchant, offerOf(amount), dependencies.newestBlockhash, refusal);

      if (!payment && isBareRequest(request)) return askForPayment(PRICE_BASE_UNITS);
      if (isRefusal(parameters)) return sendProblem(reply, parameters);
      const amount = route.price(parameters);
      if (!payment) return askForPayment(amount);

      const verified = isProblem(payment) ? payment : verify(payment, termsOf(amount));
      if (isProblem(verified)) {
        const excess = dependencies.addressLimit?.count(request.ip);
        if (excess) return sendProblem(reply, excess);
        return verified.problem === 'payment_rejected' ? askForPayment(amount, verified) : sendProblem(reply, verified);
      }
      const { transaction, dialect, identifier } = verified;
      const tag = readTag(request);
      const endpoint = `${route.method} ${route.path}`;
      const outcome = await dependencies.purchasing.buy({
        requestId: request.requestId,
        endpoint,
        requestHash: sha256(`${endpoint}\n${route.fingerprint(parameters)}`),
        amount,
        dialect,
        transaction,
        identifierHash: identifier === null ? null : identifierHashOf(transaction.wallet, identifier),
        tag,
        startedAt,
        answer: ({ wallet, signal }) => {
          const call: PaidCallContext = {
            requestId: request.requestId,
            wallet,
            costUsd: costInUsd(amount),
            tag,
            signal,
          };
          return route.answer(parameters, call);
        },
      });
      setPaymentHeaders(reply, outcome);
      return answerWith(reply, outcome, {
        requestId: request.requestId,
        tag,
        receipt: { dialect, network: merchant.network, payer: transaction.wallet, amount: String(amount) },
        clock: dependencies.clock,
        askForPayment: (refusal) => askForPayment(amount, refusal),
      });
    },
  });
}

const isRefusal = (value: unknown): value is Problem => typeof value === 'object' && value !== null && isProblem(value);

interface VerifiedPayment {
  readonly transaction: VerifiedTransaction;
  readonly dialect: PaymentDialect;
  /** The client's `payment-identifier`. */
  readonly identifier: string | null;
}

/** Checks 2 to 6 of `payments.md`, and in which dialect the payment was made. */
function verify(
  { transaction: wire, memo, x402Version, identifier }: PresentedPayment,
  terms: TransferTerms,
): VerifiedPayment | Problem {
  const verdict = verifyTransaction(wire, terms, memo);
  if (!verdict.ok) {
    return verdict.reason === REJECTION.couldNotBeDecoded
      ? unreadable(verdict.reason)
      : rejectedPayment(verdict.reason);
  }
  const { transaction } = verdict;
  const dialect = transaction.sponsored ? (x402Version === 2 ? 'x402-v2' : 'x402-v1') : 'self-paid';
  return { transaction, dialect, identifier };
}

function setPaymentHeaders(reply: FastifyReply, { limits, timings }: PurchaseOutcome): void {
  if (limits) {
    reply.header('ratelimit-limit', String(limits.limit));
    reply.header('ratelimit-remaining', String(limits.remaining));
    reply.header('ratelimit-reset', String(limits.resetSeconds));
  }
  const parts = [`verify;dur=${timings.verify.toFixed(1)}`];
  if (timings.query !== null) parts.push(`query;dur=${timings.query.toFixed(1)}`);
  if (timings.settle !== null) parts.push(`settle;dur=${timings.settle.toFixed(1)}`);
  reply.header('server-timing', parts.join(', '));
}

interface PaidCall {
  readonly requestId: string;
  readonly tag: string | null;
  readonly receipt: Omit<Receipt, 'transaction' | 'failure'>;
  readonly clock: Clock;
  askForPayment(refusal: Problem): FastifyReply;
}

function answerWith(reply: FastifyReply, outcome: PurchaseOutcome, call: PaidCall): FastifyReply {
  switch (outcome.outcome) {
    case 'settled':
      reply.headers(receiptHeaders({ ...call.receipt, transaction: outcome.transaction, failure: null }));
      return sendPaidAnswer(reply, outcome.boughtBy, outcome.body);
    case 'pending':
      return sendPending(reply, { ...call, transaction: outcome.transaction, boughtBy: outcome.boughtBy });
    case 'failed': {
      const { transaction, reason } = outcome;
      reply.headers(receiptHeaders({ ...call.receipt, transaction, failure: reason }));
      return call.askForPayment(problem('settlement_failed', { reason, transaction }));
    }
    case 'refused':
      return outcome.problem.problem === 'payment_rejected'
        ? call.askForPayment(outcome.problem)
        : sendProblem(reply, outcome.problem);
  }
}

/** A paid answer, byte for byte as it was stored, whoever asks for it and whenever. */
export function sendPaidAnswer(reply: FastifyReply, requestId: string, body: Buffer): FastifyReply {
  return reply
    .code(200)
    .header('content-location', resultPath(requestId))
    .header('cache-control', 'private, no-store')
    .type('application/json; charset=utf-8')
    .send(body);
}

export interface PendingPayment {
  readonly requestId: string;
  /** The request that the answer is kept under. */
  readonly boughtBy: string;
  readonly transaction: string;
  readonly tag: string | null;
  readonly clock: Clock;
}

/** The outcome of a payment is not yet known: where to look for it, and when. Never a 402, which would be paid again. */
export function sendPending(
  reply: FastifyReply,
  { requestId, boughtBy, transaction, tag, clock }: PendingPayment,
): FastifyReply {
  const meta = metaOf({ request_id: requestId, queried_at: toInstant(clock.now()), tag });
  const payment = {
    status: 'pending',
    transaction,
    result_url: `${reply.server.answering.publicUrl}${resultPath(boughtBy)}`,
    retry_after: PENDING_RETRY_SECONDS,
  };
  return reply
    .code(202)
    .header('retry-after', String(PENDING_RETRY_SECONDS))
    .header('cache-control', 'private, no-store')
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ meta, payment }));
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
