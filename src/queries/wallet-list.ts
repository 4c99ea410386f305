/** Wallets for operators: by what they paid, or by when they were last seen. Each page is one walk along an index. */
import { ALL_DAYS, figuresOf, REVENUE_BY_WALLET, type WalletRevenueRecord } from '../projections/revenue.ts';
import { type Figures, NO_FIGURES } from '../projections/revenue-shares.ts';
import { WALLETS, type WalletRecord } from '../projections/wallets.ts';
import type { ReadStore, Stored } from '../storage/read-store.ts';
import { topWallets } from './revenue.ts';

export const WALLET_ORDERS = ['spend', 'seen'] as const;
export type WalletOrder = (typeof WALLET_ORDERS)[number];

export interface ListedWallet extends Figures {
  readonly wallet: string;
  readonly record: WalletRecord | null;
}

type Store = Pick<ReadStore, 'find' | 'load'>;

const PAGE = 500;

/** The first of all wallets in this order. */
export async function listWallets(readStore: Store, by: WalletOrder, limit: number): Promise<readonly ListedWallet[]> {
  return by === 'spend' ? bySpend(readStore, limit) : bySeen(readStore, limit);
}

async function bySpend(readStore: Store, limit: number): Promise<readonly ListedWallet[]> {
  const listed: ListedWallet[] = [];
  const top = await topWallets(readStore, limit);
  for (let start = 0; start < top.length; start += PAGE) {
    const page = top.slice(start, start + PAGE);
    const records = await readStore.load<WalletRecord>(
      WALLETS,
      page.map(({ key }) => key),
    );
    listed.push(
      ...page.map(({ key, ...figures }) => ({ wallet: key, record: records.get(key)?.document ?? null, ...figures })),
    );
  }
  return listed;
}

async function bySeen(readStore: Store, limit: number): Promise<readonly ListedWallet[]> {
  const listed: ListedWallet[] = [];
  let last: Stored<WalletRecord> | undefined;
  while (listed.length < limit) {
    const size = Math.min(PAGE, limit - listed.length);
    const page: readonly Stored<WalletRecord>[] = await readStore.find<WalletRecord>({
      collection: WALLETS,
      order: { field: 'lastSeen', direction: 'descending' },
      limit: size,
      ...(last && { after: { value: last.document.lastSeen, id: last.id } }),
    });
    const ids = page.map(({ id }) => `${ALL_DAYS} ${id}`);
    const sums = await readStore.load<WalletRevenueRecord>(REVENUE_BY_WALLET, ids);
    for (const { id, document } of page) {
      const sum = sums.get(`${ALL_DAYS} ${id}`)?.document;
      listed.push({ wallet: id, record: document, ...(sum ? figuresOf(sum) : NO_FIGURES) });
    }
    last = page.at(-1);
    if (page.length < size) break;
  }
  return listed;
}
