/** The payment terms of a tool: instructions for a model, or the same terms in x402's form. */
import type { PaymentRequired } from '@x402/core/types';
import { type Problem, problem } from '../../errors.ts';
import type { Json, JsonObject } from '../../events/event.ts';
import { toInstant } from '../../runtime/instant.ts';
import { associatedTokenAddress } from '../../solana/addresses.ts';
import { usdcText } from '../../solana/decimal-amount.ts';
import { type Meta, metaOf } from '../meta.ts';
import type { AskedSignIn } from '../paid/buy.ts';
import type { AnsweringService } from '../send-problem.ts';
import { newMemos, type Purpose } from '../x402/purpose.ts';
import { type NewestBlockhash, reasonOf } from '../x402/send-payment-required.ts';
import { SIGN_IN_WITH_X, signInDeclaration } from '../x402/sign-in.ts';
import { MAX_TIMEOUT_SECONDS, type Merchant, termsFor } from '../x402/terms.ts';
import { toolError } from './refusal.ts';

export interface AskedPayment {
  readonly tool: string;
  /** The argument for the transfer. */
  readonly argument: string;
  /** Base units. */
  readonly amount: bigint;
  readonly purpose: Purpose;
  /** For a call that reads a signed message. */
  readonly signIn?: AskedSignIn;
}

/** One requested transfer. */
export interface TransferInstructions {
  readonly amount_usdc: string;
  readonly amount_base_units: string;
  readonly network: string;
  readonly recipient: string;
  readonly recipient_token_account: string;
  readonly asset: string;
  readonly recent_blockhash: string | null;
  readonly last_valid_block_height: number | null;
  readonly expires_in_seconds: number;
  /**
   * Names the purpose. It is unique, because otherwise two transfers of one wallet with one blockhash would be
   * identical.
   */
  readonly memo: string;
}

export interface PaymentTerms {
  /** What the wallet must sign. */
  transfer(asked: Pick<AskedPayment, 'amount' | 'purpose'>): TransferInstructions;
  /** How to sign it, in words, and which call follows. */
  nextStep(transfer: TransferInstructions, asked: AskedPayment): string;
  /** The answer to a call without payment. */
  instructions(asked: AskedPayment, requestId: string, more?: JsonObject, wanted?: TransferInstructions): JsonObject;
  /** The same in x402's form, with the reason if a payment was rejected. */
  required(asked: AskedPayment, description: string, requestId: string, refusal?: Problem): JsonObject;
  /** The URL for x402 clients. */
  readonly x402Url: string;
}

export function paymentTerms(service: AnsweringService, merchant: Merchant, newest: NewestBlockhash): PaymentTerms {
  const { network, payTo } = merchant;
  const recipientTokenAccount = associatedTokenAddress(payTo, network.usdcMint);
  const x402Url = `${service.publicUrl}/v2/mcp?payment=x402`;
  const metaFor = (requestId: string): Meta =>
    metaOf({ request_id: requestId, queried_at: toInstant(service.clock.now()) });

  const transfer: PaymentTerms['transfer'] = ({ amount, purpose }) => {
    const latest = newest();
    return {
      amount_usdc: usdcText(amount),
      amount_base_units: String(amount),
      network: network.selfPaid,
      recipient: payTo,
      recipient_token_account: recipientTokenAccount,
      asset: network.usdcMint,
      recent_blockhash: latest?.blockhash ?? null,
      last_valid_block_height: latest?.lastValidBlockHeight ?? null,
      expires_in_seconds: MAX_TIMEOUT_SECONDS,
      memo: newMemos(purpose).inWords,
    };
  };
  const nextStep = (asked: TransferInstructions, { tool, argument, signIn }: AskedPayment): string =>
    `Nothing was charged yet. ${signing(asked)}${proofStep(signIn)} Then call ${tool} again with the same arguments and ${argument} set to it. The service sends it once the answer is there; you pay only for an answer. A client of x402 connects to ${x402Url} instead and needs no SOL.`;

  return {
    transfer,
    nextStep,
    x402Url,
    instructions(asked, requestId, more = {}, wanted = transfer(asked)) {
      return {
        meta: metaFor(requestId) as unknown as Json,
        payment_required: true,
        ...wanted,
        ...(asked.signIn && { [SIGN_IN_WITH_X]: signInDeclaration(asked.signIn.terms, service.clock.now()) }),
        ...more,
        next_step: nextStep(wanted, asked),
      };
    },
    required(asked, description, requestId, refusal = problem('payment_required')) {
      const { amount, purpose, signIn } = asked;
      const offer = { path: '', description, amount, purpose, ...(signIn && { signIn: signIn.terms }) };
      const { v2 } = termsFor(
        merchant,
        offer,
        { memos: newMemos(purpose), now: service.clock.now(), latest: newest() },
        reasonOf(refusal),
      );
      const resource: PaymentRequired['resource'] = { ...v2.resource, url: `mcp://tool/${asked.tool}` };
      const { meta, error } = toolError(service, { tool: asked.tool, requestId }, refusal);
      const step = `Nothing was charged. Pay one entry of accepts and call ${asked.tool} again with the same arguments and the payment in _meta["x402/payment"].${proofStep(signIn)}`;
      return {
        ...(v2 as unknown as JsonObject),
        resource: resource as unknown as Json,
        meta,
        details: { ...error.details, hint: step },
        next_step: step,
      };
    },
  };
}

/** Where to send a proof of the wallet, for a call that reads one. */
const proofStep = (signIn: AskedSignIn | undefined): string =>
  signIn === undefined
    ? ''
    : ` A wallet that has signed in before sends the signed message of ${SIGN_IN_WITH_X} too, in the HTTP header ${SIGN_IN_WITH_X} of the call.`;

/** How to create the transfer. */
const signing = (asked: TransferInstructions): string => {
  const blockhash =
    asked.recent_blockhash === null
      ? 'a recent blockhash of the chain'
      : `recent blockhash ${asked.recent_blockhash} (within ${asked.expires_in_seconds} seconds; it ends at block height ${asked.last_valid_block_height})`;
  return `Sign, and do not send, a Solana transaction with your wallet as fee payer (it needs a little SOL), ${blockhash}, and two instructions: a TransferChecked of exactly ${asked.amount_base_units} base units (${asked.amount_usdc} USDC, mint ${asked.asset}, 6 decimals) from your token account to token account ${asked.recipient_token_account}, and a Memo that is exactly "${asked.memo}" (without accounts; it binds the payment to this call). Encode the signed bytes as base64.`;
};
