/** The payment that a tool's call carries, in either of the two ways to send one. */
import type { Problem } from '../../errors.ts';
import type { NetworkNames } from '../../solana/addresses.ts';
import { type PresentedPayment, readPaymentObject, readPaymentText, unreadable } from '../x402/payment-header.ts';

export interface CallPayment {
  /** As it was read, or why it could not be. */
  readonly payment: PresentedPayment | Problem;
  /** Whether it came as clients of x402 send it: those are answered in their own form. */
  readonly byX402: boolean;
}

/**
 * Null where the call carries no payment.
 * @param transaction the argument `payment_tx`; a blank one is none, since models fill in what they leave out
 * @param x402Payment what `_meta["x402/payment"]` holds: an object, or the text that REST's header would hold
 */
export function readCallPayment(
  transaction: string | null,
  x402Payment: unknown,
  network: NetworkNames,
): CallPayment | null {
  const byArgument = transaction !== null && transaction.trim() !== '';
  const byX402 = x402Payment !== undefined && x402Payment !== null;
  if (byArgument && byX402) return { payment: unreadable('several_payments'), byX402: false };
  if (byArgument) return { payment: readPaymentText(transaction, network), byX402: false };
  return byX402 ? { payment: readX402(x402Payment, network), byX402: true } : null;
}

function readX402(sent: unknown, network: NetworkNames): PresentedPayment | Problem {
  if (typeof sent === 'string') return readPaymentText(sent, network);
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) return unreadable('not_an_object');
  return readPaymentObject(sent as Readonly<Record<string, unknown>>, network);
}
