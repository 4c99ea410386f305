/**
 * What follows a settlement besides its answer: schedules callbacks and completes calls on keys
 * (docs/design/payments.md#after-settlement). It covers every settled payment, whichever process saw it settle and
 * whether or not that process survived. It follows the log with its own cursor, so it skips no settlement; every step
 * may be repeated.
 */
import type { BaseLogger } from 'pino';
import { from, lastValueFrom, mergeMap } from 'rxjs';
import { type SchedulePorts, scheduleOwed } from '../commands/delivery/owed.ts';
import { load } from '../commands/handle.ts';
import { type Purchase, payment } from '../commands/payment/payment.ts';
import { PaymentSettled, PaymentSettledLate, paymentOf } from '../events/payment.ts';
import { pause } from '../runtime/pause.ts';
import type { CommandContext, Position, RecordedEvent } from '../storage/event-log.ts';
import { type HeldLease, LeaseLost } from '../storage/held-lease.ts';
import type { ReadStore } from '../storage/read-store.ts';
import { StorageFailure } from '../storage/storage-failure.ts';
import { Trouble } from '../storage/trouble.ts';
import { whileHeld } from '../storage/while-held.ts';
import { continuing, NO_TRACES, type Tracer } from '../tracing/tracer.ts';

export interface AfterSettlementPorts extends SchedulePorts {
  readonly readStore: ReadStore;
  readonly logger: Pick<BaseLogger, 'info' | 'warn' | 'error'>;
  /** Unique for this process: `leaseOwner()`. */
  readonly owner: string;
  /** Creates the wallet's first key if it has none: a first callback needs one (docs/design/interface.md#3.2). */
  ensureKey(wallet: string, context: CommandContext): Promise<unknown>;
  /** If left out, nothing is traced. */
  readonly tracer?: Tracer;
  /** Completes a call on the wallet's keys. Idempotent. */
  applyKeyCall(purchase: Purchase, context: CommandContext): Promise<unknown>;
}

export interface AfterSettlement {
  /** Follows the log under a lease until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

const NAME = 'after-settlement';
const LEASE_MS = 15_000;
/** How often a process that is not the owner tries to become it. */
const STANDBY_MS = 1_000;
const AT_ONCE = 16;
/** The stored cursor may lag. Events after it are processed again, without effect. */
const SAVE_EVERY_MS = 500;
/** After this many failures of its own, a settlement is set aside so that others can continue. */
const TRIES = 4;
const TRY_AGAIN_MS = 250;
/** How often settlements that were set aside are retried. */
const RETRY_LEFT_MS = 60_000;

/** A settlement whose steps could not be completed yet. */
interface LeftBehind {
  readonly stream: string;
  readonly revision: number;
}

interface Cursor {
  readonly position: Position | null;
  readonly left: readonly LeftBehind[];
}

/**
 * Starts again with the first settlement, because the log is older than the cursor. Completed steps have no second
 * effect.
 */
export async function forgetCursor(readStore: ReadStore): Promise<void> {
  for (;;) {
    const { version, value } = await readStore.cell(NAME);
    if (value === null || value.position === null) return;
    if (await readStore.compareAndSet(NAME, version, { position: null, left: [] })) return;
  }
}

export function createAfterSettlement(ports: AfterSettlementPorts): AfterSettlement {
  const { readStore, clock, owner, logger } = ports;
  return {
    run(signal) {
      const trouble = new Trouble(logger, { process: NAME });
      return whileHeld({
        lease: { readStore, clock, owner, name: NAME, durationMs: LEASE_MS },
        signal,
        standByMs: STANDBY_MS,
        work: (lease, workSignal, progressed) =>
          new Following(ports, lease, workSignal).run(() => {
            progressed();
            trouble.recovered();
          }),
        failed: (error) => trouble.failed(error, 'callbacks and calls on keys wait for the storage; retrying'),
      });
    },
  };
}

/** The work under one lease. */
class Following {
  readonly #ports: AfterSettlementPorts;
  readonly #lease: HeldLease;
  readonly #signal: AbortSignal;
  #version = 0;
  #saved: Cursor = { position: null, left: [] };
  #position: Position | null = null;
  readonly #left = new Map<string, LeftBehind>();
  #savedAt = Number.NEGATIVE_INFINITY;
  #saving: Promise<void> = Promise.resolve();

  constructor(ports: AfterSettlementPorts, lease: HeldLease, signal: AbortSignal) {
    this.#ports = ports;
    this.#lease = lease;
    this.#signal = signal;
  }

