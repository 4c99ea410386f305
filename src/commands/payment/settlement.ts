/**
 * Settlement from the first broadcast to the outcome. The paying request and the recovery process share it. Each
 * records what it sees on the chain by one append; if both see it, only one is recorded.
 */
import type { PaymentEvent } from '../../events/payment.ts';
import { type Clock, toMicros } from '../../runtime/instant.ts';
import { pause } from '../../runtime/pause.ts';
import { BLOCKHASH_LIFE_BLOCKS, type Chain, ChainUnavailable, type SignatureStatus } from '../../solana/chain.ts';
import { networkFeeOf } from '../../solana/network-fee.ts';
import type { CommandContext, EventLog } from '../../storage/event-log.ts';
import type { ReadStore } from '../../storage/read-store.ts';
import { annotate, inSpan } from '../../tracing/span.ts';
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
  /** Counts the cost of failed sponsored payments; not counted if omitted. */
  readonly sponsoring?: Pick<SponsorBudget, 'lost' | 'pause'> | undefined;
  /** Called with each outcome that this process has recorded. Never throws. */
  readonly outcomeRecorded?: ((payment: Purchase, events: readonly PaymentEvent[]) => void) | undefined;
  /** Where other payments of the wallet wait for this outcome; omitted if none can wait. */
  readonly lines?: Pick<WaitingLines, 'nudge'>;
}

/** What one lookup on the chain shows about a submitted transaction. */
export type Sighting =
  | { readonly seen: 'landed'; readonly slot: number; readonly final: boolean }
  | { readonly seen: 'failed'; readonly detail: string; readonly final: boolean }
  /** Unknown so far, or known but not confirmed. */
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

/** Asks once. No response counts as not seen. */
export async function lookAt(chain: Chain, transaction: string): Promise<Sighting> {
  try {
    return sightingOf(await chain.signatureStatus(transaction));
  } catch (error) {
    if (error instanceof ChainUnavailable) return NOT_YET;
    throw error;
  }
}

/**
 * Whether a transaction can never land any more. Every endpoint must report a *finalized* height past the transaction's
 * last valid one. After that, every endpoint must report the signature as unknown, with a history that reaches back to
 * when the transaction could land. Otherwise the result is `not_yet`.
 */
export async function lookForExpiry(
  chain: Chain,
  { transaction, lastValidBlockHeight }: Purchase['submission'],
): Promise<Sighting> {
  try {
    if ((await chain.blockHeight('finalized')) <= lastValidBlockHeight) return NOT_YET;
    // One endpoint is not enough to give up a payment: if it is faulty or serves another chain, it may be far ahead.
    if ((await chain.blockHeight('finalized', { unanimous: true })) <= lastValidBlockHeight) return NOT_YET;
    const status = await chain.signatureStatus(transaction, { unanimous: true });
    if (status) return sightingOf(status);
    // Asked last: history that an endpoint has now, it also had when it looked up the signature.
    const landsAfter = lastValidBlockHeight - BLOCKHASH_LIFE_BLOCKS;
    return { seen: (await chain.historyFrom()) <= Math.max(0, landsAfter) ? 'never' : 'forgotten' };
  } catch (error) {
    if (error instanceof ChainUnavailable) return NOT_YET;
    throw error;
  }
}

/**
 * Sends the signed bytes. They may reach the cluster even if an endpoint reports an error; only a lookup can tell.
 * @returns false if the chain currently rejects the transaction, so that resending soon is of little use
 */
export async function broadcast(
  chain: Chain,
  { wire, transaction }: Purchase['submission'],
  { everywhere = false } = {},
): Promise<boolean> {
  try {
    const send = () => chain.send(Buffer.from(wire, 'base64'), { everywhere, signature: transaction });
    const outcome = await inSpan('broadcast', async () => {
      const sent = await send();
      annotate('docket.broadcast.outcome', sent.sent ? 'sent' : sent.code);
      return sent;
    });
    return outcome.sent || outcome.code === 'BlockhashNotFound';
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    return true;
  }
}

