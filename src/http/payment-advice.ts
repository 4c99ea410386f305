/** Why a payment is refused, in words that its wallet's owner can act on: the same over REST and MCP. */
import type { JsonObject } from '../events/event.ts';

/**
 * The sentence for a refused payment (`payment_rejected`); null where `details.reason` says all that there is to say.
 * A new payment alone would be refused again for the same reason.
 */
export function paymentAdvice({ reason, shortfall_usd }: JsonObject): string | null {
  switch (reason) {
    case 'insufficient_funds':
      return `The wallet lacks ${String(shortfall_usd)} USDC: fund it first.`;
    case 'insufficient_sol_for_network_fee':
      return 'The wallet lacks SOL for the network’s fee: fund it with a little, or pay by x402, where the fee is ours.';
    case 'blockhash_expired':
    case 'blockhash_expires_too_soon':
      return 'Its blockhash is too old: sign within a minute of being asked to pay.';
    case 'already_on_chain':
      return SENT_BY_CALLER;
    default:
      return null;
  }
}

/** The commonest mistake with money, and the one that is not ours to undo. */
const SENT_BY_CALLER =
  'This call charged nothing, but the transfer was sent to the chain before it came here, so its money has moved and it can buy no answer: anybody could present it. Never send a transfer yourself; the service does that.';
