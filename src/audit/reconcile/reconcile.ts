/** Compares every payment of the log with the chain, and every transfer into our accounts with the log. */
import { CallBudgetSpent, type Pacing, systemPacing } from '../../solana/call-budget.ts';
import type { ChainHistory } from '../../solana/chain-history.ts';
import type { EventLog } from '../../storage/event-log.ts';
import { type Balance, compare, type Finding, sumsUpTo, type Totals } from './compare.ts';
import type { Receivers } from './judge.ts';
import { fetchTransactions, listAccount } from './read-chain.ts';
import { readLog, receiversIn, targetIn } from './read-log.ts';
import { type ReconcileState, StateUnusable } from './state.ts';

export interface Progress {
  log(events: number): void;
  listed(signatures: number): void;
  /** @param left how many remain, as far as known */
  fetched(transactions: number, left: number): void;
}

export interface ReconcileOptions {
  readonly log: Pick<EventLog, 'read' | 'readAll'>;
  readonly history: ChainHistory;
  readonly state: ReconcileState;
  readonly report: (finding: Finding) => void;
  readonly progress: Progress;
  readonly pacing?: Pacing;
}

export interface Reconciliation extends Totals {
  /** Whether everything was compared; false if the budget of calls ended before. */
  readonly complete: boolean;
  /** Transactions that are still to be fetched. */
  readonly left: number;
}

/** The log belongs to another chain than the endpoints serve. */
export class OtherChain extends Error {
  readonly code = 'log_chain_differs';
  constructor(expected: string, actual: string) {
    super(`the log belongs to the chain with genesis hash ${expected}, and the endpoints serve ${actual}`);
    this.name = 'OtherChain';
  }
}

/**
 * The local chain answers with its newest balance whichever commitment is asked, so a balance is compared again until
 * the newest transfers are final.
 */
const BALANCE_ATTEMPTS = 10;
const BALANCE_PAUSE_MS = 2_000;

/** @throws OtherChain, StateUnusable for a state of another log or of what this one no longer holds, ChainUnavailable */
export async function reconcile(options: ReconcileOptions): Promise<Reconciliation> {
  const { log, history, state, report, progress, pacing = systemPacing } = options;
  const before = targetIn(state);
  await assertSameLog(log, state);
  await readLog(log, state, progress.log);
  if (before.logId !== null && before.logId !== targetIn(state).logId) throw otherLog();
  const receivers = receiversIn(state);
  let balances: readonly Balance[] = [];
  let complete = true;
  try {
    await assertSameChain(history, state);
    state.askAgain();
    await readChain(options, receivers);
    balances = await readBalances(options, receivers, pacing);
  } catch (error) {
    if (!(error instanceof CallBudgetSpent)) throw error;
    complete = false;
  }
  const totals = compare(state, receivers, balances, report);
  return { ...totals, complete, left: state.counts().left };
}

const otherLog = () => new StateUnusable('the file belongs to another log');

/** The first event of a log never changes, so another one is another log. */
async function assertSameLog(log: Pick<EventLog, 'readAll'>, state: ReconcileState): Promise<void> {
  const known = state.fact('firstEvent');
  for await (const { events } of log.readAll(null, { by: 'all' })) {
    const [first] = events;
    if (!first) continue;
    if (known === null) state.setFact('firstEvent', first.id);
    else if (known !== first.id) throw otherLog();
    return;
  }
  if (known !== null) throw otherLog();
}

async function assertSameChain(history: ChainHistory, state: ReconcileState): Promise<void> {
  const { genesisHash } = targetIn(state);
  const actual = await history.genesisHash();
  if (genesisHash !== null && genesisHash !== actual) throw new OtherChain(genesisHash, actual);
  const known = state.fact('chain');
  if (known !== null && known !== actual) throw new OtherChain(known, actual);
  state.setFact('chain', actual);
}

async function readChain({ history, state, progress }: ReconcileOptions, { accounts }: Receivers): Promise<void> {
  for (const account of accounts) await listAccount(history, state, account, progress.listed);
  let { left } = state.counts();
  await fetchTransactions(history, state, (count) => {
    left = Math.max(0, left - count);
    progress.fetched(count, left);
  });
}

async function readBalances(
  options: ReconcileOptions,
  receivers: Receivers,
  pacing: Pacing,
): Promise<readonly Balance[]> {
  const { history, state } = options;
  for (let attempt = 1; ; attempt++) {
    const read = await Promise.all(
      [...receivers.accounts].map(async (account) => ({ account, at: await history.tokenBalance(account) })),
    );
    // Transfers that became final before the balance was read are in it.
    await readChain(options, receivers);
    const slots = new Map(read.map(({ account, at }) => [account, at?.slot ?? Number.POSITIVE_INFINITY]));
    const { sums, whole } = sumsUpTo(state, slots);
    const balances = read.map(({ account, at }): Balance => {
      const { sum, opened } = sums.get(account) ?? { sum: 0n, opened: false };
      const isProvable = whole && (opened || (state.listing(account)?.keptFrom ?? 0) === 0);
      const balance = at?.amount ?? 0n;
      return { account, balance, sum, verdict: !isProvable ? 'not_provable' : sum === balance ? 'matches' : 'differs' };
    });
    if (attempt === BALANCE_ATTEMPTS || balances.every(({ verdict }) => verdict !== 'differs')) return balances;
    await pacing.pause(BALANCE_PAUSE_MS);
  }
}
