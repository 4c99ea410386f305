/**
 * Removes content that nobody can ask for any more: answers past their time, and what was stored for a payment that
 * failed, once the doubt about its failure has ended. Events keep their hashes; a result whose content is gone is
 * `result_gone`. It runs under a lease, a bounded part at a time, and each step may be repeated.
 */
import type { BaseLogger } from 'pino';
import { load } from '../commands/handle.ts';
import { ANSWER_RETENTION } from '../commands/payment/answer.ts';
import { payment } from '../commands/payment/payment.ts';
import { paymentStream } from '../events/payment.ts';
import { PAYMENTS, type PaymentRecord } from '../projections/payments.ts';
import { type Clock, MICROS_PER_SECOND, type Micros, toInstant } from '../runtime/instant.ts';
import { pause } from '../runtime/pause.ts';
import type { EventLog } from '../storage/event-log.ts';
import { HeldLease } from '../storage/held-lease.ts';
import type { PayloadStore } from '../storage/payload-store.ts';
import type { ReadStore } from '../storage/read-store.ts';
import { Trouble } from '../storage/trouble.ts';
import { DOUBT_MICROS } from './payment-recovery/payment-recovery.ts';

export interface PayloadHousekeepingPorts {
  readonly log: EventLog;
  readonly readStore: ReadStore;
  readonly payloads: PayloadStore;
  readonly clock: Clock;
  readonly logger: Pick<BaseLogger, 'info' | 'warn' | 'error'>;
  /** Unique for this process: `leaseOwner()`. */
  readonly owner: string;
}

export interface HousekeepingRound {
  /** Blobs of failed payments that were removed. */
  readonly unpaid: number;
  /** Answers past their time that were removed. */
  readonly expired: number;
}

export interface PayloadHousekeeping {
  round(signal?: AbortSignal): Promise<HousekeepingRound>;
  /** Rounds under the lease until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

const NAME = 'payload-housekeeping';
const LEASE_MS = 30_000;
const PAUSE_MS = 60_000;
/** Nodes' clocks differ, and a read model may be behind: what is younger is left for a later round. */
const MARGIN: Micros = 600 * MICROS_PER_SECOND;
const PAGE = 200;
/** Blobs that one round removes of those past their time: the next round goes on. */
const MOST_EXPIRED = 2_000;

/** The failed payment that was looked at last. */
type Cursor = { readonly outcomeAt: string; readonly payment: string };

export function createPayloadHousekeeping(ports: PayloadHousekeepingPorts): PayloadHousekeeping {
  const { log, readStore, payloads, clock, logger, owner } = ports;
  const trouble = new Trouble(logger, { process: NAME });
  return { round, run };

  async function run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      let lease: HeldLease | null = null;
      try {
        lease = await HeldLease.take({ readStore, clock, owner, name: NAME, durationMs: LEASE_MS });
        if (lease) {
          const done = await round(AbortSignal.any([signal, lease.lost]));
          if (done.unpaid + done.expired > 0) logger.info(done, 'content that nobody can ask for was removed');
          trouble.recovered();
        }
      } catch (error) {
        trouble.failed(error, 'content that nobody can ask for could not be removed; it is tried again');
      } finally {
        await lease?.release().catch(() => undefined);
      }
      await pause(PAUSE_MS, signal);
    }
  }

  async function round(signal?: AbortSignal): Promise<HousekeepingRound> {
    return { unpaid: await removeUnpaid(signal), expired: await removeExpired(signal) };
  }

  async function removeUnpaid(signal?: AbortSignal): Promise<number> {
    const upTo = toInstant(clock.now() - DOUBT_MICROS - MARGIN);
    let removed = 0;
    for (;;) {
      const { version, value } = await readStore.cell(NAME);
      const cursor = value as Cursor | null;
      const page = await readStore.find<PaymentRecord>({
        collection: PAYMENTS,
        equals: { attention: 'doubt' },
        range: { field: 'outcomeAt', upTo },
        order: { field: 'outcomeAt', direction: 'ascending' },
        limit: PAGE,
        ...(cursor && { after: { value: cursor.outcomeAt, id: cursor.payment } }),
      });
      const last = page.at(-1);
      if (!last || signal?.aborted) return removed;
      for (const { id } of page) removed += await removeOf(id);
      const next = { outcomeAt: last.document.outcomeAt ?? '', payment: last.id };
      // Another process has gone on from here: it repeats what was done.
      if (!(await readStore.compareAndSet(NAME, version, next))) return removed;
      if (page.length < PAGE) return removed;
    }
  }

  /** What the log names for a payment that failed; one that landed late, or was undone, keeps its answer. */
  async function removeOf(hash: string): Promise<number> {
    const { state } = await load(log, payment, paymentStream(hash));
    if (state.status !== 'failed') return 0;
    const { answer, callbacks } = state.answer;
    const names = [...(answer === null ? [] : [answer]), ...callbacks.map(({ target }) => target)];
    for (const name of names) await payloads.remove(name);
    return names.length;
  }

  async function removeExpired(signal?: AbortSignal): Promise<number> {
    const before = toInstant(clock.now() - ANSWER_RETENTION - MARGIN);
    let removed = 0;
    for await (const { name } of payloads.list('answer', before)) {
      if (signal?.aborted || removed >= MOST_EXPIRED) break;
      await payloads.remove(name);
      removed++;
    }
    return removed;
  }
}
