/**
 * Brings every submitted payment to an outcome, whatever happened to its request (docs/design/payments.md#recovery). It
 * holds no state: the log contains what has to be done, and the read model only shows where to look first.
 */
import type { BaseLogger } from 'pino';
import { folded, type Loaded } from '../../commands/handle.ts';
import { type Payment, type PaymentCommand, type Purchase, payment } from '../../commands/payment/payment.ts';
import {
  broadcast,
  commandFor,
  lookAt,
  lookForExpiry,
  recordOutcome,
  type SettlementPorts,
  type Sighting,
} from '../../commands/payment/settlement.ts';
import { PaymentSubmitted, paymentStream } from '../../events/payment.ts';
import { type Clock, MICROS_PER_MS, MICROS_PER_SECOND, type Micros } from '../../runtime/instant.ts';
import { pause } from '../../runtime/pause.ts';
import { steadyClock } from '../../runtime/steady-clock.ts';
import type { CommandContext } from '../../storage/event-log.ts';
import type { ReadStore } from '../../storage/read-store.ts';
import { Trouble } from '../../storage/trouble.ts';
import { whileHeld } from '../../storage/while-held.ts';
import { continuing, NO_TRACES, type Tracer } from '../../tracing/tracer.ts';
import { DoubtSpan } from './doubt-span.ts';
import { createRecoveryQueue } from './recovery-queue.ts';

export interface PaymentRecoveryPorts extends SettlementPorts {
  readonly readStore: ReadStore;
  readonly logger: Pick<BaseLogger, 'info' | 'warn' | 'error'>;
  /** Unique for this process: `leaseOwner()`, so that the lease of a killed process is acquired at once. */
  readonly owner: string;
  /** Payments that requests of this process handle themselves. */
  readonly underway: ReadonlySet<string>;
  /** A clock that is never adjusted, for pauses; the system's if omitted. */
  readonly steady?: Clock;
  /** Milliseconds between the two lookups of a round; `SECOND_LOOK_MS` if omitted. */
  readonly secondLookMs?: number;
  /** If left out, nothing is traced. */
  readonly tracer?: Tracer;
}

/** The result of one round. */
export interface RecoveryRound {
  settled: number;
  settledLate: number;
  failed: number;
  finalized: number;
  rolledBack: number;
  /** Still without an outcome. */
  pending: number;
}

export interface PaymentRecovery {
  /** Checks once everything that needs it. Needs no lease: expected revisions make it safe. */
  round(): Promise<RecoveryRound>;
  /** Runs rounds under the lease until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

const LEASE = 'payment-recovery';
const LEASE_MS = 15_000;
/** Between rounds: while payments are pending, which is also the rebroadcast interval, and otherwise. */
const BUSY_PAUSE_MS = 2_000;
const IDLE_PAUSE_MS = 5_000;
/** A transaction that was just broadcast has usually landed a slot later. */
const SECOND_LOOK_MS = 500;
/** How long a payment that was given up is checked, and how often. */
export const DOUBT_MICROS: Micros = 3_600 * MICROS_PER_SECOND;
const DOUBT_EVERY_MICROS: Micros = 30 * MICROS_PER_SECOND;
const AT_ONCE = 16;
/** How long a payment without an outcome is skipped after each round; the last value applies from then on. */
const RESTS_MS = [0, 0, 0, 4_000, 8_000] as const;
const LONGEST_REST_MS = 10_000;

export function createPaymentRecovery(ports: PaymentRecoveryPorts): PaymentRecovery {
  const { log, chain, clock, steady = steadyClock, readStore, logger, underway, owner } = ports;
  const { secondLookMs = SECOND_LOOK_MS, tracer = NO_TRACES } = ports;
  const queue = createRecoveryQueue({ log, readStore });
  const trouble = new Trouble(logger, { process: LEASE });
  const doubtSpan = new DoubtSpan(clock, steady, DOUBT_MICROS);
  /** By the steady clock: a wall clock that is set back would delay the next check. */
  let doubtedAt: Micros = Number.NEGATIVE_INFINITY;

  /** Payments without an outcome: how many rounds have checked each, and until when it is skipped. */
  let resting = new Map<string, { readonly rounds: number; readonly until: Micros }>();

  /** Payments for which this process has already raised the alarm. */
  const reported = new Set<string>();

  const run = (signal: AbortSignal): Promise<void> =>
    whileHeld({
      lease: { readStore, clock, steady, owner, name: LEASE, durationMs: LEASE_MS },
      signal,
      standByMs: IDLE_PAUSE_MS,
      backOffMs: () => IDLE_PAUSE_MS,
      work: (_lease, workSignal) => rounds(workSignal),
      failed: (error) => trouble.failed(error, 'payment recovery could not acquire its lease; retrying'),
    });

  return { round, run };

  async function rounds(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      let pauseMs = IDLE_PAUSE_MS;
      try {
        const { pending } = await round(signal);
        if (pending > 0) pauseMs = BUSY_PAUSE_MS;
      } catch (error) {
        trouble.failed(error, 'a round of payment recovery failed; the next one starts again');
      }
      await pause(pauseMs, signal);
    }
  }

