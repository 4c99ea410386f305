/** A paid endpoint over REST: reads the request and writes the response; `sell` does the rest. */

import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Promised } from '../../commands/payment/answer.ts';
import type { PurchaseOutcome } from '../../commands/purchase/contract.ts';
import { PRICE_BASE_UNITS, priceOf } from '../../commands/purchase/price.ts';
import { pausedProblem, SELF_PAID_HINT, type SponsorBudget } from '../../commands/purchase/sponsor-budget.ts';
import { type Problem, problem } from '../../errors.ts';
import type { JsonObject } from '../../events/event.ts';
import type { Clock } from '../../runtime/instant.ts';
import type { ClientAddresses } from '../client-address.ts';
import { isBareRequest, readTag } from '../parameters/request-parameters.ts';
import { isPaying, notePurchase } from '../request-log.ts';
import { UNPAID_ANSWER_HEADERS } from '../sandbox/answer-early.ts';
import type { SandboxCallbacks } from '../sandbox/sandbox-callbacks.ts';
import { sendProblem } from '../send-problem.ts';
import { isV1 } from '../v1/sunset.ts';
import { readPayment } from '../x402/payment-header.ts';
import { type Receipt, receiptHeaders } from '../x402/receipt.ts';
import { checkTerms, type NewestBlockhash, sendPaymentRequired } from '../x402/send-payment-required.ts';
import { SIGN_IN_WITH_X, type SignInTerms } from '../x402/sign-in.ts';
import type { Offer } from '../x402/terms.ts';
import { type BuyingDependencies, createBuying } from './buy.ts';
import { deliveryHeaders } from './delivery-header.ts';
import type { PaidRoute } from './paid-call.ts';
import { PENDING_RETRY_SECONDS, type PendingPayment, pendingAnswer, resultPath } from './paid-result.ts';
import { only, type PaidRequest, readRequest, requested, sell } from './sell.ts';
import { unpaidRefusal } from './unpaid-refusal.ts';

export interface PaidRouteDependencies extends BuyingDependencies {
  readonly newestBlockhash: NewestBlockhash;
  readonly clientAddresses: ClientAddresses;
  /** Reports whether sponsored payments are paused; never if omitted. */
  readonly sponsoring?: Pick<SponsorBudget, 'pause'> | undefined;
  /** If omitted, sandbox callbacks are not sent. */
  readonly sandboxCallbacks?: SandboxCallbacks | undefined;
}

/**
 * Registers one paid endpoint.
 * @throws Error if x402 clients could not understand its terms
 */
