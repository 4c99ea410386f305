/** Wallets for operators: by what they paid, or by when they were last seen. Each page is one walk along an index. */
import { ALL_DAYS, figuresOf, REVENUE_BY_WALLET, type WalletRevenueRecord } from '../projections/revenue.ts';
import { type Figures, NO_FIGURES } from '../projections/revenue-shares.ts';
import { WALLETS, type WalletRecord } from '../projections/wallets.ts';
import type { ReadStore } from '../storage/read-store.ts';
import { inOrder } from './in-order.ts';
import { topWallets } from './revenue.ts';

export const WALLET_ORDERS = ['spend', 'seen'] as const;
export type WalletOrder = (typeof WALLET_ORDERS)[number];

export interface ListedWallet extends Figures {
  readonly wallet: string;
  readonly record: WalletRecord | null;
}

type Store = Pick<ReadStore, 'find' | 'load' | 'count'>;

const PAGE = 500;

/** The first of all wallets in this order, in pages: there may be very many. */
export const listWallets = (
  readStore: Store,
  by: WalletOrder,
  limit: number,
): AsyncIterable<readonly ListedWallet[]> => (by === 'spend' ? bySpend(readStore, limit) : bySeen(readStore, limit));

/** How many wallets this order has. */
export const countWallets = (readStore: Store, by: WalletOrder): Promise<number> =>
  readStore.count(
    by === 'spend' ? { collection: REVENUE_BY_WALLET, equals: { day: ALL_DAYS } } : { collection: WALLETS },
  );

async function* bySpend(readStore: Store, limit: number): AsyncIterable<readonly ListedWallet[]> {
  for await (const page of topWallets(readStore, limit)) {
    const records = await readStore.load<WalletRecord>(
      WALLETS,
      page.map(({ key }) => key),
    );
    yield page.map(({ key, ...figures }) => ({ wallet: key, record: records.get(key)?.document ?? null, ...figures }));
  }
}

async function* bySeen(readStore: Store, limit: number): AsyncIterable<readonly ListedWallet[]> {
  const order = { field: 'lastSeen', direction: 'descending' } as const;
  let left = limit;
  for await (const page of inOrder<WalletRecord>(readStore, { collection: WALLETS, order }, Math.min(PAGE, limit))) {
    const wanted = page.slice(0, left);
    const sums = await readStore.load<WalletRevenueRecord>(
      REVENUE_BY_WALLET,
      wanted.map(({ id }) => `${ALL_DAYS} ${id}`),
    );
    const listed = wanted.map(({ id, document }) => {
      const sum = sums.get(`${ALL_DAYS} ${id}`)?.document;
      return { wallet: id, record: document, ...(sum ? figuresOf(sum) : NO_FIGURES) };
    });
    if (listed.length > 0) yield listed;
    left -= listed.length;
    if (left <= 0) return;
  }
}
