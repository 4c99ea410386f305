/**
 * Read model of revenue: sums for each UTC day and for all days, by endpoint, by court and by wallet
 * (docs/design/operations.md#money).
 */
import type { EventOf } from '../events/event.ts';
import {
  type PaymentEvent,
  PaymentFailed,
  PaymentRolledBack,
  PaymentSettled,
  PaymentSettledLate,
  paymentOf,
  QueryFailed,
} from '../events/payment.ts';
import { targetKey } from './fold-batch.ts';
import type { ProjectedEvent, Projection, Target } from './projection.ts';
import {
  added,
  byCourt,
  type Figures,
  NO_FIGURES,
  type RecordedPaymentEvent,
  type Refusal,
  type Share,
  sharesOf,
} from './revenue-shares.ts';

export const REVENUE = 'revenue';
export const REVENUE_BY_ENDPOINT = 'revenue-endpoints';
export const REVENUE_BY_COURT = 'revenue-courts';
export const REVENUE_BY_WALLET = 'revenue-wallets';

/** The `day` of a document that holds the sum of all days; it sorts after every day. */
export const ALL_DAYS = 'all';

/** As {@link Figures}, in JSON: amounts are decimal text, because they may exceed what a number holds. */
export type RevenueRecord = {
  /** `YYYY-MM-DD`, UTC, or `all`. */
  readonly day: string;
  /** The endpoint, the court's code or the wallet. */
  readonly key: string;
  readonly payments: number;
  readonly late: number;
  readonly answers: number;
  readonly usdc: string;
  readonly fees: string;
  readonly rolledBack: number;
  readonly rolledBackUsdc: string;
  readonly failed: number;
  readonly failedFees: string;
  readonly failedQueries: number;
};

export type WalletRevenueRecord = RevenueRecord & {
  /** `usdc`, filled with zeros, so that it sorts as a number. */
  readonly rank: string;
  /** In the order of their first occurrence. */
  readonly refusals: readonly CountedRefusal[];
};

export type CountedRefusal = Refusal & { readonly count: number };

type Outcome =
  | EventOf<typeof QueryFailed>
  | EventOf<typeof PaymentSettled>
  | EventOf<typeof PaymentSettledLate>
  | EventOf<typeof PaymentFailed>
  | EventOf<typeof PaymentRolledBack>;

const DAYS = [['day']] as const;

export const revenue: Projection<Outcome> = {
  name: REVENUE,
  forOperators: true,
  events: [QueryFailed, PaymentSettled, PaymentSettledLate, PaymentFailed, PaymentRolledBack],
  collections: [
    { name: REVENUE_BY_ENDPOINT, indexes: DAYS },
    { name: REVENUE_BY_COURT, indexes: DAYS },
    {
      name: REVENUE_BY_WALLET,
      indexes: [['day'], ['day', 'rank'], ['key', 'day']],
    },
  ],

  needsEarlier: () => true,

  targets: (projected) =>
    paymentOf(projected.recorded.stream) === null
      ? []
      : [...changesOf(projected).values()].map(({ collection, id }) => ({ collection, id })),

  fold(target, document, projected) {
    const change = changesOf(projected).get(targetKey(target));
    if (!change) return document;
    const record = document as WalletRevenueRecord | null;
    const { day, key, figures, refusals } = change;
    const sums = { day, key, ...asJson(added(record ? figuresOf(record) : NO_FIGURES, figures)) };
    if (target.collection !== REVENUE_BY_WALLET) return sums;
    return { ...sums, rank: rankOf(sums.usdc), refusals: countedWith(record?.refusals ?? [], refusals) };
  },
};

/** One document's change: what the event adds to it, less what the stream had added to it before. */
interface Change extends Target {
  readonly day: string;
  readonly key: string;
  readonly figures: Figures;
  readonly refusals: readonly (Refusal & { readonly count: 1 | -1 })[];
}

/** Targets and fold ask for the same changes. */
const remembered = new WeakMap<ProjectedEvent, ReadonlyMap<string, Change>>();

