/** What the service earned, by UTC day, endpoint, court or wallet, from sums that the read model keeps. */
import {
  ALL_DAYS,
  countedWith,
  figuresOf,
  REVENUE_BY_COURT,
  REVENUE_BY_ENDPOINT,
  REVENUE_BY_WALLET,
  type RevenueRecord,
  type WalletRevenueRecord,
} from '../projections/revenue.ts';
import { added, type Figures, NO_FIGURES } from '../projections/revenue-shares.ts';
import type { FieldRange, ReadStore, Stored } from '../storage/read-store.ts';

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

type Store = Pick<ReadStore, 'find'>;

const PAGE = 1000;
const COLLECTIONS: Readonly<Record<RevenueGroup, string>> = {
  // Every payment has one endpoint, and there are few of them.
  day: REVENUE_BY_ENDPOINT,
  endpoint: REVENUE_BY_ENDPOINT,
  court: REVENUE_BY_COURT,
  wallet: REVENUE_BY_WALLET,
};

export async function revenueOf(readStore: Store, by: RevenueGroup, days: Days): Promise<RevenueReport> {
  const sums = new Map<string, Figures>();
  for await (const record of recordsOf(readStore, COLLECTIONS[by], days, by === 'day')) {
    const key = by === 'day' ? record.day : record.key;
    sums.set(key, added(sums.get(key) ?? NO_FIGURES, figuresOf(record)));
  }
  let total = NO_FIGURES;
  if (by === 'court') {
    for await (const record of recordsOf(readStore, REVENUE_BY_ENDPOINT, days, false)) {
      total = added(total, figuresOf(record));
    }
  } else for (const figures of sums.values()) total = added(total, figures);
  const rows = [...sums].filter(([, figures]) => !isEmpty(figures)).map(([key, figures]) => ({ key, ...figures }));
  return { rows: rows.toSorted(by === 'day' ? byKey : byUsdc), total };
}

const isEmpty = (figures: Figures): boolean => Object.values(figures).every((figure) => figure === 0 || figure === 0n);
const byKey = (one: RevenueRow, other: RevenueRow): number => (one.key < other.key ? -1 : 1);
const byUsdc = (one: RevenueRow, other: RevenueRow): number =>
  one.usdc === other.usdc ? byKey(one, other) : one.usdc > other.usdc ? -1 : 1;

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
  let last: Stored<RevenueRecord> | undefined;
  for (;;) {
    const after = last && { value: last.document.day, id: last.id };
    const page: readonly Stored<RevenueRecord>[] = await readStore.find<RevenueRecord>({
      collection,
      // An engine seeks to one lower bound: from the first day, each page would walk past all of the pages before.
      range: last ? { ...range, from: last.document.day } : range,
      order,
      limit: PAGE,
      ...(after && { after }),
    });
    yield* page.map(({ document }) => document);
    last = page.at(-1);
    if (page.length < PAGE) return;
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

/** The wallets that have paid most, highest first. */
export async function topWallets(readStore: Store, limit: number): Promise<readonly RevenueRow[]> {
  const rows: RevenueRow[] = [];
  let last: Stored<WalletRevenueRecord> | undefined;
  while (rows.length < limit) {
    const size = Math.min(PAGE, limit - rows.length);
    const page: readonly Stored<WalletRevenueRecord>[] = await readStore.find<WalletRevenueRecord>({
      collection: REVENUE_BY_WALLET,
      equals: { day: ALL_DAYS },
      order: { field: 'rank', direction: 'descending' },
      limit: size,
      ...(last && { after: { value: last.document.rank, id: last.id } }),
    });
    rows.push(...page.map(({ document }) => ({ key: document.key, ...figuresOf(document) })));
    last = page.at(-1);
    if (page.length < size) break;
  }
  return rows;
}