/** The command for a sighting of a submitted payment; null if there is none yet. */
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
 * Records the outcome of a payment unless another process has.
 * @returns the payment afterwards
 */
export async function recordOutcome(
  ports: SettlementPorts,
  stream: string,
  known: Loaded<Payment>,
  command: PaymentCommand,
  context: CommandContext,
): Promise<Loaded<Payment>> {
  const outcome = await handleWithRetry(ports, payment, stream, command, context, { known });
  // The decider rejected it because the stream already has the outcome.
  if (isRejection(outcome)) return load(ports.log, payment, stream);
  if (isSubmitted(outcome.state)) ports.outcomeRecorded?.(outcome.state, outcome.events);
  await countCost(ports, outcome.state, outcome.events);
  return outcome;
}

/** Updates the wallet's limits and our fee costs after the first outcome of a payment. */
async function countCost(ports: SettlementPorts, state: Payment, events: readonly PaymentEvent[]): Promise<void> {
  if (!isSubmitted(state)) return;
  const { wallet, amount, dialect } = state.authorization;
  const first = events.find(({ type }) => type === 'PaymentSettled' || type === 'PaymentFailed');
  if (!first) return;
  // The failure is counted first: the payment that gets the freed slot must see it.
  if (first.type === 'PaymentFailed') {
    // Only we broadcast a sponsored payment, so its expiry is our fault or the network's, never the wallet's.
    const isWallets = dialect === 'self-paid' || first.data.reason === 'on_chain_error';
    if (isWallets) await countSettlementFailure(ports, wallet);
    if (dialect !== 'self-paid' && first.data.reason === 'on_chain_error') {
      await ports.sponsoring?.lost(networkFeeOf(Buffer.from(state.submission.wire, 'base64')));
    }
  }
  // The outcome is already recorded, so a failure here must not delay it. A reservation that is not released expires
  // with its window; until then it can only delay the wallet's next payment.
  giveBack(ports, wallet, BigInt(amount), reservedUntil(toMicros(answeredAt(state.answer)))).then(
    () => ports.lines?.nudge(wallet),
    () => undefined,
  );
}

/** Pauses before each lookup after a broadcast, milliseconds. */
const LOOK_AFTER_MS = [10, 20, 40, 80, 120, 200] as const;
const LAST_LOOK_MS = 250;
/** After those, each pause grows by this factor up to the longest one. */
const LOOK_GROWTH = 1.25;
const LONGEST_LOOK_MS = 2_000;
/** If every endpoint rejects a broadcast, resends become less frequent, up to this interval in milliseconds. */
const LONGEST_RESEND_MS = 16_000;

const lookAfter = (looks: number): number =>
  LOOK_AFTER_MS[looks] ?? Math.min(LONGEST_LOOK_MS, LAST_LOOK_MS * LOOK_GROWTH ** (looks - LOOK_AFTER_MS.length));
/**
 * How long the last round may take after the deadline, milliseconds. A silent endpoint holds each call for seconds and
 * a round has several calls; the caller gets a 202 in time instead.
 */
const LAST_ROUND_WITHIN_MS = 1_000;

export interface Watch {
  /** When to stop waiting, by the monotonic clock (`performance.now()`), milliseconds. */
  readonly until: number;
  readonly signal: AbortSignal;
  /** Milliseconds between two broadcasts. */
  readonly rebroadcastMs: number;
}

/**
 * Broadcasts a claimed payment and waits for its outcome, with lookups at growing intervals and occasional resends.
 * @returns the payment once its outcome is recorded, or still `submitted` after the deadline
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
  // The first lookup is sent with the broadcast, batched with other calls if there are any. An endpoint that already
  // sees the transaction reports it immediately.
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
      // If the pause was cut short, one last lookup follows, and then the answer is 202.
      await pause(lookAfterMs, signal);
    }
  } finally {
    over.abort();
  }
}