export function registerPaidRoute<Parameters>(
  app: FastifyInstance,
  dependencies: PaidRouteDependencies,
  route: PaidRoute<Parameters>,
): void {
  const { merchant, clientAddresses } = dependencies;
  const buying = createBuying(dependencies);
  const signInTerms = (statement: string): SignInTerms => ({
    publicUrl: merchant.publicUrl,
    path: route.path,
    statement,
    chainId: merchant.network.caip2,
  });
  const offerOf = (amount: bigint, request: string | null): Offer => ({
    method: route.method,
    path: route.path,
    description: route.description,
    purpose: {
      word: route.word,
      call: `${route.method} ${route.path}`,
      publicUrl: merchant.publicUrl,
      request,
    },
    ...(route.signIn && { signIn: signInTerms(route.signIn.statement) }),
    amount,
  });
  checkTerms(merchant, offerOf(PRICE_BASE_UNITS, null));

  app.route({
    method: route.method === 'GET' ? ['GET', 'HEAD'] : route.method,
    url: route.path,
    handler: async (request, reply) => {
      const startedAt = performance.now();
      const { requestId } = request;
      const tag = readTag(request);
      const askForPayment = (offer: Offer, refusal?: Problem, known?: JsonObject) =>
        sendPaymentRequired(reply, merchant, offer, dependencies.newestBlockhash, refusal, {
          ...known,
          ...(refusal ? {} : pauseNotice(dependencies)),
        });
      // A HEAD would pay for an answer without a body, so a payment sent with it is not read.
      const payment = () => (isHead(request) ? null : readPayment(request.headers, merchant.network));
      const { signIn } = route;
      const answer = requested<Parameters, Offer>(buying, {
        route,
        requestId,
        read: () => readRequest(route, request),
        terms: (parameters) => offerOf(priceOf(route.queries(parameters)), route.fingerprint(parameters)),
        bareTerms: () => (isBareRequest(request) && payment() === null ? offerOf(PRICE_BASE_UNITS, null) : null),
        asked: (offer) => ({
          ...offer,
          signIn: signIn && {
            terms: signInTerms(signIn.statement),
            needsBound: signIn.needsBound,
            sent: request.headers[SIGN_IN_WITH_X]?.toString(),
          },
        }),
        payment,
      });
      const paidRequest: PaidRequest = {
        tag,
        startedAt,
        address: () => clientAddresses.of(request.raw),
        isAbandoned: () => reply.raw.destroyed,
      };
      const sale = await sell(buying, paidRequest, [answer]);
      switch (sale.sale) {
        case 'invalid':
          return sendProblem(reply, sale.problem);
        case 'rehearsed': {
          const call = { requestId, tag };
          const [body] = sale.answers.map((composed) => composed(call));
          if (sale.callbacks.length > 0 && !isHead(request)) {
            const address = clientAddresses.of(request.raw);
            reply.headers(dependencies.sandboxCallbacks?.push(sale.callbacks, call, address) ?? {});
          }
          return reply.headers(UNPAID_ANSWER_HEADERS).send(body);
        }
        case 'unpaid':
          return askForPayment(only(sale.missing), undefined, sale.known);
        case 'refused': {
          const { problem: refusal, terms } = sale;
          return terms && refusal.problem === 'payment_rejected'
            ? askForPayment(terms, refusal)
            : sendProblem(reply, refusal);
        }
        case 'bought': {
          const { terms: offer, bought } = only(sale.bought);
          const { outcome, receipt } = bought;
          if (isPaying(requestId, outcome)) notePurchase(reply.raw);
          setPaymentHeaders(reply, outcome);
          return answerWith(reply, outcome, {
            requestId,
            tag,
            receipt,
            clock: dependencies.clock,
            askForPayment: (refusal) => askForPayment(offer, refusal),
          });
        }
      }
    },
  });
}

/** The members of a 402 that announce a pause of sponsored payments before anyone signs. */
function pauseNotice({ sponsoring, clock }: PaidRouteDependencies): JsonObject {
  const pause = sponsoring?.pause();
  if (!pause) return {};
  const { details } = pausedProblem(pause, clock.now());
  return {
    sponsorship_paused_for: pause.wallets,
    sponsorship_retry_after: details.retry_after ?? null,
    hint: SELF_PAID_HINT,
  };
}

const isHead = ({ method }: FastifyRequest): boolean => method === 'HEAD';

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
      return sendPaidAnswer(reply, outcome);
    case 'uncharged':
      return reply.headers(UNPAID_ANSWER_HEADERS).send(outcome.body);
    case 'pending':
      return sendPending(reply, { ...call, transaction: outcome.transaction, resultId: outcome.resultId });
    case 'failed': {
      const { transaction, reason } = outcome;
      reply.headers(receiptHeaders({ ...call.receipt, transaction, failure: reason }));
      return call.askForPayment(problem('settlement_failed', { reason, transaction }));
    }
    case 'refused':
      return outcome.problem.problem === 'payment_rejected'
        ? call.askForPayment(outcome.problem)
        : sendProblem(reply, unpaidRefusal(outcome.problem));
  }
}

export interface PaidAnswer {
  /** Opens the answer again. */
  readonly resultId: string;
  readonly body: Buffer | Readable;
  readonly promised: Promised;
}

/** Sends a paid answer exactly as it was stored, on every request for it. */
export function sendPaidAnswer(reply: FastifyReply, { resultId, body, promised }: PaidAnswer): FastifyReply {
  return reply
    .code(200)
    .headers(deliveryHeaders(promised))
    .header('content-location', resultPath(resultId))
    .header('cache-control', 'private, no-store')
    .type('application/json; charset=utf-8')
    .send(body);
}

/** Never a 402, because the client would pay again. */
export function sendPending(reply: FastifyReply, pending: PendingPayment): FastifyReply {
  const { meta, payment } = pendingAnswer(pending, reply.server.answering.publicUrl);
  // Version 1 has no `meta`.
  const body = isV1(reply.request.url) ? { queried_at: meta.queried_at, payment } : { meta, payment };
  return reply
    .code(202)
    .header('retry-after', String(PENDING_RETRY_SECONDS))
    .header('cache-control', 'private, no-store')
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(body));
}
