/** What the service earned, by UTC day, endpoint, court or wallet, from sums that the read model keeps. */
import {
  ALL_DAYS,
  countedWith,
  figuresOf,
  isNothing,
  REVENUE_BY_COURT,
  REVENUE_BY_ENDPOINT,
  REVENUE_BY_WALLET,
  type RevenueRecord,
  type WalletRevenueRecord,
} from '../projections/revenue.ts';
import { added, type Figures, NO_FIGURES } from '../projections/revenue-shares.ts';
import type { FieldRange, ReadStore } from '../storage/read-store.ts';
import { inOrder } from './in-order.ts';

export const REVENUE_GROUPS = ['day', 'endpoint', 'court', 'wallet'] as const;
export type RevenueGroup = (typeof REVENUE_GROUPS)[number];

/** UTC days, `YYYY-MM-DD`; both ends are included, null is open. */
export interface Days {
  readonly from: string | null;
  readonly to: string | null;
}

export interface RevenueRow extends Figures {
  /** The day, endpoint, court or wallet. */
  readonly key: string;
}

export interface RevenueReport {
  /** Days in their order; everything else by USDC, highest first. */
  readonly rows: readonly RevenueRow[];
  /** Counts each payment once, while a payment for several courts is in the row of each. */
  readonly total: Figures;
}

export type RevenueStore = Pick<ReadStore, 'find'>;
type Store = RevenueStore;

const PAGE = 1000;
const COLLECTIONS: Readonly<Record<RevenueGroup, string>> = {
  // Every payment has one endpoint, and there are few of them.
  day: REVENUE_BY_ENDPOINT,
  endpoint: REVENUE_BY_ENDPOINT,
  court: REVENUE_BY_COURT,
  wallet: REVENUE_BY_WALLET,
};

/** In memory: for wallets, of which there may be many, see `RevenueSums`. */
export async function revenueOf(readStore: Store, by: RevenueGroup, days: Days): Promise<RevenueReport> {
  const sums = new Map<string, Figures>();
  for await (const { key, ...record } of recordsOfGroup(readStore, by, days)) {
    sums.set(key, added(sums.get(key) ?? NO_FIGURES, figuresOf(record)));
  }
  let total = NO_FIGURES;
  if (by === 'court') {
    for await (const record of recordsOf(readStore, REVENUE_BY_ENDPOINT, days, false)) {
      total = added(total, figuresOf(record));
    }
  } else for (const figures of sums.values()) total = added(total, figures);
  const rows = [...sums].filter(([, figures]) => !isNothing(figures)).map(([key, figures]) => ({ key, ...figures }));
  return { rows: rows.toSorted(by === 'day' ? byKey : byUsdc), total };
}

const byKey = (one: RevenueRow, other: RevenueRow): number => (one.key < other.key ? -1 : 1);
const byUsdc = (one: RevenueRow, other: RevenueRow): number =>
  one.usdc === other.usdc ? byKey(one, other) : one.usdc > other.usdc ? -1 : 1;

/** What is to be added up, with the name of its group as the key; a group comes several times. */
export async function* recordsOfGroup(readStore: Store, by: RevenueGroup, days: Days): AsyncIterable<RevenueRecord> {
  for await (const record of recordsOf(readStore, COLLECTIONS[by], days, by === 'day')) {
    yield by === 'day' ? { ...record, key: record.day } : record;
  }
}

/** The sums of all days if none is named and the days are not asked for; otherwise those of each day. */
async function* recordsOf(
  readStore: Store,
  collection: string,
  { from, to }: Days,
  eachDay: boolean,
): AsyncIterable<RevenueRecord> {
  const isAll = from === null && to === null && !eachDay;
  const range = isAll ? { field: 'day', from: ALL_DAYS, upTo: ALL_DAYS } : rangeOf({ from, to });
  const order = { field: 'day', direction: 'ascending' } as const;
  for await (const page of inOrder<RevenueRecord>(readStore, { collection, range, order }, PAGE)) {
    for (const { document } of page) yield document;
  }
}

const rangeOf = ({ from, to }: Days): FieldRange => ({
  field: 'day',
  ...(from !== null && { from }),
  ...(to === null ? { below: ALL_DAYS } : { upTo: to }),
});

/** What one wallet has brought, and why it was not served; all days, if none are named. */
export async function revenueOfWallet(
  readStore: Pick<ReadStore, 'find' | 'load'>,
  wallet: string,
  days: Days | null,
): Promise<Figures & Pick<WalletRevenueRecord, 'refusals'>> {
  if (days === null) {
    const id = `${ALL_DAYS} ${wallet}`;
    const found = (await readStore.load<WalletRevenueRecord>(REVENUE_BY_WALLET, [id])).get(id)?.document;
    return found ? { ...figuresOf(found), refusals: found.refusals } : { ...NO_FIGURES, refusals: [] };
  }
  const found = await readStore.find<WalletRevenueRecord>({
    collection: REVENUE_BY_WALLET,
    equals: { key: wallet },
    range: rangeOf(days),
    order: { field: 'day', direction: 'ascending' },
    limit: PAGE,
  });
  return {
    ...found.reduce((sum, { document }) => added(sum, figuresOf(document)), NO_FIGURES),
    refusals: found.reduce<WalletRevenueRecord['refusals']>(
      (all, { document }) => countedWith(all, document.refusals),
      [],
    ),
  };
}

/** The wallets that have paid most, highest first, in pages. */
export async function* topWallets(readStore: Store, limit: number): AsyncIterable<readonly RevenueRow[]> {
  const order = { field: 'rank', direction: 'descending' } as const;
  const walk = { collection: REVENUE_BY_WALLET, equals: { day: ALL_DAYS }, order };
  let left = limit;
  for await (const page of inOrder<WalletRevenueRecord>(readStore, walk, Math.min(PAGE, limit))) {
    const rows = page.slice(0, left).map(({ document }) => ({ key: document.key, ...figuresOf(document) }));
    if (rows.length > 0) yield rows;
    left -= rows.length;
    if (left <= 0) return;
  }
}
