/**
 * What follows a settlement besides its answer: schedules callbacks and completes calls on keys
 * (docs/design/payments.md#after-settlement). It covers every settled payment, whichever process saw it settle and
 * whether or not that process survived. Every step may be repeated.
 */
import { from, lastValueFrom, mergeMap } from 'rxjs';
import { type SchedulePorts, scheduleOwed } from '../commands/delivery/owed.ts';
import { load } from '../commands/handle.ts';
import { type Purchase, payment } from '../commands/payment/payment.ts';
import { PaymentSettled, PaymentSettledLate, paymentOf } from '../events/payment.ts';
import type { CommandContext, RecordedEvent } from '../storage/event-log.ts';
import { continuing, NO_TRACES, type Tracer } from '../tracing/tracer.ts';
import { type Follower, type FollowPorts, followLog } from './follow-log.ts';

export interface AfterSettlementPorts extends SchedulePorts, Omit<FollowPorts, 'log' | 'clock'> {
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

/** Of the process, its lease and its cursor. */
export const AFTER_SETTLEMENT = 'after-settlement';
const AT_ONCE = 16;

export function createAfterSettlement(ports: AfterSettlementPorts): AfterSettlement {
  const follower: Follower = {
    name: AFTER_SETTLEMENT,
    types: [PaymentSettled.type, PaymentSettledLate.type],
    handle: (settlement) => drawConsequences(ports, settlement),
    async inOrder(settlements, one) {
      const owing = settlements.filter(({ data }) => data.owes);
      await lastValueFrom(from(owing).pipe(mergeMap(one, AT_ONCE)), { defaultValue: undefined });
    },
    tries: 4,
    setAside: {
      alarm: 'settlement_left_behind',
      message: 'the callbacks or the key call of a settled payment failed; retrying every minute',
    },
    waiting: 'callbacks and calls on keys wait for the storage; retrying',
  };
  return { run: (signal) => followLog(ports, follower, signal) };
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
    actor: AFTER_SETTLEMENT,
  };
  const owed = async () => {
    if (state.answer.keyCall) await ports.applyKeyCall(state, context);
    if (state.answer.callbacks.length === 0) return;
    await ports.ensureKey(wallet, context);
    await scheduleOwed(ports, hash, state, context);
  };
  await continuing(ports.tracer ?? NO_TRACES, AFTER_SETTLEMENT, settlement.metadata.traceparent, owed, {
    kind: 'consumer',
    attributes: { 'docket.request_id': requestId },
  });
}
