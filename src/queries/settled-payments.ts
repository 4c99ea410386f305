/** The number of settled payments of a wallet in the read model, which determines its allowance. */
import { WALLETS, type WalletRecord } from '../projections/wallets.ts';
import type { ReadStore } from '../storage/read-store.ts';

export const settledPayments =
  (readStore: Pick<ReadStore, 'load'>) =>
  async (wallet: string): Promise<number> =>
    (await readStore.load<WalletRecord>(WALLETS, [wallet])).get(wallet)?.document.answeredCalls ?? 0;