function changesOf(projected: ProjectedEvent<Outcome>): ReadonlyMap<string, Change> {
  const known = remembered.get(projected);
  if (known) return known;
  const before = (projected.earlier ?? []).map(({ event, recorded }) => at(event as PaymentEvent, recorded));
  const changes = new Map<string, Change>();
  for (const share of sharesOf(before)) change(changes, share, -1);
  for (const share of sharesOf([...before, at(projected.event, projected.recorded)])) change(changes, share, 1);
  // What a payment has in common before and after the event, such as an earlier failed query, changes nothing.
  for (const [key, { figures, refusals }] of changes) {
    if (isNothing(figures) && refusals.length === 0) changes.delete(key);
  }
  // One order for every event, so that a batch is written in one step.
  const ordered = new Map([...changes].toSorted(([one], [other]) => (one < other ? -1 : 1)));
  remembered.set(projected, ordered);
  return ordered;
}

const at = (event: PaymentEvent, recorded: ProjectedEvent['recorded']): RecordedPaymentEvent => ({
  event,
  at: recorded.metadata.recordedAt,
});

function change(changes: Map<string, Change>, share: Share, sign: 1 | -1): void {
  for (const day of [share.day, ALL_DAYS]) {
    put(REVENUE_BY_ENDPOINT, share.endpoint, share.figures);
    for (const [court, figures] of byCourt(share)) put(REVENUE_BY_COURT, court, figures);
    put(REVENUE_BY_WALLET, share.wallet, share.figures, share.refusal);

    function put(collection: string, key: string, figures: Figures, refusal: Refusal | null = null): void {
      const id = `${day} ${key}`;
      const place = targetKey({ collection, id });
      const before = changes.get(place) ?? { collection, id, day, key, figures: NO_FIGURES, refusals: [] };
      const refusals = refusal ? netted(before.refusals, refusal, sign) : before.refusals;
      changes.set(place, { ...before, figures: added(before.figures, figures, sign), refusals });
    }
  }
}

/** A refusal that is taken away and added again is no change. */
function netted(known: Change['refusals'], refusal: Refusal, count: 1 | -1): Change['refusals'] {
  const opposite = known.findIndex((one) => isSame(one, refusal) && one.count === -count);
  return opposite === -1 ? [...known, { ...refusal, count }] : known.toSpliced(opposite, 1);
}

const isSame = (one: Refusal, other: Refusal): boolean => one.of === other.of && one.reason === other.reason;

/** Refusals with more of them, or fewer; none that is counted zero times. */
export function countedWith(
  known: readonly CountedRefusal[],
  changes: readonly CountedRefusal[],
): readonly CountedRefusal[] {
  let refusals = [...known];
  for (const { of, reason, count } of changes) {
    const index = refusals.findIndex((one) => isSame(one, { of, reason }));
    if (index === -1) refusals.push({ of, reason, count });
    else refusals = refusals.with(index, { of, reason, count: (refusals[index]?.count ?? 0) + count });
  }
  return refusals.filter(({ count }) => count !== 0);
}

/** Whether nothing is left of a sum, as after a rollback. */
export const isNothing = (figures: Figures): boolean =>
  Object.values(figures).every((figure) => figure === 0 || figure === 0n);

/** Longer than any amount of a token account, which has 64 bits. */
const rankOf = (usdc: string): string => usdc.padStart(24, '0');

const asJson = (figures: Figures) => ({
  ...figures,
  usdc: String(figures.usdc),
  fees: String(figures.fees),
  rolledBackUsdc: String(figures.rolledBackUsdc),
  failedFees: String(figures.failedFees),
});

export const figuresOf = (record: Omit<RevenueRecord, 'day' | 'key'>): Figures => ({
  payments: record.payments,
  late: record.late,
  answers: record.answers,
  usdc: BigInt(record.usdc),
  fees: BigInt(record.fees),
  rolledBack: record.rolledBack,
  rolledBackUsdc: BigInt(record.rolledBackUsdc),
  failed: record.failed,
  failedFees: BigInt(record.failedFees),
  failedQueries: record.failedQueries,
});
