/** What operators have decided and not taken back: paused hosts, banned wallets, tokens of sources. */
import {
  BANNED_WALLETS,
  type BannedWallet,
  PAUSED_HOSTS,
  type PausedHost,
  SOURCE_TOKENS,
  type SourceToken,
} from '../projections/operator-acts.ts';
import type { ReadStore, Stored } from '../storage/read-store.ts';

type Finder = Pick<ReadStore, 'find'>;
type Loader = Pick<ReadStore, 'load'>;

const PAGE = 500;

/** Every paused host, by its origin. Operators pause few. */
export const pausedHosts = (readStore: Finder): Promise<ReadonlyMap<string, PausedHost>> =>
  all<PausedHost>(readStore, PAUSED_HOSTS);

/** Every banned wallet, by its address. */
export const bannedWallets = (readStore: Finder): Promise<ReadonlyMap<string, BannedWallet>> =>
  all<BannedWallet>(readStore, BANNED_WALLETS);

/** Every token that opens the door for dockets, by its hash. */
export const sourceTokens = (readStore: Finder): Promise<ReadonlyMap<string, SourceToken>> =>
  all<SourceToken>(readStore, SOURCE_TOKENS);

/** The paused ones among these origins. */
export async function pausedAmong(
  readStore: Loader,
  origins: readonly string[],
): Promise<ReadonlyMap<string, PausedHost>> {
  const stored = await readStore.load<PausedHost>(PAUSED_HOSTS, [...new Set(origins)]);
  return new Map([...stored].map(([origin, { document }]) => [origin, document]));
}

/** Since when, by whom and why a wallet is banned; null if it is not. */
export async function banOf(readStore: Loader, wallet: string): Promise<BannedWallet | null> {
  return (await readStore.load<BannedWallet>(BANNED_WALLETS, [wallet])).get(wallet)?.document ?? null;
}

async function all<Document>(readStore: Finder, collection: string): Promise<ReadonlyMap<string, Document>> {
  const found = new Map<string, Document>();
  for (let after: string | null = null; ; ) {
    const page: readonly Stored<Document>[] = await readStore.find<Document>({
      collection,
      limit: PAGE,
      ...(after !== null && { after: { id: after } }),
    });
    for (const { id, document } of page) found.set(id, document);
    const last = page.at(-1);
    if (!last || page.length < PAGE) return found;
    after = last.id;
  }
}
