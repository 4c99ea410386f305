/** The double-spend guard: one append at exactly the revision that was read claims a payment. */
import { type Problem, problem } from '../../errors.ts';
import type { Clock } from '../../runtime/instant.ts';
import type { CommandContext, EventLog } from '../../storage/event-log.ts';
import type { PayloadStore, SealedPayload } from '../../storage/payload-store.ts';
import type { StorageFailure } from '../../storage/storage-failure.ts';
import { type Loaded, record } from '../handle.ts';
import {
  claimIdentifier,
  type Earlier,
  earlierOutcome,
  type IdentifiedRequest,
  type SubmittedState,
} from './identifier-claim.ts';
import { isSubmitted, mayBePresented, type Payment, type Purchase, payment } from './payment.ts';

export type SubmittedPayment = Loaded<Payment> & { readonly state: Extract<Payment, { status: 'submitted' }> };

export type Claim =
  | { readonly claimed: SubmittedPayment }
  /** Another request has claimed the payment. */
  | { readonly used: Problem }
  /** Another request bought the answer under the same identifier. */
  | { readonly bought: SubmittedState }
  /** The log failed and certainly wrote nothing, now or later, so nothing is charged. */
  | { readonly unwritten: StorageFailure }
  /** The claim may or may not be recorded: no retry of the append had an outcome. */
  | { readonly unknown: unknown };

export interface ClaimPorts {
  readonly log: EventLog;
  readonly payloads: Pick<PayloadStore, 'remove'>;
  readonly clock: Clock;
  readonly patience?: { readonly appendRepeatsMs?: readonly number[] };
}

/**
 * Claims a payment for a purchase if it is still free.
 * @param found the payment as last read
 * @param payloads contents that the purchase names, stored together with it; removed if it is not recorded
 * @param identified a request with a payment identifier, which is claimed first
 * @throws the errors of reading the log; nothing was claimed then
 */
export async function claimPayment(
  ports: ClaimPorts,
  stream: string,
  found: Loaded<Payment>,
  purchase: Purchase,
  payloads: readonly SealedPayload[],
  context: CommandContext,
  identified: IdentifiedRequest | null = null,
): Promise<Claim> {
  let mayBeNamed = false;
  try {
    const claim = await claimWhileFree(ports, stream, found, purchase, payloads, context, identified);
    mayBeNamed = 'claimed' in claim || 'unknown' in claim;
    return claim;
  } finally {
    // This request has no claim, so no event will name its contents.
    if (!mayBeNamed) await Promise.all(payloads.map(({ name }) => ports.payloads.remove(name).catch(() => undefined)));
  }
}

async function claimWhileFree(
  ports: ClaimPorts,
  stream: string,
  found: Loaded<Payment>,
  purchase: Purchase,
  payloads: readonly SealedPayload[],
  context: CommandContext,
  identified: IdentifiedRequest | null,
): Promise<Claim> {
  let at = found;
  for (;;) {
    if (identified) {
      if (!mayBePresented(at.state)) return lostTo((await earlierOutcome(ports, identified)) ?? usedBy(at.state));
      const claim = await claimIdentifier(ports, identified, at, context);
      if (!('claimed' in claim)) return lostTo(claim);
      at = claim.claimed;
    }
    const outcome = await record(ports, {
      decider: payment,
      stream,
      command: { type: 'Submit', ...purchase },
      context,
      known: at,
      payloads,
      repeatsMs: ports.patience?.appendRepeatsMs,
    });
    if ('recorded' in outcome) return { claimed: submittedOf(outcome.recorded) };
    if ('unknown' in outcome) return outcome;
    if ('unwritten' in outcome && outcome.unwritten === 'failed') return { unwritten: outcome.error };
    // Another request was first. If the query of a copy failed, the payment is free again. The meaning of the
    // identifier may have changed too, so look it up again.
    const now = 'rejected' in outcome ? outcome.at : outcome.found;
    if (now === at) return { used: usedProblem(at.state) };
    at = now;
  }
}

function submittedOf({ state, head }: Loaded<Payment>): SubmittedPayment {
  if (state.status !== 'submitted') throw new Error(`a claimed payment is ${state.status}`);
  return { state, head };
}

const usedBy = (state: Payment): Earlier => ({ refused: usedProblem(state) });

const lostTo = (earlier: Earlier): Claim => ('bought' in earlier ? earlier : { used: earlier.refused });

const RESULT_HINT =
  'The answer that this payment bought is at the Content-Location, or the result_url, that its own request was given.';

/** The catalogue's hint, to sign a new payment, would make a client pay twice that only repeats its request. */
const UNDER_WAY_HINT =
  'If this is the same request again, do not pay again: send it unchanged in a second. For another request, sign again ' +
  'with a newer blockhash or a unique memo.';

/**
 * The problem for a payment that another request has claimed. It names the transaction only after its submission: a
 * transaction's id is our fee payer's signature, and with it anyone could broadcast a payment that has no answer yet.
 */
export function usedProblem(state: Payment): Problem {
  const details = { result_hint: RESULT_HINT, retry_after: 1 };
  return isSubmitted(state)
    ? problem('payment_already_used', { transaction: state.submission.transaction, ...details })
    : problem(
        'payment_already_used',
        { transaction: null, ...details, hint: UNDER_WAY_HINT },
        'Another request with this payment is under way.',
      );
}
