/**
 * A caller's payment identifier (x402's extension; docs/design/payments.md#payment-identifier), by which a wallet marks
 * one request. At most one payment at a time is submitted for it, despite crashes and races.
 */
import type { EventOf } from '../../events/event.ts';
import { PaymentIdClaimed, type PaymentIdentifierEvent } from '../../events/payment.ts';
import { MICROS_PER_SECOND, type Micros } from '../../runtime/instant.ts';
import { type Decider, rejected } from '../decider.ts';
import type { Loaded } from '../handle.ts';
import { isSubmitted, type Payment } from './payment.ts';

/** How long a claim may stay without a submitted payment before another attempt replaces it. */
export const CLAIM_LIFE: Micros = 60 * MICROS_PER_SECOND;

export type IdentifierClaim = EventOf<typeof PaymentIdClaimed>['data'];

export type PaymentIdentifier =
  | { readonly status: 'free' }
  | { readonly status: 'claimed'; readonly claim: IdentifierClaim };

export type PaymentIdentifierCommand = {
  readonly type: 'Claim';
  readonly claim: IdentifierClaim;
  /** Whether the previous claim had ended (`standingOf`). An end is final, so a later look gives the same result. */
  readonly formerEnded: boolean;
};

export type PaymentIdentifierRejection = 'other_request' | 'claimed';

export const paymentIdentifier: Decider<
  PaymentIdentifier,
  PaymentIdentifierCommand,
  PaymentIdentifierEvent,
  PaymentIdentifierRejection
> = {
  initialState: { status: 'free' },

  decide(state, { claim, formerEnded }) {
    if (state.status === 'claimed') {
      if (state.claim.requestHash !== claim.requestHash) return rejected('other_request');
      // A repeat of the same attempt: both submit the same payment at the same revision, so exactly one succeeds.
      if (state.claim.payment === claim.payment && state.claim.expected === claim.expected) return [];
      if (!formerEnded) return rejected('claimed');
    }
    return [PaymentIdClaimed.of(claim)];
  },

  evolve: (_state, event) => ({ status: 'claimed', claim: event.data }),
};

/** The status of a claim, according to the payment that it names. */
export type Standing =
  /** Submitted, and not known to have failed: its outcome is the identifier's outcome. */
  | 'submitted'
  /** Never charged and never will be: the identifier can be claimed again. */
  | 'ended'
  /** Between its claim and its submission. */
  | 'under_way'
  /** Under way for so long that its process must be dead. The process may still resume, so the claim is ended first. */
  | 'abandoned';

/**
 * @param identifierHash the identifier of the claim
 * @param claimedAt by the clock of the claim's writer; it only affects how early a takeover is tried
 */
export function standingOf(
  identifierHash: string,
  { expected }: IdentifierClaim,
  claimedAt: Micros,
  { state, head }: Loaded<Payment>,
  now: Micros,
): Standing {
  if (isSubmitted(state) && state.authorization.identifierHash === identifierHash) {
    return state.status === 'failed' || state.status === 'rolled_back' ? 'ended' : 'submitted';
  }
  // The stream continued without this claim: the query of a copy failed, or another request submitted the payment.
  if (head.revision > expected) return 'ended';
  // A claim from the future was made before the clock was set back. It must not last until that time.
  return Math.abs(now - claimedAt) >= CLAIM_LIFE ? 'abandoned' : 'under_way';
}
