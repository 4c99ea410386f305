/** The payment of a tool call, sent in either of two ways. */
import type { Problem } from '../../errors.ts';
import type { NetworkNames } from '../../solana/addresses.ts';
import { type PresentedPayment, readPaymentObject, readPaymentText, unreadable } from '../x402/payment-header.ts';

export interface CallPayment {
  /** The payment, or why it cannot be read. */
  readonly payment: PresentedPayment | Problem;
  /** Whether it was sent as x402 clients send it; they get answers in x402's form. */
  readonly byX402: boolean;
}

/**
 * Null if the call has no payment.
 * @param transaction the argument `payment_tx`; blank counts as absent, since models fill in omitted arguments
 * @param x402Payment the value of `_meta["x402/payment"]`: an object, or the text of REST's header
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
