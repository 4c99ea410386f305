/** The role `payments`: purchases, and the recovery of payments that an earlier process left open. */
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Purchase } from '../commands/payment/payment.ts';
import type { PurchasePorts, Purchasing } from '../commands/purchase/contract.ts';
import { createPurchasing } from '../commands/purchase/purchasing.ts';
import type { SponsorBudget } from '../commands/purchase/sponsor-budget.ts';
import type { Problem } from '../errors.ts';
import type { PaymentEvent } from '../events/payment.ts';
import type { PurchaseMetrics } from '../http/admin/metrics/purchase-metrics.ts';
import { createPayloadHousekeeping } from '../processes/payload-housekeeping.ts';
import { createPaymentRecovery } from '../processes/payment-recovery/payment-recovery.ts';
import { dayOf } from '../projections/revenue-shares.ts';
import { revenueOf } from '../queries/revenue.ts';
import { settledPayments } from '../queries/settled-payments.ts';
import { paymentStatus } from '../queries/status-payments.ts';
import { type Clock, MICROS_PER_SECOND, toInstant, toMicros } from '../runtime/instant.ts';
import { networkFeeOf } from '../solana/network-fee.ts';
import { leaseOwner } from '../storage/lease-owner.ts';
import type { Storage } from '../storage/storage.ts';
import type { Tracer } from '../tracing/tracer.ts';
import type { PaymentChain } from './payment-chain.ts';

export interface PaymentRoleOptions {
  readonly storage: Storage;
  readonly paymentChain: PaymentChain;
  readonly keyCalls: PurchasePorts['keyCalls'];
  readonly sponsoring: SponsorBudget;
  readonly unknownBlockhashesPerSecond: number;
  readonly resultIds: PurchasePorts['resultIds'];
  readonly clock: Clock;
  readonly logger: Logger;
  /** Aborted when running purchases must end with an answer, whatever they wait for. */
  readonly draining: AbortSignal;
  /** Where outcomes, and the payments under way, are counted. */
  readonly metrics: Pick<PurchaseMetrics, 'outcomeRecorded' | 'watchUnderway' | 'watchPayments' | 'watchRevenueToday'>;
  /** Why nothing may be charged now; null if it may. */
  closed(): Problem | null;
  isBanned(wallet: string): boolean;
  readonly tracer: Tracer;
}

export interface PaymentRole {
  readonly purchasing: Purchasing;
  /** Starts no further round of recovery, and waits for the one that runs. */
  stop(): Promise<void>;
}

/** Starts recovery. Purchases are started by their callers. */
export function startPaymentRole({
  storage,
  paymentChain,
  keyCalls,
  sponsoring,
  unknownBlockhashesPerSecond,
  resultIds,
  clock,
  logger,
  draining,
  metrics,
  closed,
  isBanned,
  tracer,
}: PaymentRoleOptions): PaymentRole {
  const { log, payloads, readStore } = storage;
  const { chain, blockhashes, feePayer, network, receiver, destination } = paymentChain;
  const outcomeRecorded = (state: Purchase, events: readonly PaymentEvent[]): void => {
    const { endpoint, amount } = state.authorization;
    const { answeredCases } = state.answer;
    metrics.outcomeRecorded({ endpoint, amount, answeredCases, events, feeLamports: feeOf(state, events) });
  };
  const settlement = { log, clock, chain, readStore, logger, sponsoring, outcomeRecorded };
  const purchasing = createPurchasing({
    ...settlement,
    payloads,
    keyCalls,
    settledPayments: settledPayments(readStore),
    resultIds,
    newDeliveryId: randomUUID,
    blockhashes,
    unknownBlockhashesPerSecond,
    feePayer: { sign: (message) => feePayer.signAside(message) },
    payee: { network: network.caip2, mint: network.usdcMint, payTo: receiver.payTo, destination },
    draining,
    closed,
    isBanned,
  });
  metrics.watchUnderway(() => purchasing.underway.size);
  metrics.watchPayments(async () => {
    const now = clock.now();
    const { oldestSubmittedAt: oldest, ...counts } = await paymentStatus(readStore, now);
    return {
      ...counts,
      oldestSeconds: oldest === null ? 0 : Math.max(0, (now - toMicros(oldest)) / MICROS_PER_SECOND),
    };
  });
  metrics.watchRevenueToday(async () => {
    const today = dayOf(toInstant(clock.now()));
    return (await revenueOf(readStore, 'endpoint', { from: today, to: today })).rows;
  });
  const recovery = createPaymentRecovery({
    ...settlement,
    underway: purchasing.underway,
    owner: leaseOwner(),
    tracer,
  });
  const housekeeping = createPayloadHousekeeping({
    ...{ log, payloads, readStore, clock, logger, owner: leaseOwner() },
    scrub: storage.scrub?.bind(storage),
  });
  const stopping = new AbortController();
  const working = Promise.all([recovery.run(stopping.signal), housekeeping.run(stopping.signal)]);
  return {
    purchasing,
    async stop() {
      stopping.abort();
      await working;
    },
  };
}

/** What the network charged our fee payer for the transaction that these events report as executed. */
function feeOf({ authorization, submission }: Purchase, events: readonly PaymentEvent[]): bigint {
  const isCharged = events.some(
    ({ type, data }) =>
      type === 'PaymentSettled' ||
      type === 'PaymentSettledLate' ||
      (type === 'PaymentFailed' && data.reason === 'on_chain_error'),
  );
  return isCharged && authorization.dialect !== 'self-paid' ? networkFeeOf(Buffer.from(submission.wire, 'base64')) : 0n;
}
