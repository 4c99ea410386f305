/**
 * A caller's payment identifier (x402's extension; docs/design/payments.md#payment-identifier): one wallet's word for
 * one request. At most one payment at a time is submitted for it, through crashes and races.
 */
import type { EventOf } from '../../events/event.ts';
import { PaymentIdClaimed, type PaymentIdentifierEvent } from '../../events/payment.ts';
import { MICROS_PER_SECOND, type Micros } from '../../runtime/instant.ts';
import { type Decider, rejected } from '../decider.ts';
import type { Loaded } from '../handle.ts';
import { isSubmitted, type Payment } from './payment.ts';

/** How long a claim may go without its payment being submitted before another attempt takes over. */
export const CLAIM_LIFE: Micros = 60 * MICROS_PER_SECOND;

export type IdentifierClaim = EventOf<typeof PaymentIdClaimed>['data'];

export type PaymentIdentifier =
  | { readonly status: 'free' }
  | { readonly status: 'claimed'; readonly claim: IdentifierClaim };

export type PaymentIdentifierCommand = {
  readonly type: 'Claim';
  readonly claim: IdentifierClaim;
  /** Whether the standing claim was seen to have ended (`standingOf`): an end is for good, so no later look differs. */
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
      // A repeat of the same attempt: both submit the same payment at the same revision, so one of them will.
      if (state.claim.payment === claim.payment && state.claim.expected === claim.expected) return [];
      if (!formerEnded) return rejected('claimed');
    }
    return [PaymentIdClaimed.of(claim)];
  },

  evolve: (_state, event) => ({ status: 'claimed', claim: event.data }),
};

/** What a claim is worth, judged by the payment that it names. */
export type Standing =
  /** Submitted and not known to have failed: its outcome is the identifier's. */
  | 'submitted'
  /** Nothing was charged for it and nothing will be: the identifier may be claimed again. */
  | 'ended'
  /** Between its claim and its submission. */
  | 'under_way'
  /** The same, for so long that the claiming process must be dead. It may still come back, so its claim is ended first. */
  | 'abandoned';

/**
 * @param identifierHash the identifier that the claim is of
 * @param claimedAt by the clock of the claim's writer: only ever decides how early a takeover is tried
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
  // The stream moved on without this claim: its query failed for a copy, or another request submitted the payment.
  if (head.revision > expected) return 'ended';
  // A claim dated in the future was made before the clock was set back, and must not last until that time.
  return Math.abs(now - claimedAt) >= CLAIM_LIFE ? 'abandoned' : 'under_way';
}