  async function round(signal?: AbortSignal): Promise<RecoveryRound> {
    const done: RecoveryRound = { settled: 0, settledLate: 0, failed: 0, finalized: 0, rolledBack: 0, pending: 0 };
    const goOn = () => !signal?.aborted;
    const now = clock.now();
    const waiting: string[] = [];
    const faults: unknown[] = [];
    const forEach = (items: AsyncIterable<string> | readonly string[], act: (hash: string) => Promise<void>) =>
      forEachOf(items, goOn, act, faults);
    const next: typeof resting = new Map();
    await forEach(queue.awaitingOutcome(), async (hash) => {
      const rest = resting.get(hash);
      if (rest && steady.now() < rest.until) next.set(hash, rest);
      else await seekOutcome(hash, done, waiting);
    });
    // First broadcasts may have landed by now; the others have their pauses.
    const fresh = waiting.filter((hash) => !resting.has(hash));
    const still = waiting.filter((hash) => resting.has(hash));
    if (fresh.length) {
      await pause(secondLookMs, signal);
      await forEach(fresh, (hash) => seekOutcome(hash, done, still));
    }
    for (const hash of still) {
      const rounds = (resting.get(hash)?.rounds ?? 0) + 1;
      const restMs = RESTS_MS[rounds - 1] ?? LONGEST_REST_MS;
      next.set(hash, { rounds, until: steady.now() + restMs * MICROS_PER_MS });
    }
    resting = next;
    done.pending = next.size;
    await forEach(queue.awaitingFinality(now), (hash) => seekFinality(hash, done));
    if (steady.now() - doubtedAt >= DOUBT_EVERY_MICROS) {
      doubtedAt = steady.now();
      await forEach(queue.givenUpSince(doubtSpan.from()), (hash) => seekLateSettlement(hash, done));
    }
    // Thrown only now: a payment that cannot be checked must not delay the outcome or finality of others.
    if (faults.length) {
      const message = 'a round of payment recovery could not look at every payment; the next one tries again';
      for (const fault of faults) trouble.failed(fault, message);
    } else trouble.recovered();
    return done;
  }

  async function seekOutcome(hash: string, done: RecoveryRound, waiting: string[]): Promise<void> {
    if (underway.has(hash)) return;
    const found = await loadRecorded(hash);
    const { state } = found.loaded;
    if (state.status !== 'submitted') return;
    const { traceparent } = found;
    await continuing(tracer, LEASE, traceparent, () => lookForOutcome(hash, found, state, done, waiting));
  }

  async function lookForOutcome(
    hash: string,
    found: Recorded,
    state: Extract<Payment, { readonly status: 'submitted' }>,
    done: RecoveryRound,
    waiting: string[],
  ): Promise<void> {
    let sighting = await lookAt(chain, state.submission.transaction);
    if (sighting.seen === 'not_yet') sighting = await lookForExpiry(chain, state.submission);
    const command = commandFor(sighting);
    if (sighting.seen === 'forgotten') reportForgotten(hash, state);
    if (!command) {
      waiting.push(hash);
      await broadcast(chain, state.submission, { everywhere: true });
      return;
    }
    const outcome = await record(found, command);
    if (outcome.status === 'settled') done.settled++;
    if (outcome.status === 'failed') {
      done.failed++;
      logger.warn(
        { payment: hash, requestId: state.authorization.requestId, reason: outcome.reason },
        'a payment failed',
      );
    }
  }

  /**
   * Raises an alarm: the service cannot determine whether the money moved. An operator with a suitable endpoint must.
   */
  function reportForgotten(hash: string, { authorization, submission }: Purchase): void {
    if (reported.has(hash)) return;
    reported.add(hash);
    const { requestId, wallet } = authorization;
    const { transaction } = submission;
    logger.error(
      { payment: hash, requestId, wallet, transaction, alarm: 'payment_history_pruned' },
      'no outcome can be recorded: a chain endpoint no longer has the blocks in which this payment could land; ' +
        'configure endpoints with longer history',
    );
  }

