/** How many payments of a wallet have settled, as its read model shows it: what its allowance grows with. */
import { WALLETS, type WalletRecord } from '../projections/wallets.ts';
import type { ReadStore } from '../storage/read-store.ts';

export const settledPayments =
  (readStore: Pick<ReadStore, 'load'>) =>
  async (wallet: string): Promise<number> =>
    (await readStore.load<WalletRecord>(WALLETS, [wallet])).get(wallet)?.document.answeredCalls ?? 0;
