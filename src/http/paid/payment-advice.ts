/** Why a payment is refused, in words that its wallet's owner can act on: the same over REST and MCP. */
import type { JsonObject } from '../../events/event.ts';
import { PAYMENT_REJECTIONS, type RejectionEntry } from '../../events/payment-rejections.ts';

/**
 * The sentences for a refused payment (`payment_rejected`), or null for a reason that is not one of ours. What it says
 * comes before a new payment, which alone would be refused for the same reason.
 */
export function paymentAdvice({ reason, shortfall_usd }: JsonObject): string | null {
  switch (reason) {
    case 'insufficient_funds':
      return `The wallet is short of ${String(shortfall_usd)} USDC: fund it first.`;
    case 'insufficient_sol_for_network_fee':
      return 'The wallet has too little SOL for the network fee: add some, or pay by x402, where the service pays the fee.';
    case 'already_on_chain':
      return SENT_BY_CALLER;
    default: {
      const entries: Readonly<Record<string, RejectionEntry>> = PAYMENT_REJECTIONS;
      const entry = typeof reason === 'string' && Object.hasOwn(entries, reason) ? entries[reason] : undefined;
      return entry ? `${entry.meaning} ${entry.advice}` : null;
    }
  }
}

/** The commonest mistake with money, and the one that is not ours to undo. */
const SENT_BY_CALLER =
  'This call charged nothing, but the transfer was sent to the chain before it came here, so its money has moved and it can buy no answer: anybody could present it. Never send a transfer yourself; the service does that.';
