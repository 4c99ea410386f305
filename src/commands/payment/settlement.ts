/**
 * From the first broadcast to the outcome: shared by the request that pays and by the recovery that finishes what a
 * request could not. Either records what it sees on the chain by one append; if both see it, one of them records it.
 */
import type { PaymentEvent } from '../../events/payment.ts';
import { type Clock, toMicros } from '../../runtime/instant.ts';
import { pause } from '../../runtime/pause.ts';
import { BLOCKHASH_LIFE_BLOCKS, type Chain, ChainUnavailable, type SignatureStatus } from '../../solana/chain.ts';
import { networkFeeOf } from '../../solana/network-fee.ts';
import type { CommandContext, EventLog } from '../../storage/event-log.ts';
import type { ReadStore } from '../../storage/read-store.ts';
import { isRejection } from '../decider.ts';
import { handleWithRetry, type Loaded, load } from '../handle.ts';
import { giveBack, reservedUntil } from '../purchase/reservation.ts';
import type { SponsorBudget } from '../purchase/sponsor-budget.ts';
import type { WaitingLines } from '../purchase/waiting-lines.ts';
import { countSettlementFailure } from '../purchase/wallet-limits.ts';
import { answeredAt } from './answer.ts';
import { isSubmitted, type Payment, type PaymentCommand, type Purchase, payment } from './payment.ts';

export interface SettlementPorts {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly chain: Chain;
  readonly readStore: Pick<ReadStore, 'increment' | 'incrementInTurn'>;
  /** Counts what failed sponsored payments cost; left out, nothing bounds it. */
  readonly sponsoring?: Pick<SponsorBudget, 'lost' | 'pause'> | undefined;
  /** Where the wallet's other payments wait for this one to be decided; left out where none does. */
  readonly lines?: Pick<WaitingLines, 'nudge'>;
}

/** What one look at the chain says of a submitted transaction. */
export type Sighting =
  | { readonly seen: 'landed'; readonly slot: number; readonly final: boolean }
  | { readonly seen: 'failed'; readonly detail: string; readonly final: boolean }
  /** Unknown so far, or known but not yet confirmed. */
  | { readonly seen: 'not_yet' }
  /** It can no longer land, and no endpoint has seen it. */
  | { readonly seen: 'never' }
  /** It can no longer land, but an endpoint's history does not reach back to when it could: the outcome is unknown. */
  | { readonly seen: 'forgotten' };

const NOT_YET: Sighting = { seen: 'not_yet' };

function sightingOf(status: SignatureStatus | null): Sighting {
  if (!status || status.commitment === 'processed') return NOT_YET;
  const final = status.commitment === 'finalized';
  return status.error === null
    ? { seen: 'landed', slot: status.slot, final }
    : { seen: 'failed', detail: status.error, final };
}

/** Asks once. An endpoint that does not answer has seen nothing. */
export async function lookAt(chain: Chain, transaction: string): Promise<Sighting> {
  try {
    return sightingOf(await chain.signatureStatus(transaction));
  } catch (error) {
    if (error instanceof ChainUnavailable) return NOT_YET;
    throw error;
  }
}

/**
 * Whether a transaction can never land any more: by the word of every endpoint the *finalized* height is past its last
 * valid one, and every one, asked after that, knows no such signature though its history reaches back to when the
 * transaction could land. Anything less is not yet known.
 */
export async function lookForExpiry(
  chain: Chain,
  { transaction, lastValidBlockHeight }: Purchase['submission'],
): Promise<Sighting> {
  try {
    if ((await chain.blockHeight('finalized')) <= lastValidBlockHeight) return NOT_YET;
    // The word of one is not enough to give a payment up: an endpoint that errs, or serves another chain, may be far ahead.
    if ((await chain.blockHeight('finalized', { unanimous: true })) <= lastValidBlockHeight) return NOT_YET;
    const status = await chain.signatureStatus(transaction, { unanimous: true });
    if (status) return sightingOf(status);
    // Asked last: what an endpoint has by now, it had when it was asked for the signature.
    const landsAfter = lastValidBlockHeight - BLOCKHASH_LIFE_BLOCKS;
    return { seen: (await chain.historyFrom()) <= Math.max(0, landsAfter) ? 'never' : 'forgotten' };
  } catch (error) {
    if (error instanceof ChainUnavailable) return NOT_YET;
    throw error;
  }
}

/**
 * Sends the signed bytes. They may reach the cluster even if an endpoint says otherwise: only a lookup can tell.
 * @returns false where the chain would not run them as things are, so that sending again soon is of little use
 */
export async function broadcast(
  chain: Chain,
  { wire, transaction }: Purchase['submission'],
  { everywhere = false } = {},
): Promise<boolean> {
  try {
    const outcome = await chain.send(Buffer.from(wire, 'base64'), { everywhere, signature: transaction });
    return outcome.sent || outcome.code === 'BlockhashNotFound';
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    return true;
  }
}

/** The command that a sighting of a submitted payment calls for; null for none yet. */
export function commandFor(sighting: Sighting): PaymentCommand | null {
  switch (sighting.seen) {
    case 'landed':
      return { type: 'Settle', slot: sighting.slot };
    case 'failed':
      return { type: 'Fail', reason: 'on_chain_error', detail: sighting.detail };
    case 'never':
      return { type: 'Fail', reason: 'expired', detail: null };
    case 'not_yet':
    case 'forgotten':
      return null;
  }
}

/**
 * Records the outcome of a payment, unless another process has recorded it already.
 * @returns the payment after that
 */
