/** Judges everything that was read, and sums it up. */
import { paymentStream } from '../../events/payment.ts';
import { deltaOf } from '../../solana/landed-transaction.ts';
import type { Difference } from './differences.ts';
import { judgeSettled, judgeTransfer, type Landed, type OnChain, type Receivers } from './judge.ts';
import type { LoggedPayment } from './logged-payment.ts';
import { unreadableIn } from './read-log.ts';
import type { ReconcileState } from './state.ts';
import type { PaymentRow, SignatureRow } from './state-rows.ts';

export interface Balance {
  readonly account: string;
  /** On the chain; base units. */
  readonly balance: bigint;
  /** Incoming minus outgoing, up to the slot of the balance. */
  readonly sum: bigint;
  /** `not_provable`: the endpoint's history begins after the account's first transfers. */
  readonly verdict: 'matches' | 'differs' | 'not_provable';
}

export type Finding =
  | ({ readonly type: 'difference' } & Difference)
  /** A transaction that no endpoint gives any more: of a settled payment, or one that names our account. */
  | {
      readonly type: 'not_kept_by_endpoint';
      readonly transaction: string | null;
      readonly slot: number | null;
      /** Null for a listed transaction that no settled payment names. */
      readonly payment: LoggedPayment | null;
      /** The first slot that is kept; null if the endpoint did not say why it does not give the transaction. */
      readonly keptFrom: number | null;
    }
  /** Submitted, with no outcome in the log. */
  | {
      readonly type: 'pending';
      readonly payment: LoggedPayment;
      readonly onChain: 'final' | 'failed' | 'confirmed' | 'absent' | 'unknown';
    }
  /** Settled and on the chain, but not final yet. */
  | { readonly type: 'awaits_finality'; readonly payment: LoggedPayment }
  /** The owner of the account moved money out of it. */
  | {
      readonly type: 'outgoing';
      readonly account: string;
      readonly transaction: string;
      readonly slot: number;
      readonly amount: bigint;
      readonly to: readonly string[];
    };

export interface Fees {
  readonly feePayer: string;
  readonly transactions: number;
  readonly lamports: bigint;
}

export interface Totals {
  readonly payments: {
    /** Settled ones, however they compare. */
    settled: number;
    late: number;
    matches: number;
    differs: number;
    notKept: number;
    awaitsFinality: number;
    notCompared: number;
    pending: number;
    failed: number;
    rolledBack: number;
  };
  /** Base units that the log says were paid. */
  readonly charged: bigint;
  readonly incoming: { transfers: number; amount: bigint };
  readonly outgoing: { transfers: number; amount: bigint };
  readonly balances: readonly Balance[];
  /** Fees of sponsored transactions, by who paid them. */
  readonly fees: readonly Fees[];
  /** By account, from which slot its transactions are listed; 0 for the whole history. */
  readonly listedFrom: Readonly<Record<string, number>>;
  readonly differences: number;
}

/** The sums of the accounts' transfers up to a slot, and whether the first one of an account opened it. */
export interface Sums {
  readonly sums: ReadonlyMap<string, { readonly sum: bigint; readonly opened: boolean }>;
  /** False if the content of a listed transaction is not known: it may have been a transfer. */
  readonly whole: boolean;
}

export function sumsUpTo(state: ReconcileState, slots: ReadonlyMap<string, number>): Sums {
  let whole = true;
  const sums = new Map<string, { sum: bigint; opened: boolean; first: number }>();
  for (const { transaction, failed } of state.listed()) {
    if (transaction === null && !failed) whole = false;
    if (transaction === null || transaction.error !== null) continue;
    for (const change of transaction.changes) {
      const until = slots.get(change.account);
      if (until === undefined || transaction.slot > until) continue;
      const known = sums.get(change.account) ?? { sum: 0n, opened: false, first: transaction.slot };
      known.sum += deltaOf(change);
      // Within one slot the order is unknown.
      if (change.before === null && transaction.slot === known.first) known.opened = true;
      sums.set(change.account, known);
    }
  }
  return { sums, whole };
}

/** Reports what was found, payments first. @param balances empty if they were not read */
export function compare(
  state: ReconcileState,
  receivers: Receivers,
  balances: readonly Balance[],
  report: (finding: Finding) => void,
): Totals {
  const payments = {
    ...{ settled: 0, late: 0, matches: 0, differs: 0, notKept: 0, awaitsFinality: 0, notCompared: 0 },
    ...{ pending: 0, failed: 0, rolledBack: 0 },
  };
  const [incoming, outgoing] = [
    { transfers: 0, amount: 0n },
    { transfers: 0, amount: 0n },
  ];
  const totals = { payments, incoming, outgoing, charged: 0n, differences: 0 };
  const fees = new Map<string, { transactions: number; lamports: bigint }>();
  const differs = (difference: Difference): void => {
    totals.differences++;
    report({ type: 'difference', ...difference });
  };

  for (const { stream, problem } of unreadableIn(state)) differs(unreadable(stream, problem));
  const earliest = state.earliestLanded();
  for (const row of state.payments()) {
    addFee(fees, row);
    comparePayment(row, earliest, receivers, totals, differs, report);
  }
  for (const { transaction, streams } of state.namedTwice()) differs(twice(transaction, streams));
  for (const row of state.listed()) compareTransfers(state, row, receivers, totals, differs, report);
  for (const balance of balances) if (balance.verdict === 'differs') differs(wrongBalance(balance));
  return {
    ...totals,
    balances,
    fees: [...fees].map(([feePayer, sum]) => ({ feePayer, ...sum })),
    listedFrom: Object.fromEntries(
      [...receivers.accounts].map((account) => [account, state.listing(account)?.keptFrom ?? 0]),
    ),
  };
}

