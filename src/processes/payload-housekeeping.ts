/**
 * Removes content that can no longer be requested: what has expired, envelopes of callbacks that were acknowledged, and,
 * by record, content of failed payments once their failure is certain. Events keep the hashes, and a result without
 * content is `result_gone`. Runs under a lease, a limited amount at a time; every step may be repeated.
 */
import type { BaseLogger } from 'pino';
import { DELIVERY_RETENTION } from '../commands/delivery/owed.ts';
import { removeByRecord } from '../commands/docket/redaction.ts';
import { folded } from '../commands/handle.ts';
import { ANSWER_RETENTION } from '../commands/payment/answer.ts';
import { payment } from '../commands/payment/payment.ts';
import { PaymentFailed, paymentOf, QueryAnswered } from '../events/payment.ts';
import { type Clock, MICROS_PER_SECOND, type Micros, toInstant } from '../runtime/instant.ts';
import { steadyClock } from '../runtime/steady-clock.ts';
import type { EventLog, RecordedEvent } from '../storage/event-log.ts';
import { resolveIntact } from '../storage/intact-payloads.ts';
import type { PayloadKind, PayloadStore } from '../storage/payload-store.ts';
import type { ReadStore } from '../storage/read-store.ts';
import { Trouble } from '../storage/trouble.ts';
import { whileHeld } from '../storage/while-held.ts';
import { removeDoneEnvelopes } from './done-envelopes.ts';
import { expiredLooks } from './expired-looks.ts';
import { completeOrders } from './forgetting.ts';
import { LogWitness } from './log-witness.ts';
import { oldestOpenDelivery } from './open-deliveries.ts';
import { DOUBT_MICROS } from './payment-recovery/payment-recovery.ts';
import { removePushedOrphans } from './pushed-orphans.ts';

export interface PayloadHousekeepingPorts {
  readonly log: EventLog;
  readonly readStore: ReadStore;
  readonly payloads: PayloadStore;
  readonly clock: Clock;
  /** A clock that is never adjusted; the system's if omitted. */
  readonly steady?: Clock;
  readonly logger: Pick<BaseLogger, 'info' | 'warn' | 'error'>;
  /** Of the storage: overwrites what removed content left in write-ahead logs. */
  readonly scrub?: (() => Promise<boolean>) | undefined;
  /** Unique for this process: `leaseOwner()`. */
  readonly owner: string;
}

export interface HousekeepingRound {
  /** Removed blobs of failed payments. */
  readonly unpaid: number;
  /** Removed answers, URLs and envelopes that had expired, content of pushed messages that was not needed, pages of expired looks. */
  readonly expired: number;
  /** Removed envelopes of acknowledged callbacks. */
  readonly delivered: number;
  /** Orders to forget that were completed. */
  readonly forgotten: number;
}

export interface PayloadHousekeeping {
  round(signal?: AbortSignal): Promise<HousekeepingRound>;
  /** Runs rounds under the lease until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

const NAME = 'payload-housekeeping';
/** Recorded with the removal. */
const UNPAID = 'its payment failed';
const LEASE_MS = 30_000;
const PAUSE_MS = 60_000;
/** Nodes' clocks differ and a read model may be behind, so younger content is left for a later round. */
const MARGIN: Micros = 600 * MICROS_PER_SECOND;
/** Maximum number of expired blobs of one kind removed per round. */
const MOST_EXPIRED = 2_000;
/** A callback's URL is stored at the sale and kept from the settlement, which may come up to a day later. */
const SETTLED_WITHIN: Micros = 2 * 86_400 * MICROS_PER_SECOND;

const KEPT_FOR: readonly (readonly [PayloadKind, Micros])[] = [
  ['answer', ANSWER_RETENTION],
  ['target', DELIVERY_RETENTION + SETTLED_WITHIN],
  ['envelope', DELIVERY_RETENTION],
];

export function createPayloadHousekeeping(ports: PayloadHousekeepingPorts): PayloadHousekeeping {
  const { log, readStore, payloads, clock, steady = steadyClock, logger, owner } = ports;
  const witness = new LogWitness(log, clock, steady);
  const trouble = new Trouble(logger, { process: NAME });
  const removeExpiredLooks = expiredLooks(ports);
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
        if (done.unpaid + done.expired + done.delivered + done.forgotten > 0)
          logger.info(done, 'content that can no longer be requested was removed');
        trouble.recovered();
      },
      failed: (error) =>
        trouble.failed(error, 'content that can no longer be requested could not be removed; retrying'),
    });
  }

  async function round(signal?: AbortSignal): Promise<HousekeepingRound> {
    await witness.look();
    const unpaid = await removeUnpaid(signal);
    const now = witness.now();
    const expired = now === null ? 0 : await removeExpired(now - MARGIN, signal);
    const pushed = now === null ? 0 : await removePushedOrphans(ports, now - MARGIN, signal);
    const delivered = now === null ? 0 : await removeDoneEnvelopes(ports, now - MARGIN, signal);
    const looks = await removeExpiredLooks(signal);
    return { unpaid, expired: expired + pushed + looks, delivered, forgotten: await completeOrders(ports, signal) };
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
        if (paymentOf(event.stream) !== null && event.position <= upTo) removed += await removeOf(event);
      }
      if (position >= upTo) break;
      // If another process has moved the cursor, that process continues.
      if (!(await readStore.compareAndSet(NAME, version++, { position }))) return removed;
    }
    if (!signal?.aborted) await readStore.compareAndSet(NAME, version, { position: upTo });
    return removed;
  }

  /** Removes the content of a failed payment. A payment that landed late or was rolled back keeps its answer. */
  async function removeOf({ id, stream }: RecordedEvent): Promise<number> {
    const { state, recorded } = folded(payment, await log.read(stream));
    const answered = recorded.findLast(({ type }) => type === QueryAnswered.type);
    if (state.status !== 'failed' || !answered) return 0;
    const { answer, callbacks } = state.answer;
    const named = [...(answer === null ? [] : [answer]), ...callbacks.map(({ target }) => target)];
    const { found, damaged } = await resolveIntact(payloads, named);
    // What an operator has withdrawn was removed by a record of its own.
    const names = named.filter((name) => damaged.has(name) || found.get(name)?.replaced === false);
    for (const name of names) {
      const redaction = { name, stream, revision: answered.revision, filingIds: [], reason: UNPAID, by: NAME };
      await removeByRecord(ports, redaction, {
        commandId: `unpaid-${id}-${name}`,
        requestId: state.authorization.requestId,
        correlationId: state.authorization.requestId,
        causationId: id,
        actor: NAME,
      });
    }
    return names.length;
  }

  async function removeExpired(now: Micros, signal?: AbortSignal): Promise<number> {
    let removed = 0;
    // A callback may be open for longer than its content is kept for: its host is paused.
    const oldestOpen = await oldestOpenDelivery(ports, now);
    for (const [kind, retention] of KEPT_FOR) {
      if (kind !== 'answer' && oldestOpen === null) continue;
      const stillNeeded = kind === 'answer' || oldestOpen === null ? now : oldestOpen - SETTLED_WITHIN;
      let ofKind = 0;
      for await (const { name } of payloads.list(kind, toInstant(Math.min(now - retention, stillNeeded)))) {
        if (signal?.aborted || ofKind >= MOST_EXPIRED) break;
        await payloads.remove(name);
        ofKind++;
      }
      removed += ofKind;
    }
    return removed;
  }
}
