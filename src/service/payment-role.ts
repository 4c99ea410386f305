/** The role `payments`: purchases, and the recovery of payments that an earlier process left open. */
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { PurchasePorts, Purchasing } from '../commands/purchase/contract.ts';
import { createPurchasing } from '../commands/purchase/purchase.ts';
import type { SponsorBudget } from '../commands/purchase/sponsor-budget.ts';
import type { Problem } from '../errors.ts';
import { createPayloadHousekeeping } from '../processes/payload-housekeeping.ts';
import { createPaymentRecovery } from '../processes/payment-recovery/payment-recovery.ts';
import { settledPayments } from '../queries/settled-payments.ts';
import type { Clock } from '../runtime/instant.ts';
import { leaseOwner } from '../storage/lease-owner.ts';
import type { Storage } from '../storage/storage.ts';
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
  /** Why nothing may be charged now; null if it may. */
  closed(): Problem | null;
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
  closed,
}: PaymentRoleOptions): PaymentRole {
  const { log, payloads, readStore } = storage;
  const { chain, blockhashes, feePayer, network, receiver, destination } = paymentChain;
  const settlement = { log, clock, chain, readStore, logger, sponsoring };
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
  });
  const recovery = createPaymentRecovery({ ...settlement, underway: purchasing.underway, owner: leaseOwner() });
  const housekeeping = createPayloadHousekeeping({ log, payloads, readStore, clock, logger, owner: leaseOwner() });
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
