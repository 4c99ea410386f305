/** Payment identifiers against the log: the payment that one names so far, and its claim for a new attempt. */
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

/** One request under an identifier. */
export interface IdentifiedRequest {
  /** Of the wallet and the identifier: the stream's name. */
  readonly hash: string;
  readonly requestHash: string;
  /** Message hash of the payment that this request brings. */
  readonly payment: string;
}

export type SubmittedState = Extract<Payment, Purchase>;

/** The payment that an identifier already names. */
export type Earlier =
  /** This or another payment was submitted for it: that one's outcome is the answer. */
  | { readonly bought: SubmittedState }
  /** Another request, or nothing that can be waited for: not now. */
  | { readonly refused: Problem };

/** Pauses between looks at a claim that is about to be submitted, milliseconds: the time of two appends, generously. */
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
 * The answer to a request under this identifier that must not buy again; null: it may buy. Writes nothing.
 * @throws what reading the log throws
 */
export async function earlierOutcome(ports: IdentifierPorts, request: IdentifiedRequest): Promise<Earlier | null> {
  const found = await find(ports, request);
  const known = earlierOf(found, request);
  if (known) return known;
  // The very payment that was given up under this identifier: it failed, and says so again.
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
  /** The identifier is this payment's, as long as its stream stays as it is here: submit it at exactly this revision. */
  { readonly claimed: Loaded<Payment> } | Earlier;

/**
 * Makes the identifier name this request's payment (docs/design/payments.md#payment-identifier). An attempt that
 * was claimed and never submitted is ended first, on its own stream, so that it can never be submitted after this one.
 * @param at the request's own payment, free to be submitted, as it was last read
 * @throws what the log throws; then nothing was submitted
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
      // Claimed before by a request that died, or by a copy that is still at work: the payment's own stream decides.
      if (found.payment) return { claimed: found.payment };
    } else if (standing === 'under_way') {
      const pause = LOOKS_MS[looks++];
      if (pause === undefined) return underWay;
      await sleep(pause);
      continue;
    }
    try {
      if (claim && found.payment && standing === 'abandoned' && claim.payment !== request.payment) {
        // Anything that happened to it in the meantime causes a conflict, and it is looked at again.
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
