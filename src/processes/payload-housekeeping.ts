/**
 * Removes content that can no longer be requested: expired answers, and content of failed payments once their failure
 * is certain. Events keep the hashes, and a result without content is `result_gone`. Runs under a lease, a limited
 * amount at a time; every step may be repeated.
 */
import type { BaseLogger } from 'pino';
import { load } from '../commands/handle.ts';
import { ANSWER_RETENTION } from '../commands/payment/answer.ts';
import { payment } from '../commands/payment/payment.ts';
import { PaymentFailed, paymentOf, paymentStream } from '../events/payment.ts';
import { type Clock, MICROS_PER_SECOND, type Micros, toInstant } from '../runtime/instant.ts';
import { steadyClock } from '../runtime/steady-clock.ts';
import type { EventLog } from '../storage/event-log.ts';
import type { PayloadStore } from '../storage/payload-store.ts';
import type { ReadStore } from '../storage/read-store.ts';
import { Trouble } from '../storage/trouble.ts';
import { whileHeld } from '../storage/while-held.ts';
import { LogWitness } from './log-witness.ts';
import { DOUBT_MICROS } from './payment-recovery/payment-recovery.ts';

export interface PayloadHousekeepingPorts {
  readonly log: EventLog;
  readonly readStore: ReadStore;
  readonly payloads: PayloadStore;
  readonly clock: Clock;
  /** A clock that is never adjusted; the system's if omitted. */
  readonly steady?: Clock;
  readonly logger: Pick<BaseLogger, 'info' | 'warn' | 'error'>;
  /** Unique for this process: `leaseOwner()`. */
  readonly owner: string;
}

export interface HousekeepingRound {
  /** Removed blobs of failed payments. */
  readonly unpaid: number;
  /** Removed answers that had expired. */
  readonly expired: number;
}

export interface PayloadHousekeeping {
  round(signal?: AbortSignal): Promise<HousekeepingRound>;
  /** Runs rounds under the lease until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

const NAME = 'payload-housekeeping';
const LEASE_MS = 30_000;
const PAUSE_MS = 60_000;
/** Nodes' clocks differ and a read model may be behind, so younger content is left for a later round. */
const MARGIN: Micros = 600 * MICROS_PER_SECOND;
/** Maximum number of expired blobs removed per round. */
const MOST_EXPIRED = 2_000;

export function createPayloadHousekeeping(ports: PayloadHousekeepingPorts): PayloadHousekeeping {
  const { log, readStore, payloads, clock, steady = steadyClock, logger, owner } = ports;
  const witness = new LogWitness(log, clock, steady);
  const trouble = new Trouble(logger, { process: NAME });
  return { round, run };

  function run(signal: AbortSignal): Promise<void> {
    return whileHeld({
      lease: { readStore, clock, steady, owner, name: NAME, durationMs: LEASE_MS },
      signal,
      standByMs: PAUSE_MS,
      restMs: PAUSE_MS,
      backOffMs: () => PAUSE_MS,
      standBy: () => witness.look(),
      async work(_lease, workSignal) {
        const done = await round(workSignal);
        if (done.unpaid + done.expired > 0) logger.info(done, 'content that can no longer be requested was removed');
        trouble.recovered();
      },
      failed: (error) =>
        trouble.failed(error, 'content that can no longer be requested could not be removed; retrying'),
    });
  }

  async function round(signal?: AbortSignal): Promise<HousekeepingRound> {
    await witness.look();
    return { unpaid: await removeUnpaid(signal), expired: await removeExpired(signal) };
  }

  async function removeUnpaid(signal?: AbortSignal): Promise<number> {
    // By the steady clock, like recovery's own doubt period. Times in events come from the clock of the recording node.
    const upTo = witness.settledUpTo(DOUBT_MICROS + MARGIN);
    if (upTo === null) return 0;
    const { value, ...cell } = await readStore.cell(NAME);
    let { version } = cell;
    const at = typeof value?.position === 'string' ? value.position : null;
    // A position beyond the log's end is from before a restore. Starting again loses nothing.
    const cursor = at !== null && at > upTo ? null : at;
    if (cursor === upTo) return 0;
    let removed = 0;
    for await (const { events, position } of log.readAll(cursor, { by: 'types', types: [PaymentFailed.type] })) {
      for (const event of events) {
        if (signal?.aborted) return removed;
        const hash = paymentOf(event.stream);
        if (hash !== null && event.position <= upTo) removed += await removeOf(hash);
      }
      if (position >= upTo) break;
      // If another process has moved the cursor, that process continues.
      if (!(await readStore.compareAndSet(NAME, version++, { position }))) return removed;
    }
    if (!signal?.aborted) await readStore.compareAndSet(NAME, version, { position: upTo });
    return removed;
  }

  /** Removes the content of a failed payment. A payment that landed late or was rolled back keeps its answer. */
  async function removeOf(hash: string): Promise<number> {
    const { state } = await load(log, payment, paymentStream(hash));
    if (state.status !== 'failed') return 0;
    const { answer, callbacks } = state.answer;
    const names = [...(answer === null ? [] : [answer]), ...callbacks.map(({ target }) => target)];
    for (const name of names) await payloads.remove(name);
    return names.length;
  }

  async function removeExpired(signal?: AbortSignal): Promise<number> {
    const now = witness.now();
    if (now === null) return 0;
    const before = toInstant(now - ANSWER_RETENTION - MARGIN);
    let removed = 0;
    for await (const { name } of payloads.list('answer', before)) {
      if (signal?.aborted || removed >= MOST_EXPIRED) break;
      await payloads.remove(name);
      removed++;
    }
    return removed;
  }
}
