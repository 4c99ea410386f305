/** Asks the chain for everything that a reconciliation needs, in batches that are stored as they come. */
import { ChainUnavailable } from '../../solana/chain.ts';
import type { ChainHistory, ListedSignature, TransactionLookup } from '../../solana/chain-history.ts';
import type { ReconcileState } from './state.ts';
import type { Listing, Outcome } from './state-rows.ts';

/** Calls under way at once. */
const CONCURRENT = 8;
/** Transactions whose answers are stored together: the most that a kill loses. */
const BATCH = 32;

/** Lists the transactions of an account that are new since the last complete pass. */
export async function listAccount(
  history: ChainHistory,
  state: ReconcileState,
  account: string,
  progress: (count: number) => void,
): Promise<void> {
  const last = state.listing(account);
  // A pass that was interrupted is finished first; what came after it is listed by the next one.
  if (last && !last.complete) await pass(history, state, last, progress);
  const before = state.listing(account);
  await pass(
    history,
    state,
    {
      account,
      top: null,
      cursor: null,
      until: before?.top ?? null,
      complete: false,
      keptFrom: before?.keptFrom ?? 0,
    },
    progress,
  );
}

async function pass(
  history: ChainHistory,
  state: ReconcileState,
  begun: Listing,
  progress: (count: number) => void,
): Promise<void> {
  let listing = begun;
  const order = new PassOrder(state, begun.cursor);
  while (!listing.complete) {
    const { account, until, cursor } = listing;
    const page = await history.signatures(account, { before: cursor, until });
    const oldest = page.signatures.at(-1);
    for (const listed of page.signatures) order.assertFollows(listed);
    listing = {
      ...listing,
      // Nothing new: what was the newest still is.
      top: listing.top ?? page.signatures[0]?.signature ?? until,
      cursor: oldest?.signature ?? cursor,
      complete: oldest === undefined,
      keptFrom: isGap(state, until, page.keptFrom) ? Math.max(listing.keptFrom, page.keptFrom) : listing.keptFrom,
    };
    const next = listing;
    state.together(() => {
      for (const { signature, slot, failed } of page.signatures) state.addListed(signature, slot, failed);
      state.setListing(next);
    });
    progress(page.signatures.length);
  }
}

/** More than a block can hold. */
const MOST_IN_A_SLOT = 50_000;

/** Checks that a list goes from newer transactions to older ones: an endpoint that invents one would never end. */
class PassOrder {
  readonly #state: ReconcileState;
  #slot: number;
  readonly #inSlot = new Set<string>();

  /** @param cursor where an interrupted pass continues */
  constructor(state: ReconcileState, cursor: string | null) {
    this.#state = state;
    this.#slot = (cursor === null ? null : state.slotOf(cursor)) ?? Number.POSITIVE_INFINITY;
    if (cursor !== null) this.#inSlot.add(cursor);
  }

  /** @throws ChainUnavailable */
  assertFollows({ signature, slot }: ListedSignature): void {
    if (slot > this.#slot) throw new ChainUnavailable('a chain endpoint lists a newer transaction after an older one');
    if (this.#inSlot.has(signature) || (this.#state.listedSlotOf(signature) ?? slot) !== slot)
      throw new ChainUnavailable('a chain endpoint lists the same transactions again and again');
    if (slot < this.#slot) this.#inSlot.clear();
    this.#slot = slot;
    this.#inSlot.add(signature);
    if (this.#inSlot.size > MOST_IN_A_SLOT)
      throw new ChainUnavailable(`a chain endpoint lists more than ${MOST_IN_A_SLOT} transactions in one slot`);
  }
}

/** Whether the endpoint's history begins after what was listed before, so that something between may be missing. */
const isGap = (state: ReconcileState, until: string | null, keptFrom: number): boolean =>
  until === null || keptFrom > (state.slotOf(until) ?? 0);

/** Fetches every listed transaction, and looks for those of settled and pending payments that are not listed. */
export async function fetchTransactions(
  history: ChainHistory,
  state: ReconcileState,
  progress: (count: number) => void,
): Promise<void> {
  for (;;) {
    const listed = state.toFetch(BATCH);
    if (listed.length === 0) break;
    await fetchBatch(history, state, listed, false);
    progress(listed.length);
  }
  let after = '';
  for (;;) {
    const unlisted = state.toLookUp(after, BATCH);
    if (unlisted.length === 0) break;
    await fetchBatch(history, state, unlisted, true);
    progress(unlisted.length);
    after = unlisted.at(-1)?.stream ?? after;
  }
}

interface Wanted {
  readonly signature: string;
  readonly slot: number | null;
}

interface Answered extends Wanted {
  readonly lookup: TransactionLookup;
  readonly outcome: Outcome;
}

/** Stores also the answers that came before a failure. */
async function fetchBatch(
  history: ChainHistory,
  state: ReconcileState,
  wanted: readonly Wanted[],
  mayBeUnfinal: boolean,
): Promise<void> {
  const answers: Answered[] = [];
  const left = [...wanted];
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next; next = left.shift()) answers.push(await lookUp(history, next, mayBeUnfinal));
  };
  const workers = await Promise.allSettled(Array.from({ length: CONCURRENT }, work));
  state.together(() => {
    for (const { signature, lookup, outcome } of answers) {
      if (lookup.found) state.setOutcome(signature, outcome, lookup.transaction, 0);
      else state.setOutcome(signature, outcome, null, lookup.keptFrom);
    }
  });
  const failed = workers.find((worker) => worker.status === 'rejected');
  if (failed) throw failed.reason;
}

async function lookUp(history: ChainHistory, wanted: Wanted, mayBeUnfinal: boolean): Promise<Answered> {
  const { signature, slot } = wanted;
  const lookup = await history.transaction(signature, { slot, commitment: 'finalized' });
  if (lookup.found) return { ...wanted, lookup, outcome: 'fetched' };
  if (!mayBeUnfinal || (slot !== null && slot < lookup.keptFrom)) return { ...wanted, lookup, outcome: 'missing' };
  const recent = await history.transaction(signature, { slot, commitment: 'confirmed' });
  return { ...wanted, lookup: recent, outcome: recent.found ? 'not_final' : 'missing' };
}