  async run(wentWell: () => void): Promise<void> {
    await this.#readCursor();
    const retrying = setInterval(() => {
      this.#retryLeft().catch(() => undefined);
    }, RETRY_LEFT_MS);
    try {
      await this.#retryLeft();
      const types = [PaymentSettled.type, PaymentSettledLate.type];
      for await (const batch of this.#ports.log.subscribe(this.#position, { by: 'types', types }, this.#signal)) {
        await this.#conclude(batch.events.filter(({ data }) => data.owes));
        if (this.#signal.aborted) break;
        this.#position = batch.position;
        if (performance.now() - this.#savedAt >= SAVE_EVERY_MS) await this.#save();
        wentWell();
      }
    } finally {
      clearInterval(retrying);
      await this.#save().catch(() => undefined);
    }
    if (this.#lease.lost.aborted) throw new LeaseLost(NAME);
  }

  #conclude(settlements: readonly RecordedEvent[]): Promise<void> {
    const each = from(settlements).pipe(mergeMap((settlement) => this.#concludeOne(settlement), AT_ONCE));
    return lastValueFrom(each, { defaultValue: undefined });
  }

  /** @throws StorageFailure; then processing stops, because the next settlement would fail in the same way */
  async #concludeOne(settlement: RecordedEvent): Promise<void> {
    const { stream, revision } = settlement;
    for (let attempt = 1; !this.#signal.aborted; attempt++) {
      try {
        await drawConsequences(this.#ports, settlement);
        this.#left.delete(stream);
        return;
      } catch (error) {
        if (error instanceof StorageFailure) throw error;
        if (attempt < TRIES) {
          await pause(TRY_AGAIN_MS * attempt, this.#signal);
          continue;
        }
        const alarm = 'settlement_left_behind';
        this.#ports.logger.error(
          { err: error, stream, alarm },
          'the callbacks or the key call of a settled payment failed; retrying every minute',
        );
        this.#left.set(stream, { stream, revision });
        await this.#save();
        return;
      }
    }
  }

  async #retryLeft(): Promise<void> {
    for (const { stream, revision } of [...this.#left.values()]) {
      const [settlement] = await this.#ports.log.read(stream, { from: revision, limit: 1 });
      if (settlement) await this.#concludeOne(settlement);
    }
  }

  async #readCursor(): Promise<void> {
    const { version, value } = await this.#ports.readStore.cell(NAME);
    this.#version = version;
    this.#saved = (value as Cursor | null) ?? this.#saved;
    this.#position = this.#saved.position;
    for (const one of this.#saved.left) this.#left.set(one.stream, one);
  }

  /** @throws LeaseLost if another process has moved the cursor */
  #save(): Promise<void> {
    // Sequential: each save uses the version that the previous one created.
    this.#saving = this.#saving.catch(() => undefined).then(() => this.#saveNow());
    return this.#saving;
  }

  async #saveNow(): Promise<void> {
    const cursor: Cursor = { position: this.#position, left: [...this.#left.values()] };
    if (JSON.stringify(cursor) === JSON.stringify(this.#saved)) return;
    const value = { position: cursor.position, left: cursor.left.map((one) => ({ ...one })) };
    if (!(await this.#ports.readStore.compareAndSet(NAME, this.#version, value))) throw new LeaseLost(NAME);
    this.#version++;
    this.#saved = cursor;
    this.#savedAt = performance.now();
  }
}

/** Completes the steps of one settlement. */
async function drawConsequences(ports: AfterSettlementPorts, settlement: RecordedEvent): Promise<void> {
  const { state } = await load(ports.log, payment, settlement.stream);
  const hash = paymentOf(settlement.stream);
  // A payment that was rolled back owes nothing. If it lands later after all, it is settled again.
  if (hash === null || state.status !== 'settled') return;
  const { requestId, wallet } = state.authorization;
  const context: CommandContext = {
    commandId: settlement.id,
    requestId,
    correlationId: requestId,
    causationId: settlement.id,
    actor: NAME,
  };
  const owed = async () => {
    if (state.answer.keyCall) await ports.applyKeyCall(state, context);
    if (state.answer.callbacks.length === 0) return;
    await ports.ensureKey(wallet, context);
    await scheduleOwed(ports, hash, state, context);
  };
  await continuing(ports.tracer ?? NO_TRACES, NAME, settlement.metadata.traceparent, owed, {
    kind: 'consumer',
    attributes: { 'docket.request_id': requestId },
  });
}
