/** Explains a rejected payment so that the owner of the wallet can act; the same over REST and MCP. */
import type { JsonObject } from '../../events/event.ts';
import { PAYMENT_REJECTIONS, type RejectionEntry } from '../../events/payment-rejections.ts';

/**
 * The explanation of a `payment_rejected`, or null for an unknown reason. Follow it before a new payment, which would
 * otherwise be rejected for the same reason.
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

/** The most common mistake with money, and one that we cannot undo. */
const SENT_BY_CALLER =
  'This call charged nothing, but the transfer was sent to the chain before it came here, so its money has moved and it can buy no answer: anybody could present it. Never send a transfer yourself; the service does that.';
