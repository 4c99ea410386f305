/**
 * Limits the work that nobody pays for (docs/design/sources.md#refresh): looks that end without an answer, and cases that
 * are wanted because no source has them. Counted for each wallet and each network, over all nodes.
 */
import type { Clock, Micros } from '../../runtime/instant.ts';
import { MICROS_PER_SECOND } from '../../runtime/instant.ts';
import type { Increment, ReadStore } from '../../storage/read-store.ts';

/** Looks a day that end without an answer; further cases are only noted. */
const UNPAID_LOOKS_PER_WALLET = 20;
const UNPAID_LOOKS_PER_NETWORK = 40;
/** Cases a day that are noted for later. */
const WANTED_PER_WALLET = 100;
const WANTED_PER_NETWORK = 200;
const WANTED_PER_DAY = 5_000;

const DAY: Micros = 86_400 * MICROS_PER_SECOND;

/** Who asks. */
export interface Asker {
  readonly wallet: string;
  /** The network of its address; null if that is unknown. */
  readonly site: string | null;
}

export interface UnpaidLooks {
  /** Counts a look in advance. Null above the limit; else what gives it back once the look has found the case. */
  begin(asker: Asker): Promise<(() => Promise<void>) | null>;
  /** Whether a look may begin for a case that is known, whose query is usually paid for. Counts nothing. */
  hasRoom(asker: Asker): Promise<boolean>;
  /** Whether one more case may be noted for later; counts it. */
  mayWant(asker: Asker): Promise<boolean>;
}

export function createUnpaidLooks(
  readStore: Pick<ReadStore, 'increment' | 'incrementInTurn'>,
  clock: Clock,
): UnpaidLooks {
  const all = async (counts: readonly (readonly [id: string, limit: number])[]): Promise<boolean> => {
    const now = clock.now();
    const increments = counts.map(([id, limit]): Increment => ({ id, amount: 1, limit, now, windowMicros: DAY }));
    const counted = await readStore.incrementInTurn(increments);
    if (counted.every(({ allowed }) => allowed)) return true;
    // What was counted before the limit that did not allow it.
    for (const { id } of increments.slice(0, counted.length - 1)) await giveBack(id);
    return false;
  };
  const giveBack = (id: string) => readStore.increment(id, -1, Number.MAX_SAFE_INTEGER, clock.now(), DAY);
  const looksOf = ({ wallet, site }: Asker) =>
    countsOf(wallet, site, 'unpaid-looks-day', UNPAID_LOOKS_PER_WALLET, UNPAID_LOOKS_PER_NETWORK);
  return {
    async begin(asker) {
      const counts = looksOf(asker);
      if (!(await all(counts))) return null;
      return async () => {
        for (const [id] of counts) await giveBack(id);
      };
    },
    async hasRoom(asker) {
      const now = clock.now();
      const read = await Promise.all(
        looksOf(asker).map(async ([id, limit]) => (await readStore.increment(id, 0, limit, now, DAY)).count < limit),
      );
      return read.every(Boolean);
    },
    mayWant: ({ wallet, site }) =>
      all([
        ...countsOf(wallet, site, 'wanted-day', WANTED_PER_WALLET, WANTED_PER_NETWORK),
        ['all-wanted-day', WANTED_PER_DAY],
      ]),
  };
}

const countsOf = (wallet: string, site: string | null, what: string, perWallet: number, perNetwork: number) => [
  [`${wallet}-${what}`, perWallet] as const,
  ...(site === null ? [] : [[`site-${site}-${what}`, perNetwork] as const]),
];
