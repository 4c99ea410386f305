/** The outcome of a paid call as a tool result. */
import { type ErrorCode, type Problem, problem } from '../../errors.ts';
import type { JsonObject } from '../../events/event.ts';
import type { Bought } from '../paid/buy.ts';
import { costInUsd } from '../paid/paid-call.ts';
import { pendingAnswer, resultPath } from '../paid/paid-result.ts';
import { unpaidRefusal } from '../paid/unpaid-refusal.ts';
import type { AnsweringService } from '../send-problem.ts';
import { settlementResponse } from '../x402/receipt.ts';
import type { AskedPayment, PaymentTerms } from './payment-terms.ts';
import { refusal } from './refusal.ts';
import type { ToolCall } from './tool.ts';
import { type ToolResult, toolResult } from './tool-result.ts';
import { untrusted } from './untrusted-text.ts';

export const RECEIPT_KEY = 'x402/payment-response';
/** The address where a paid answer can be fetched again, for programs; models read it in the note. */
const RESULT_URL_KEY = 'service/result_url';

/** The paid call, and the form in which its caller wants payment terms. */
export interface AnsweredCall {
  readonly asked: AskedPayment;
  readonly description: string;
  readonly requestId: string;
  readonly tag: string | null;
  /** Whether terms for a new payment use x402's form. */
  readonly inX402Form: boolean;
  readonly noteBought: ToolCall['noteBought'];
  /** Members of the answer that contain text of dockets. */
  readonly docketText?: readonly string[];
}

export interface PaidAnswers {
  /** Asks for a payment, or for another one after a rejected payment. */
  askForPayment(call: AnsweredCall, refusal?: Problem, more?: JsonObject): ToolResult;
  /** The result for any error; a rejected payment comes with terms for a new one. */
  refuse(call: AnsweredCall, refusal: Problem): ToolResult;
  outcome(call: AnsweredCall, bought: Bought): ToolResult;
}

export function paidAnswers(service: AnsweringService, terms: PaymentTerms): PaidAnswers {
  const askForPayment: PaidAnswers['askForPayment'] = (call, reason, more = {}) => {
    const { asked, requestId, description, inX402Form } = call;
    if (inX402Form) {
      const required = terms.required(asked, description, requestId, reason);
      return toolResult({ structured: JSON.stringify({ ...required, ...more }), isError: true });
    }
    if (reason === undefined) {
      return toolResult({ structured: JSON.stringify(terms.instructions(asked, requestId, more)) });
    }
    const { meta: _, ...instructions } = terms.instructions(asked, requestId, more);
    return refusal(service, { ...asked, requestId }, reason, { payment_instructions: instructions });
  };
  const refuse: PaidAnswers['refuse'] = (call, reason) =>
    TERMS_FOLLOW.has(reason.problem)
      ? askForPayment(call, reason)
      : refusal(service, { ...call.asked, requestId: call.requestId }, reason);

  return {
    askForPayment,
    refuse,
    outcome(call, { outcome, receipt }) {
      const { requestId, tag } = call;
      call.noteBought(requestId, outcome);
      switch (outcome.outcome) {
        case 'settled': {
          const { transaction, boughtBy, resultId, body } = outcome;
          const url = `${service.publicUrl}${resultPath(resultId)}`;
          const paid = settledNote({ transaction, url, amount: receipt.amount, again: boughtBy !== requestId });
          const { note, meta } = untrusted(call.docketText ?? [], paid);
          return toolResult({
            structured: body.toString('utf8'),
            ...(note === undefined ? {} : { note }),
            meta: { ...meta, [RECEIPT_KEY]: receiptOf(receipt, transaction, null), [RESULT_URL_KEY]: url },
          });
        }
        case 'uncharged':
          return toolResult({ structured: outcome.body.toString('utf8'), note: UNCHARGED });
        case 'pending': {
          const pending = { requestId, resultId: outcome.resultId, transaction: outcome.transaction, tag };
          const answer = pendingAnswer({ ...pending, clock: service.clock }, service.publicUrl);
          return toolResult({ structured: JSON.stringify({ ...answer, next_step: pendingStep(answer.payment) }) });
        }
        case 'failed': {
          const { transaction, reason } = outcome;
          const failed = problem('settlement_failed', { reason, transaction });
          const receiptHere = { [RECEIPT_KEY]: receiptOf(receipt, transaction, reason) };
          return askForPayment(call, failed, call.inX402Form ? receiptHere : {});
        }
        case 'refused':
          return refuse(call, unpaidRefusal(outcome.problem));
      }
    },
  };
}

/** The note after an answer in which every part failed. */
const UNCHARGED =
  'Nothing was charged: no query could be answered, and each result says why. The payment was not used.';

/** Errors after which a new payment is the next step. */
const TERMS_FOLLOW: ReadonlySet<ErrorCode> = new Set(['payment_rejected', 'settlement_failed']);

export const receiptOf = (receipt: Bought['receipt'], transaction: string, failure: string | null): JsonObject =>
  settlementResponse({ ...receipt, transaction, failure }, receipt.network.caip2);

const settledNote = (facts: {
  readonly transaction: string;
  readonly url: string;
  readonly amount: string;
  readonly again: boolean;
}): string => {
  const paid = facts.again
    ? `This answer was bought before, by transaction ${facts.transaction}; it was not charged again.`
    : `Paid ${costInUsd(BigInt(facts.amount))} USDC by transaction ${facts.transaction}.`;
  return `${paid} The same answer again, free for 30 days: ${facts.url}`;
};

const pendingStep = (payment: { readonly result_url: string; readonly retry_after: number }): string =>
  `Do not pay again: the transfer was sent and the chain has not decided yet. GET ${payment.result_url} in ${payment.retry_after} seconds and until it gives the answer, which is free; if the transfer fails it says so, and nothing was charged.`;