const unreadable = (stream: string | null, problem: string): Difference => ({
  ...{ code: 'unreadable_event', stream, requestId: null, transaction: null },
  ...{ expected: 'an event of this service', found: problem },
});

const twice = (transaction: string, streams: readonly string[]): Difference => ({
  ...{ code: 'transaction_of_two_payments', stream: streams[0] ?? null, requestId: null, transaction },
  ...{ expected: 'one payment', found: streams.join(', ') },
});

const wrongBalance = ({ account, balance, sum }: Balance): Difference => ({
  ...{ code: 'balance_differs', stream: null, requestId: null, transaction: null },
  ...{ expected: `${sum} base units in ${account}, the sum of its transfers`, found: `${balance} base units` },
});

type Running = Pick<Totals, 'payments' | 'incoming' | 'outgoing'> & { charged: bigint };

function comparePayment(
  { payment, found }: PaymentRow,
  earliest: Landed | null,
  receivers: Receivers,
  totals: Running,
  differs: (difference: Difference) => void,
  report: (finding: Finding) => void,
): void {
  const { payments } = totals;
  if (payment.status === 'failed') payments.failed++;
  if (payment.status === 'rolled_back') payments.rolledBack++;
  if (payment.status === 'submitted') {
    payments.pending++;
    report({ type: 'pending', payment, onChain: standing(found) });
  }
  if (payment.status !== 'settled') return;
  payments.settled++;
  if (payment.late) payments.late++;
  totals.charged += BigInt(payment.charged ?? payment.amount);
  const verdict = judgeSettled(payment, onChain(payment, found, earliest), receivers);
  switch (verdict.is) {
    case 'matches':
      payments.matches++;
      return;
    case 'awaits_finality':
      payments.awaitsFinality++;
      report({ type: 'awaits_finality', payment });
      return;
    case 'unknown':
      payments.notCompared++;
      return;
    case 'not_kept': {
      payments.notKept++;
      const { transaction, slot } = payment;
      report({ type: 'not_kept_by_endpoint', transaction, slot, payment, keptFrom: slotOrNull(verdict.keptFrom) });
      return;
    }
    case 'differs':
      payments.differs++;
      for (const difference of verdict.differences) differs(difference);
  }
}

const slotOrNull = (slot: number): number | null => (Number.isFinite(slot) && slot > 0 ? slot : null);

function onChain({ slot }: LoggedPayment, found: SignatureRow | null, earliest: Landed | null): OnChain {
  if (found === null || found.outcome === 'listed') return { is: 'unknown' };
  const { transaction, outcome, keptFrom } = found;
  if (transaction) return { is: 'there', transaction, final: outcome === 'fetched' };
  // A listed transaction without content is there, only not given.
  if (found.listed) return { is: 'not_kept', keptFrom, earliest: null };
  if (slot === null || slot < keptFrom) return { is: 'not_kept', keptFrom, earliest };
  return { is: 'absent' };
}

function standing(found: SignatureRow | null): 'final' | 'failed' | 'confirmed' | 'absent' | 'unknown' {
  if (found === null || found.outcome === 'listed') return 'unknown';
  if (found.transaction === null) return found.listed || found.keptFrom > 0 ? 'unknown' : 'absent';
  if (found.transaction.error !== null) return 'failed';
  return found.outcome === 'fetched' ? 'final' : 'confirmed';
}

/** A sponsored transaction costs its fee payer the fee, also if it failed. */
function addFee(fees: Map<string, { transactions: number; lamports: bigint }>, { payment, found }: PaymentRow): void {
  const transaction = found?.transaction;
  const feePayer = transaction?.signers[0];
  if (!transaction || feePayer === undefined || feePayer === payment.wallet) return;
  const sum = fees.get(feePayer) ?? { transactions: 0, lamports: 0n };
  sum.transactions++;
  sum.lamports += transaction.fee;
  fees.set(feePayer, sum);
}

function compareTransfers(
  state: ReconcileState,
  { transaction, outcome, signature, slot, keptFrom, failed }: SignatureRow,
  { accounts }: Receivers,
  { incoming, outgoing }: Running,
  differs: (difference: Difference) => void,
  report: (finding: Finding) => void,
): void {
  if (transaction === null && outcome === 'missing' && !failed) {
    // Those of settled payments were reported with them.
    if (state.paymentsOf(signature).some(({ status }) => status === 'settled')) return;
    report({
      type: 'not_kept_by_endpoint',
      transaction: signature,
      slot,
      payment: null,
      keptFrom: slotOrNull(keptFrom),
    });
  }
  if (transaction === null || transaction.error !== null) return;
  for (const change of transaction.changes) {
    if (!accounts.has(change.account)) continue;
    const delta = deltaOf(change);
    if (delta > 0n) {
      incoming.transfers++;
      incoming.amount += delta;
      // From one of our accounts to another: no wallet paid.
      if (transaction.changes.some((other) => accounts.has(other.account) && deltaOf(other) < 0n)) continue;
      const [named] = state.paymentsOf(transaction.signature);
      const payment = named ?? state.payment(paymentStream(transaction.messageHash));
      const difference = judgeTransfer(transaction, delta, payment);
      if (difference) differs(difference);
    }
    if (delta < 0n) {
      outgoing.transfers++;
      outgoing.amount -= delta;
      const { signature, slot, changes } = transaction;
      const to = changes.filter((other) => deltaOf(other) > 0n).map(({ owner, account }) => owner ?? account);
      report({ type: 'outgoing', account: change.account, transaction: signature, slot, amount: -delta, to });
    }
  }
}
