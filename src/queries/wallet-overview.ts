/** Everything about one wallet, for operators: what it bought, what is refused to it, its keys and its callbacks. */
import type { DeliveryStatus } from '../commands/delivery/delivery.ts';
import { allowedUnderWay, isProvenBy } from '../commands/purchase/allowance.ts';
import { limitsInUse, type WalletLimits } from '../commands/purchase/wallet-limits.ts';
import { type ValidKeys, validKeysAt, type WalletKeys } from '../commands/signing-key/signing-key.ts';
import { loadSigningKeys } from '../commands/signing-key/use.ts';
import { DELIVERIES, type DeliveryRecord } from '../projections/deliveries.ts';
import type { BannedWallet } from '../projections/operator-acts.ts';
import { PAYMENTS } from '../projections/payments.ts';
import type { CountedRefusal } from '../projections/revenue.ts';
import { dayOf, type Figures } from '../projections/revenue-shares.ts';
import { WALLETS, type WalletRecord } from '../projections/wallets.ts';
import { type Clock, MICROS_PER_SECOND, type Micros, toInstant } from '../runtime/instant.ts';
import type { EventLog } from '../storage/event-log.ts';
import type { ReadStore } from '../storage/read-store.ts';
import { findDeliveries } from './delivery-history.ts';
import { banOf } from './operator-acts.ts';
import { revenueOfWallet } from './revenue.ts';

export interface OverviewPorts {
  readonly log: EventLog;
  readonly readStore: ReadStore;
  readonly clock: Clock;
}

/** By UTC days, as `docket revenue` counts them. */
export interface WalletSpend {
  readonly today: Figures;
  /** Today and the 29 days before. */
  readonly thirtyDays: Figures;
  readonly allTime: Figures;
}

export interface WalletOverview {
  readonly wallet: string;
  /** Null if it never presented a payment. */
  readonly record: WalletRecord | null;
  readonly ban: BannedWallet | null;
  readonly spend: WalletSpend;
  /** Payments that were submitted and have no outcome yet. */
  readonly pendingPayments: number;
  readonly refusals: readonly CountedRefusal[];
  readonly limits: WalletLimits;
  readonly proven: boolean;
  /** How many of its payments may be pending at once. */
  readonly mayBePending: number;
  readonly keys: WalletKeys;
  readonly validKeys: ValidKeys | null;
  readonly deliveries: Readonly<Record<DeliveryStatus, number>>;
  /** Newest first. */
  readonly lastDeliveries: readonly DeliveryRecord[];
}

const LAST_DELIVERIES = 5;
const DAY: Micros = 86_400 * MICROS_PER_SECOND;
/** Counting stops here, so that the query stays quick. */
export const MOST_DELIVERIES_COUNTED = 100_000;

export async function walletOverview(ports: OverviewPorts, wallet: string): Promise<WalletOverview> {
  const { log, readStore, clock } = ports;
  const now = clock.now();
  const today = dayOf(toInstant(now));
  const from = dayOf(toInstant(Math.max(0, now - 29 * DAY)));
  const [ofToday, ofThirtyDays, { refusals, ...allTime }, pendingPayments] = await Promise.all([
    revenueOfWallet(readStore, wallet, { from: today, to: today }),
    revenueOfWallet(readStore, wallet, { from, to: today }),
    revenueOfWallet(readStore, wallet, null),
    readStore.count({ collection: PAYMENTS, equals: { attention: 'outcome', wallet } }),
  ]);
  const [loaded, ban, limits, keys, deliveries, last] = await Promise.all([
    readStore.load<WalletRecord>(WALLETS, [wallet]),
    banOf(readStore, wallet),
    limitsInUse(ports, wallet),
    loadSigningKeys(log, wallet),
    deliveriesByStatus(readStore, wallet),
    findDeliveries(
      readStore,
      { wallet, status: null, court: null, caseNumber: null, attemptedAfter: null },
      { limit: LAST_DELIVERIES, after: null },
    ),
  ]);
  const record = loaded.get(wallet)?.document ?? null;
  const settled = record?.answeredCalls ?? 0;
  const proven = settled > 0 && isProvenBy(settled, limits.failuresOfYear);
  return {
    wallet,
    record,
    ban,
    spend: { today: ofToday, thirtyDays: ofThirtyDays, allTime },
    pendingPayments,
    refusals,
    limits,
    proven,
    mayBePending: allowedUnderWay({ isProven: proven, settled, failures: limits.failuresPerHour.used }),
    keys,
    validKeys: validKeysAt(keys, now),
    deliveries,
    lastDeliveries: last.deliveries,
  };
}

async function deliveriesByStatus(
  readStore: Pick<ReadStore, 'count'>,
  wallet: string,
): Promise<Record<DeliveryStatus, number>> {
  const having = (status: DeliveryStatus) =>
    readStore.count({ collection: DELIVERIES, equals: { wallet, status }, limit: MOST_DELIVERIES_COUNTED });
  const [pending, retrying, succeeded, failed, cancelled] = await Promise.all([
    having('pending'),
    having('retrying'),
    having('succeeded'),
    having('failed'),
    having('cancelled'),
  ]);
  return { pending, retrying, succeeded, failed, cancelled };
}
