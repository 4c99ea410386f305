/** Payment identifiers in the log: finds the payment that one names, and claims it for a new attempt. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Problem, problem } from '../../errors.ts';
import { decodeEvent } from '../../events/codec.ts';
import { type PaymentIdentifierEvent, paymentIdentifierStream, paymentStream } from '../../events/payment.ts';
import { type Clock, type Micros, toMicros } from '../../runtime/instant.ts';
import { type CommandContext, type EventLog, NO_STREAM, RevisionConflict } from '../../storage/event-log.ts';
import { isRejection } from '../decider.ts';
import { handle, type Loaded, load } from '../handle.ts';
import {
  type IdentifierClaim,
  type PaymentIdentifier,
  paymentIdentifier,
  type Standing,
  standingOf,
} from './identifier.ts';
import { isSubmitted, type Payment, type Purchase, payment } from './payment.ts';

export interface IdentifierPorts {
  readonly log: EventLog;
  readonly clock: Clock;
}

/** A request with a payment identifier. */
export interface IdentifiedRequest {
  /** Hash of the wallet and the identifier: names the stream. */
  readonly hash: string;
  readonly requestHash: string;
  /** Message hash of this request's payment. */
  readonly payment: string;
}

export type SubmittedState = Extract<Payment, Purchase>;

/** What the identifier already names. */
export type Earlier =
  /** A payment, this one or another, was submitted under it; its outcome is the answer. */
  | { readonly bought: SubmittedState }
  /** Another request uses it now, or there is nothing to wait for. */
  | { readonly refused: Problem };

/** Pauses before a claim that is about to be submitted is read again, milliseconds: enough for two appends. */
const LOOKS_MS = [10, 20, 40, 80, 160, 300, 600] as const;

const conflicting: Earlier = { refused: problem('idempotency_conflict') };
const underWay: Earlier = {
  refused: problem(
    'payment_already_used',
    { transaction: null, retry_after: 1, hint: 'Do not pay again: send the same request unchanged in a second.' },
    'Another request with this payment identifier is under way; send the same again in a second.',
  ),
};

interface Found {
  readonly identifier: Loaded<PaymentIdentifier>;
  readonly claim: IdentifierClaim | null;
  readonly standing: Standing | null;
  /** The payment that the claim names. */
  readonly payment: Loaded<Payment> | null;
}

/**
 * The outcome for a request whose identifier has already bought something; null if the request may buy. Writes nothing.
 * @throws the errors of reading the log
 */
export async function earlierOutcome(ports: IdentifierPorts, request: IdentifiedRequest): Promise<Earlier | null> {
  const found = await find(ports, request);
  const known = earlierOf(found, request);
  if (known) return known;
  // The same payment was given up under this identifier: it failed, and the answer is the same.
  const state = found.claim?.payment === request.payment ? found.payment?.state : undefined;
  if (state && isSubmitted(state) && state.authorization.identifierHash === request.hash) return { bought: state };
  return null;
}

function earlierOf({ claim, standing, payment: named }: Found, { requestHash }: IdentifiedRequest): Earlier | null {
  if (!claim || !named) return null;
  if (claim.requestHash !== requestHash) return conflicting;
  return standing === 'submitted' && isSubmitted(named.state) ? { bought: named.state } : null;
}

export type IdentifierOutcome =
  /**
   * The identifier names this payment while the payment's stream stays at this revision: submit it at exactly that one.
   */
  { readonly claimed: Loaded<Payment> } | Earlier;

/**
 * Makes the identifier name this request's payment (docs/design/payments.md#payment-identifier). An attempt that was
 * claimed but never submitted is ended on its own stream first, so that it cannot be submitted later.
 * @param at the request's own payment as last read, free to be submitted
 * @throws the errors of the log; nothing was submitted then
 */
export async function claimIdentifier(
  ports: IdentifierPorts,
  request: IdentifiedRequest,
  at: Loaded<Payment>,
  context: CommandContext,
): Promise<IdentifierOutcome> {
  for (let looks = 0; ; ) {
    const found = await find(ports, request);
    const known = earlierOf(found, request);
    if (known) return known;
    const { claim, standing } = found;
    if (claim && claim.payment === request.payment && standing !== 'ended') {
      // A dead request, or a copy that is still running, claimed it before: the payment's own stream decides.
      if (found.payment) return { claimed: found.payment };
    } else if (standing === 'under_way') {
      const pause = LOOKS_MS[looks++];
      if (pause === undefined) return underWay;
      await sleep(pause);
      continue;
    }
    try {
      if (claim && found.payment && standing === 'abandoned' && claim.payment !== request.payment) {
        // If its stream has changed in the meantime, this conflicts and the loop looks again.
        const ended = await handle(
          ports,
          payment,
          paymentStream(claim.payment),
          { type: 'TakeOver' },
          context,
          found.payment,
        );
        if (isRejection(ended)) continue;
      }
      const mine: IdentifierClaim = {
        payment: request.payment,
        requestId: context.requestId ?? context.commandId,
        requestHash: request.requestHash,
        expected: at.head.revision,
      };
      const stream = paymentIdentifierStream(request.hash);
      const command = { type: 'Claim', claim: mine, formerEnded: claim !== null } as const;
      const outcome = await handle(ports, paymentIdentifier, stream, command, context, found.identifier);
      if (!isRejection(outcome)) return { claimed: at };
    } catch (error) {
      if (!(error instanceof RevisionConflict)) throw error;
    }
  }
}

async function find({ log, clock }: IdentifierPorts, { hash }: IdentifiedRequest): Promise<Found> {
  const recorded = await log.read(paymentIdentifierStream(hash));
  const last = recorded.at(-1);
  if (!last) {
    return {
      identifier: { state: paymentIdentifier.initialState, head: NO_STREAM },
      claim: null,
      standing: null,
      payment: null,
    };
  }
  const { data: claim } = decodeEvent(last) as PaymentIdentifierEvent;
  const claimedAt: Micros = toMicros(last.metadata.recordedAt);
  const named = await load(log, payment, paymentStream(claim.payment));
  return {
    identifier: {
      state: { status: 'claimed', claim },
      head: { revision: last.revision, hash: last.metadata.hash },
    },
    claim,
    standing: standingOf(hash, claim, claimedAt, named, clock.now()),
    payment: named,
  };
}
