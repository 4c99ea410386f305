/**
 * Proofs for calls that reveal a wallet's secrets or history (docs/design/payments.md#wallet-proof). A payment alone is
 * not enough: an attacker can obtain one from a client that believes to pay elsewhere. Once a wallet has given a proof,
 * every such call requires one.
 */
import type { Problem } from '../../errors.ts';
import { problem } from '../../errors.ts';
import { paymentStream } from '../../events/payment.ts';
import type { PaymentRejection } from '../../events/payment-rejections.ts';
import { walletStream } from '../../events/signing-key.ts';
import { type Instant, MICROS_PER_SECOND, type Micros, toInstant, toMicros } from '../../runtime/instant.ts';
import type { CommandContext, EventLog } from '../../storage/event-log.ts';
import { isRejection } from '../decider.ts';
import { load, record, recordedOf } from '../handle.ts';
import { isSubmitted, payment } from '../payment/payment.ts';
import { rememberedUntil, signingKeys, type WalletKeys } from './signing-key.ts';
import type { SigningKeyPorts } from './use.ts';

/** A verified message, without the wallet, which the payment names. */
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

/** How many proofs of a wallet may follow each other without a payment. */
const UNPAID_PROOFS = 3;

/**
 * A proof is recorded before its payment is claimed, so a caller that disconnects in between leaves an unpaid event.
 * This limits such events.
 */
async function unpaidProofs(log: EventLog, { proofs }: WalletKeys, now: Micros): Promise<Problem | null> {
  const latest = (proofs ?? []).filter((one) => rememberedUntil(one) > toInstant(now)).slice(-UNPAID_PROOFS);
  const [oldest] = latest;
  if (oldest === undefined || latest.length < UNPAID_PROOFS) return null;
  for (const proved of latest) {
    if (isSubmitted((await load(log, payment, paymentStream(proved.payment))).state)) return null;
  }
  const wait = Math.ceil((toMicros(rememberedUntil(oldest)) - now) / MICROS_PER_SECOND);
  return problem(
    'rate_limit_exceeded',
    { retry_after: wait, limit: UNPAID_PROOFS, window: 'payments_under_way' },
    `The last ${UNPAID_PROOFS} proofs of this wallet came with payments that were broken off; wait ${wait} seconds.`,
  );
}

/**
 * Admits a call, and records its proof if a replay could do harm or if it is the wallet's first.
 * @param once whether the proof may be used with only one payment
 * @returns why the call is rejected; null if it is admitted
 * @throws the errors of the log
 */
export async function proveCall(
  { log, clock, appendRepeatsMs }: SigningKeyPorts,
  { wallet, payment: hash, proof }: ProvedCall,
  once: boolean,
  context: CommandContext,
): Promise<Problem | null> {
  const stream = walletStream(wallet);
  for (;;) {
    const known = await load(log, signingKeys, stream);
    const { state } = known;
    if (proof === null) return state.proofs === null ? null : refused('sign_in_required');
    if (!once && state.proofs !== null) return null;
    const command = (at: Micros) => ({ type: 'Prove', ...proof, payment: hash, at }) as const;
    const now = clock.now();
    const events = signingKeys.decide(state, command(now));
    if (isRejection(events)) return refused('sign_in_used');
    if (events.length === 0) return null;
    const unpaid = once ? await unpaidProofs(log, state, now) : null;
    if (unpaid) return unpaid;
    const recording = { decider: signingKeys, stream, command, context, known, repeatsMs: appendRepeatsMs };
    const outcome = await record({ log, clock }, recording);
    if ('rejected' in outcome) return refused('sign_in_used');
    // Another writer was first, so check again whether payments followed the earlier proofs.
    if ('unwritten' in outcome && outcome.unwritten === 'overtaken') continue;
    recordedOf(outcome);
    return null;
  }
}
