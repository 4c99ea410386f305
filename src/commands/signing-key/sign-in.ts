/**
 * Calls that reveal a wallet's secrets or history, opened by a proof that cannot be passed on
 * (docs/design/payments.md#wallet-proof). Once a wallet has given one, it is demanded: a payment alone can be had from
 * any client that is made to pay elsewhere.
 */
import type { Problem } from '../../errors.ts';
import { problem } from '../../errors.ts';
import type { PaymentRejection } from '../../events/payment-rejections.ts';
import { walletStream } from '../../events/signing-key.ts';
import { type Instant, toInstant } from '../../runtime/instant.ts';
import { type CommandContext, RevisionConflict } from '../../storage/event-log.ts';
import { prepareAppend } from '../../storage/prepare-append.ts';
import { appendUntilKnown } from '../append-until-known.ts';
import { isRejection } from '../decider.ts';
import { load } from '../handle.ts';
import { signingKeys } from './signing-key.ts';
import type { SigningKeyPorts } from './use.ts';

/** A message that was checked, without the wallet: it is the payment's. */
export interface GivenProof {
  readonly proof: string;
  readonly validUntil: Instant;
}

export interface ProvedCall {
  readonly wallet: string;
  /** Message hash of the payment. */
  readonly payment: string;
  readonly proof: GivenProof | null;
}

const refused = (reason: PaymentRejection): Problem => problem('payment_rejected', { reason });

/**
 * Lets a call through, and records its proof where a repetition of it would do harm or where it is the wallet's first.
 * @param once whether no other payment may come with the same proof
 * @returns why the call is refused; null where it is not
 * @throws what the log throws
 */
export async function proveCall(
  { log, clock, appendRepeatsMs }: SigningKeyPorts,
  { wallet, payment, proof }: ProvedCall,
  once: boolean,
  context: CommandContext,
): Promise<Problem | null> {
  const stream = walletStream(wallet);
  for (;;) {
    const { state, head } = await load(log, signingKeys, stream);
    if (proof === null) return state.proofs === null ? null : refused('sign_in_required');
    if (!once && state.proofs !== null) return null;
    const at = clock.now();
    const events = signingKeys.decide(state, { type: 'Prove', ...proof, payment, at });
    if (isRejection(events)) return refused('sign_in_used');
    if (events.length === 0) return null;
    const append = prepareAppend({ stream, head, events, context, recordedAt: toInstant(at) });
    try {
      await appendUntilKnown(log, append, appendRepeatsMs);
      return null;
    } catch (error) {
      if (!(error instanceof RevisionConflict)) throw error;
    }
  }
}
