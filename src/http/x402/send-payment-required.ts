/** Every 402 that asks for payment: the error envelope, together with the terms in each dialect. */
import { PaymentRequiredV1Schema, PaymentRequiredV2Schema } from '@x402/core/schemas';
import type { FastifyReply } from 'fastify';
import { ERROR_CATALOGUE, type Problem, problem } from '../../errors.ts';
import type { Json, JsonObject } from '../../events/event.ts';
import type { LatestBlockhash } from '../../solana/chain.ts';
import { usdcText } from '../../solana/decimal-amount.ts';
import { paymentAdvice } from '../paid/payment-advice.ts';
import { sendProblem } from '../send-problem.ts';
import { newMemos } from './purpose.ts';
import { type Merchant, type Offer, type Terms, termsFor } from './terms.ts';

/** Most bytes of the encoded `PAYMENT-REQUIRED`: clients send its content back in a header of their own. */
const MAX_PAYMENT_REQUIRED_BYTES = 4 * 1024;

/** Returns the newest known blockhash without a request to the chain. */
export type NewestBlockhash = () => LatestBlockhash | null;

/**
 * Answers 402 with terms (docs/design/request-checks.md#order-of-checks).
 * @param known what is known about the case before payment; further members of the details
 * @param refusal `payment_required`, or why the payment was rejected; `accepts` is added to its details
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
  problem(
    'payment_required',
    {},
    `This call costs ${usdcText(amount)} USDC on Solana, paid through x402 in the same call.`,
  );

/** What to do first, if a new payment alone would be rejected again. */
function hintOf({ problem: code, details }: Problem): { readonly hint?: string } {
  const advice = code === 'payment_rejected' ? paymentAdvice(details) : null;
  return advice === null ? {} : { hint: `${advice} ${THEN_PAY}` };
}

const THEN_PAY = 'Then build a new payment from the terms in this answer.';

/** Why payment is requested, in one word if x402 has one. */
export function reasonOf(refusal: Problem): string {
  const { reason } = refusal.details;
  return typeof reason === 'string' ? reason : (refusal.message ?? ERROR_CATALOGUE[refusal.problem].message);
}

const encodeRequired = (terms: Terms): string => Buffer.from(JSON.stringify(terms.v2)).toString('base64');

const v1Members = (terms: Terms): JsonObject => ({ x402Version: 1, accepts: [terms.v1] });

/** JSON as ASCII, so that a header can hold any description. */
const asciiJson = (value: Json): string =>
  JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/**
 * Checks once for each route, before it opens, that clients can read its terms.
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
  // Room for the longest reason of an error, encoded.
  if (length > MAX_PAYMENT_REQUIRED_BYTES - 256) {
    throw new Error(`the payment terms of ${offer.path} have ${length} bytes: shorten its description`);
  }
}
