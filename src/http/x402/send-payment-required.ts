/** Every 402 that asks for payment: our error envelope, and beside it the terms in each dialect at once. */
import { PaymentRequiredV1Schema, PaymentRequiredV2Schema } from '@x402/core/schemas';
import type { FastifyReply } from 'fastify';
import { ERROR_CATALOGUE, type Problem, problem } from '../../errors.ts';
import type { Json, JsonObject } from '../../events/event.ts';
import type { LatestBlockhash } from '../../solana/chain.ts';
import { usdcText } from '../../solana/usdc-text.ts';
import { paymentAdvice } from '../paid/payment-advice.ts';
import { sendProblem } from '../send-problem.ts';
import { newMemos } from './purpose.ts';
import { type Merchant, type Offer, type Terms, termsFor } from './terms.ts';

/** Most bytes of the encoded `PAYMENT-REQUIRED`: clients send its content back, in a header of their own. */
export const MAX_PAYMENT_REQUIRED_BYTES = 4 * 1024;

/** Gives the newest blockhash that is known here, without asking anybody. */
export type NewestBlockhash = () => LatestBlockhash | null;

/**
 * Answers 402 with terms (docs/design/request-checks.md#order-of-checks).
 * @param known of what is asked for, told before payment; more members of the details
 * @param refusal `payment_required`, or why the payment that came was refused; `accepts` is added to its details
 */
export function sendPaymentRequired(
  reply: FastifyReply,
  merchant: Merchant,
  offer: Offer,
  newest: NewestBlockhash,
  refusal: Problem = priced(offer),
  known: JsonObject = {},
): FastifyReply {
  const terms = termsFor(
    merchant,
    offer,
    { memos: newMemos(offer.purpose), now: reply.server.answering.clock.now(), latest: newest() },
    reasonOf(refusal),
  );
  reply.header('payment-required', encodeRequired(terms));
  reply.header('x-payment-requirements', asciiJson(terms.selfPaid));
  const details = {
    ...refusal.details,
    ...hintOf(refusal),
    ...known,
    amount_usdc: usdcText(offer.amount),
    accepts: terms.v2.accepts as unknown as Json,
  };
  return sendProblem(reply, { ...refusal, details }, v1Members(terms));
}

const priced = ({ amount }: Offer): Problem =>
  problem('payment_required', {}, `This call costs ${usdcText(amount)} USDC on Solana, paid by x402 in the same call.`);

/** Where a new payment alone would be refused again, what has to be done before it. */
function hintOf({ problem: code, details }: Problem): { readonly hint?: string } {
  const advice = code === 'payment_rejected' ? paymentAdvice(details) : null;
  return advice === null ? {} : { hint: `${advice} ${THEN_PAY}` };
}

const THEN_PAY = 'Then build a new payment from the terms in this answer.';

/** Why payment is asked for, in one word where x402 has one. */
export function reasonOf(refusal: Problem): string {
  const { reason } = refusal.details;
  return typeof reason === 'string' ? reason : (refusal.message ?? ERROR_CATALOGUE[refusal.problem].message);
}

const encodeRequired = (terms: Terms): string => Buffer.from(JSON.stringify(terms.v2)).toString('base64');

const v1Members = (terms: Terms): JsonObject => ({ x402Version: 1, accepts: [terms.v1] });

/** JSON that a header can hold, whatever a description says. */
const asciiJson = (value: Json): string =>
  JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/**
 * Makes sure, once for each route and before it is open, that what it will ask for can be understood.
 * @throws Error if the terms do not fit x402's schemas or are too long for a client to send back
 */
export function checkTerms(merchant: Merchant, offer: Offer): void {
  const latest = { blockhash: merchant.payTo, lastValidBlockHeight: Number.MAX_SAFE_INTEGER };
  const terms = termsFor(
    merchant,
    offer,
    { memos: newMemos(offer.purpose), now: 0, latest },
    ERROR_CATALOGUE.payment_required.message,
  );
  PaymentRequiredV2Schema.parse(terms.v2);
  PaymentRequiredV1Schema.parse({ x402Version: 1, accepts: [terms.v1] });
  const { length } = encodeRequired(terms);
  // Room for the longest reason of a refusal, encoded.
  if (length > MAX_PAYMENT_REQUIRED_BYTES - 256) {
    throw new Error(`the payment terms of ${offer.path} take ${length} bytes: shorten its description`);
  }
}