  async function seekFinality(hash: string, done: RecoveryRound): Promise<void> {
    const found = await loadRecorded(hash);
    const { state } = found.loaded;
    if (state.status !== 'settled' || state.finalized) return;
    let sighting = await lookAt(chain, state.submission.transaction);
    if (sighting.seen === 'not_yet') sighting = await lookForExpiry(chain, state.submission);
    const command = finalityCommandFor(sighting);
    if (sighting.seen === 'forgotten') reportForgotten(hash, state);
    if (!command) {
      // The block that contained it may have been dropped. While its blockhash is valid, it can land in another block.
      if (sighting.seen === 'not_yet') await broadcast(chain, state.submission, { everywhere: true });
      return;
    }
    const outcome = await recordInTrace(found, command);
    if (outcome.status === 'settled') done.finalized++;
    if (outcome.status === 'rolled_back') {
      done.rolledBack++;
      const { requestId, wallet } = state.authorization;
      logger.error(
        { payment: hash, requestId, wallet, alarm: 'payment_rolled_back' },
        'an answered payment was undone',
      );
    }
  }

  async function seekLateSettlement(hash: string, done: RecoveryRound): Promise<void> {
    const found = await loadRecorded(hash);
    const { state } = found.loaded;
    if (state.status !== 'failed' && state.status !== 'rolled_back') return;
    const sighting = await lookAt(chain, state.submission.transaction);
    if (sighting.seen !== 'landed') return;
    const outcome = await recordInTrace(found, { type: 'Settle', slot: sighting.slot });
    if (outcome.status !== 'settled') return;
    done.settledLate++;
    const { requestId, wallet } = state.authorization;
    logger.error(
      { payment: hash, requestId, wallet, alarm: 'payment_settled_late' },
      'a payment landed after it had been given up; its answer is at its result URL',
    );
  }

  interface Recorded {
    readonly stream: string;
    readonly loaded: Loaded<Payment>;
    /** The id of the event that caused recovery to handle this payment. */
    readonly cause: string | null;
    /** Of that event. */
    readonly traceparent: string | undefined;
  }

  async function loadRecorded(hash: string): Promise<Recorded> {
    const stream = paymentStream(hash);
    const recorded = await log.read(stream);
    const submitted = recorded.findLast(({ type }) => type === PaymentSubmitted.type);
    return {
      stream,
      loaded: folded(payment, recorded),
      cause: submitted?.id ?? null,
      traceparent: submitted?.metadata.traceparent,
    };
  }

  /** Looks that find nothing new have no span: each settled payment is looked up until it is final. */
  function recordInTrace(found: Recorded, command: PaymentCommand): Promise<Payment> {
    return continuing(tracer, LEASE, found.traceparent, () => record(found, command));
  }

  async function record({ stream, loaded, cause }: Recorded, command: PaymentCommand): Promise<Payment> {
    const requestId = 'authorization' in loaded.state ? loaded.state.authorization.requestId : null;
    const context: CommandContext = {
      // Includes the kind of outcome: two nodes that saw different outcomes must conflict and not look like a repeat.
      commandId: `${cause}/${command.type}`,
      requestId,
      correlationId: requestId ?? `${cause}`,
      causationId: cause,
      actor: LEASE,
    };
    return (await recordOutcome(ports, stream, loaded, command, context)).state;
  }
}

/** The command for a new sighting of a payment that was confirmed before. */
function finalityCommandFor(sighting: Sighting): PaymentCommand | null {
  switch (sighting.seen) {
    case 'landed':
      return sighting.final ? { type: 'Finalize', slot: sighting.slot } : null;
    case 'failed':
      return sighting.final ? { type: 'RollBack', reason: 'failed_on_the_finalized_chain' } : null;
    case 'never':
      return { type: 'RollBack', reason: 'not_on_the_finalized_chain' };
    case 'not_yet':
    case 'forgotten':
      return null;
  }
}

/** Runs a limited number at once. An item's error is added to the faults and does not affect the others. */
async function forEachOf(
  items: AsyncIterable<string> | readonly string[],
  goOn: () => boolean,
  act: (item: string) => Promise<void>,
  faults: unknown[],
): Promise<void> {
  const running = new Set<Promise<void>>();
  for await (const item of items) {
    if (!goOn()) break;
    const one: Promise<void> = act(item)
      .catch((error: unknown) => {
        faults.push(error);
      })
      .finally(() => running.delete(one));
    running.add(one);
    if (running.size >= AT_ONCE) await Promise.race(running);
  }
  await Promise.all(running);
}
