/**
 * Keeps recent blockhashes at hand: it polls the newest one, for the terms of every 402, and remembers how long each
 * that it saw is valid (docs/design/payments.md#chain-checks).
 */
import { BLOCKHASH_LIFE_BLOCKS, type Chain, type LatestBlockhash, MOST_BLOCKS_AHEAD } from './chain.ts';

/** How long the newest answer outranks older ones. After that, no endpoint that gave it may be left. */
const BELIEVED_MS = 10_000;

export interface SeenBlockhash extends LatestBlockhash {
  /** Milliseconds of the monotonic clock (`performance.now()`). */
  readonly seenAt: number;
}

export interface BlockhashWatch {
  /**
   * The newest blockhash seen; null before the first, and after the chain has been silent for the blockhash's whole
   * lifetime.
   */
  latest(): SeenBlockhash | null;
  /** The last block height at which a blockhash is valid; null if it was not seen here, or has long expired. */
  lastValidBlockHeightOf(blockhash: string): number | null;
  /** The newest block height seen; null before the first. */
  blockHeight(): number | null;
  /** Asks now and resolves with the answer. @throws ChainUnavailable */
  refresh(): Promise<SeenBlockhash>;
  close(): void;
}

export interface BlockhashWatchOptions {
  readonly chain: Pick<Chain, 'latestBlockhash'>;
  readonly intervalMs?: number;
  /** Age at which the newest one is no longer handed out: two thirds of a cluster's 60 s. */
  readonly staleAfterMs?: number;
  readonly monotonicMs?: () => number;
}

/** Starts polling immediately. */
export function createBlockhashWatch({
  chain,
  intervalMs = 1_000,
  staleAfterMs = 40_000,
  monotonicMs = () => performance.now(),
}: BlockhashWatchOptions): BlockhashWatch {
  const seen = new Map<string, SeenBlockhash>();
  let newest: SeenBlockhash | null = null;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const note = (latest: LatestBlockhash): SeenBlockhash => {
    const entry = { ...latest, seenAt: monotonicMs() };
    const ahead = newest ? latest.lastValidBlockHeight - newest.lastValidBlockHeight : 0;
    const isBelieved = newest !== null && entry.seenAt - newest.seenAt <= BELIEVED_MS;
    if (isBelieved && ahead > MOST_BLOCKS_AHEAD) return entry;
    // A lagging endpoint returns an older block: worth remembering, not worth handing out.
    if (!isBelieved || ahead >= 0) newest = entry;
    if (!seen.has(latest.blockhash)) seen.set(latest.blockhash, entry);
    const { lastValidBlockHeight: ends } = newest ?? entry;
    for (const [blockhash, { lastValidBlockHeight }] of seen) {
      if (lastValidBlockHeight < ends - BLOCKHASH_LIFE_BLOCKS || lastValidBlockHeight > ends + MOST_BLOCKS_AHEAD) {
        seen.delete(blockhash);
      }
    }
    return entry;
  };

  const refresh = async (): Promise<SeenBlockhash> => note(await chain.latestBlockhash());

  const poll = async (): Promise<void> => {
    try {
      await refresh();
    } catch {
      // A failure needs no handling: the known blockhash grows stale, and readiness asks the chain itself. No caller
      // awaits this, so an error thrown here would end the process.
    } finally {
      if (!closed) timer = setTimeout(poll, intervalMs);
    }
  };
  void poll();

  return {
    latest: () => (newest && monotonicMs() - newest.seenAt <= staleAfterMs ? newest : null),
    lastValidBlockHeightOf: (blockhash) => seen.get(blockhash)?.lastValidBlockHeight ?? null,
    blockHeight: () => newest && newest.lastValidBlockHeight - BLOCKHASH_LIFE_BLOCKS,
    refresh,
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}