export async function recordOutcome(
  ports: SettlementPorts,
  stream: string,
  known: Loaded<Payment>,
  command: PaymentCommand,
  context: CommandContext,
): Promise<Loaded<Payment>> {
  const outcome = await handleWithRetry(ports, payment, stream, command, context, { known });
  // The rules rejected it: the stream already has the outcome.
  if (isRejection(outcome)) return load(ports.log, payment, stream);
  await countCost(ports, outcome.state, outcome.events);
  return outcome;
}

/** What the first outcome of a payment means for its wallet's limits, and for what we pay in fees. */
async function countCost(ports: SettlementPorts, state: Payment, events: readonly PaymentEvent[]): Promise<void> {
  if (!isSubmitted(state)) return;
  const { wallet, amount, dialect } = state.authorization;
  const first = events.find(({ type }) => type === 'PaymentSettled' || type === 'PaymentFailed');
  if (!first) return;
  // The failure first: the payment that gets the freed place must see it.
  if (first.type === 'PaymentFailed') {
    // Only we broadcast a sponsored payment: that one expired is our fault or the network's, and no sign of its wallet.
    const isWallets = dialect === 'self-paid' || first.data.reason === 'on_chain_error';
    if (isWallets) await countSettlementFailure(ports, wallet);
    if (dialect !== 'self-paid' && first.data.reason === 'on_chain_error') {
      await ports.sponsoring?.lost(networkFeeOf(Buffer.from(state.submission.wire, 'base64')));
    }
  }
  // A recorded outcome stays recorded, and freeing the reservation must not delay it: one that is not freed ends with its
  // window, and until then can only make the wallet's next payment wait.
  giveBack(ports, wallet, BigInt(amount), reservedUntil(toMicros(answeredAt(state.answer)))).then(
    () => ports.lines?.nudge(wallet),
    () => undefined,
  );
}

/** How soon after a broadcast the chain is asked again, milliseconds, and how often after that. */
const LOOK_AFTER_MS = [10, 20, 40, 80, 120, 200] as const;
const LAST_LOOK_MS = 250;
/** Past those each pause is so much longer than the one before, up to the longest. */
const LOOK_GROWTH = 1.25;
const LONGEST_LOOK_MS = 2_000;
/** A broadcast that every endpoint refuses is tried ever less often, up to this many milliseconds. */
const LONGEST_RESEND_MS = 16_000;

const lookAfter = (looks: number): number =>
  LOOK_AFTER_MS[looks] ?? Math.min(LONGEST_LOOK_MS, LAST_LOOK_MS * LOOK_GROWTH ** (looks - LOOK_AFTER_MS.length));
/**
 * How long the last round may take when time is up, milliseconds. A silent endpoint holds each call for seconds, and a
 * round has several: the caller, whose patience ends too, gets 202 rather than nothing.
 */
const LAST_ROUND_WITHIN_MS = 1_000;

export interface Watch {
  /** When to give up waiting, by the monotonic clock (`performance.now()`), milliseconds. */
  readonly until: number;
  readonly signal: AbortSignal;
  /** Milliseconds between two broadcasts. */
  readonly rebroadcastMs: number;
}

/**
 * Broadcasts a claimed payment and waits for its outcome, looking again ever less often and sending again now and then.
 * @returns the payment once its outcome is recorded; or, when time is up, still `submitted`
 */
export async function settle(
  ports: SettlementPorts,
  stream: string,
  submitted: Loaded<Payment> & { readonly state: Extract<Payment, { status: 'submitted' }> },
  context: CommandContext,
  { until, signal, rebroadcastMs }: Watch,
): Promise<Loaded<Payment>> {
  const { submission } = submitted.state;
  const look = () => lookAt(ports.chain, submission.transaction);
  let sentAt = Number.POSITIVE_INFINITY;
  let resendMs = rebroadcastMs;
  const round = async (): Promise<Sighting> => {
    let sighting = await look();
    if (sighting.seen === 'not_yet' && performance.now() - sentAt >= resendMs) {
      sighting = await lookForExpiry(ports.chain, submission);
      if (sighting.seen === 'not_yet') {
        const isAccepted = await broadcast(ports.chain, submission, { everywhere: true });
        resendMs = isAccepted ? rebroadcastMs : Math.min(LONGEST_RESEND_MS, 2 * resendMs);
      }
      sentAt = performance.now();
    }
    return sighting;
  };
  // The first look goes with the broadcast, in the same request where others are under way: an endpoint that has seen
  // the transaction land by the time it answers says so at once.
  const first = async (): Promise<Sighting> => {
    const [sighting] = await Promise.all([look(), broadcast(ports.chain, submission)]);
    sentAt = performance.now();
    return sighting;
  };
  const over = new AbortController();
  const late = pause(until + LAST_ROUND_WITHIN_MS - performance.now(), over.signal).then(() => null);
  try {
    for (let looks = 0; ; looks++) {
      const sighting = await Promise.race([looks === 0 ? first() : round(), late]);
      if (sighting === null) return submitted;
      const command = commandFor(sighting);
      if (command) return await recordOutcome(ports, stream, submitted, command, context);
      const lookAfterMs = Math.min(lookAfter(looks), until - performance.now());
      if (lookAfterMs <= 0 || signal.aborted) return submitted;
      // After a pause that was cut short there is one last look, and then the answer is 202.
      await pause(lookAfterMs, signal);
    }
  } finally {
    over.abort();
  }
}
