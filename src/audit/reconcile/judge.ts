/** Compares what the log says with what the chain says. Pure: everything was read before. */
import { paymentOf } from '../../events/payment.ts';
import { type Instant, MICROS_PER_SECOND, toMicros } from '../../runtime/instant.ts';
import { associatedTokenAddress, isAddress } from '../../solana/addresses.ts';
import type { LandedTransaction, TokenChange } from '../../solana/chain-history.ts';
import { deltaOf } from '../../solana/landed-transaction.ts';
import type { Difference, DifferenceCode } from './differences.ts';
import type { LoggedPayment } from './logged-payment.ts';

/** The accounts that received payments over the log's life. */
export interface Receivers {
  readonly mints: ReadonlySet<string>;
  readonly owners: ReadonlySet<string>;
  /** Token accounts of every receiver. */
  readonly accounts: ReadonlySet<string>;
}

/** The earliest of the payments that are on the chain as final. */
export interface Landed {
  readonly submittedAt: Instant;
  readonly slot: number;
}

/** What became of the question for one settled payment. */
export type OnChain =
  /** `final` is false if it is confirmed but not yet final. */
  | { readonly is: 'there'; readonly transaction: LandedTransaction; readonly final: boolean }
  /** Not there, although the endpoint's history begins no later. */
  | { readonly is: 'absent' }
  | { readonly is: 'not_kept'; readonly keptFrom: number; readonly earliest: Landed | null }
  /** Not asked yet: the budget ended before. */
  | { readonly is: 'unknown' };

export type Verdict =
  | { readonly is: 'matches' | 'awaits_finality' | 'unknown' }
  | { readonly is: 'not_kept'; readonly keptFrom: number }
  | { readonly is: 'differs'; readonly differences: readonly Difference[] };

/** A settled payment against the chain. */
export function judgeSettled(payment: LoggedPayment, onChain: OnChain, receivers: Receivers): Verdict {
  const own = ownDifferences(payment, receivers);
  const differs = (differences: readonly Difference[]): Verdict => ({ is: 'differs', differences });
  switch (onChain.is) {
    case 'unknown':
      return own.length ? differs(own) : { is: 'unknown' };
    case 'not_kept': {
      const all = [...own, ...slotDifferences(payment, onChain.earliest)];
      return all.length ? differs(all) : { is: 'not_kept', keptFrom: onChain.keptFrom };
    }
    case 'absent':
      return differs([
        ...own,
        difference(payment, 'not_on_chain', `settled in slot ${payment.slot}`, 'no such transaction'),
      ]);
    case 'there': {
      const all = [...own, ...transferDifferences(payment, onChain)];
      if (all.length) return differs(all);
      return { is: onChain.final ? 'matches' : 'awaits_finality' };
    }
  }
}

const difference = (payment: LoggedPayment, code: DifferenceCode, expected: string, found: string): Difference => ({
  code,
  stream: payment.stream,
  requestId: payment.requestId,
  transaction: payment.transaction,
  expected,
  found,
});

/** What the log itself must agree on: to whom, and in which token. */
function ownDifferences(payment: LoggedPayment, { mints, owners }: Receivers): readonly Difference[] {
  const found: Difference[] = [];
  if (!owners.has(payment.payTo))
    found.push(difference(payment, 'other_receiver', [...owners].join(' or '), payment.payTo));
  if (!mints.has(payment.mint)) found.push(difference(payment, 'other_mint', [...mints].join(' or '), payment.mint));
  return found;
}

/** From its submission, a transaction lands within about two minutes or never. The rest is for clocks that differ. */
const LANDS_WITHIN = 900 * MICROS_PER_SECOND;

/** Slots grow with time: what was submitted after another payment had landed cannot be in an earlier slot. */
function slotDifferences(payment: LoggedPayment, earliest: Landed | null): readonly Difference[] {
  const { slot, submittedAt } = payment;
  if (earliest === null || slot === null || submittedAt === null || slot >= earliest.slot) return [];
  if (toMicros(submittedAt) <= toMicros(earliest.submittedAt) + LANDS_WITHIN) return [];
  const expected = `slot ${earliest.slot} or later: a payment in it was submitted at ${earliest.submittedAt}`;
  return [difference(payment, 'slot_too_early', expected, `slot ${slot}, submitted at ${submittedAt}`)];
}

function transferDifferences(
  payment: LoggedPayment,
  { transaction, final }: { readonly transaction: LandedTransaction; readonly final: boolean },
): readonly Difference[] {
  const differs = (code: DifferenceCode, expected: string, found: string) => difference(payment, code, expected, found);
  // It says nothing about this payment's transfer, so nothing else is compared.
  const hash = paymentOf(payment.stream);
  if (hash !== transaction.messageHash)
    return [differs('message_differs', `message ${hash}`, `message ${transaction.messageHash}`)];
  if (transaction.error !== null) return [differs('failed_on_chain', 'no error', transaction.error)];
  const found: Difference[] = [];
  const memos = JSON.stringify(transaction.memos);
  if (payment.memos !== null && JSON.stringify(payment.memos) !== memos)
    found.push(differs('memo_differs', JSON.stringify(payment.memos), memos));
  // The slot of a settlement may be that of a dropped fork; the final one must be right.
  if (final && payment.finalized && payment.slot !== transaction.slot)
    found.push(differs('slot_differs', `slot ${payment.slot}`, `slot ${transaction.slot}`));
  // The one who may move the tokens signs: the owner of the account, or a delegate.
  if (!transaction.signers.includes(payment.wallet))
    found.push(differs('payer_differs', payment.wallet, transaction.signers.join(', ')));
  return [...found, ...moneyDifferences(payment, transaction)];
}

function moneyDifferences(payment: LoggedPayment, { changes }: LandedTransaction): readonly Difference[] {
  const differs = (code: DifferenceCode, expected: string, found: string) => difference(payment, code, expected, found);
  const account =
    isAddress(payment.payTo) && isAddress(payment.mint) ? associatedTokenAddress(payment.payTo, payment.mint) : null;
  const received = changes.find((change) => change.account === account);
  const raised = changes.filter((change) => deltaOf(change) > 0n);
  if (!received) {
    const to = raised.map((change) => change.account).join(', ') || 'no account';
    return [differs('recipient_differs', account ?? payment.payTo, to)];
  }
  const found: Difference[] = [];
  if (received.mint !== payment.mint) found.push(differs('mint_differs', payment.mint, received.mint));
  const amounts = new Set([payment.amount, payment.charged ?? payment.amount]);
  const delta = String(deltaOf(received));
  if (amounts.size > 1 || !amounts.has(delta)) {
    const expected =
      amounts.size > 1 ? `${payment.amount} authorized, ${payment.charged} settled` : String(payment.amount);
    found.push(differs('amount_differs', expected, delta));
  }
  return found;
}

/** The owners of the accounts that paid; empty if the endpoint does not name them. */
const payersOf = (changes: readonly TokenChange[]): readonly string[] =>
  changes.filter((change) => deltaOf(change) < 0n).flatMap(({ owner }) => owner ?? []);

/** A transfer into one of our accounts against the payment that it belongs to, if the log has one. */
export function judgeTransfer(
  transaction: LandedTransaction,
  received: bigint,
  payment: LoggedPayment | null,
): Difference | null {
  const found = `${received} base units from ${payersOf(transaction.changes).join(', ') || 'an unknown wallet'}`;
  if (payment === null) {
    return {
      code: 'transfer_without_payment',
      stream: null,
      requestId: null,
      transaction: transaction.signature,
      expected: 'a payment in the log',
      found,
    };
  }
  if (payment.status === 'settled' || payment.status === 'submitted') return null;
  const { stream, requestId } = payment;
  const expected = `no transfer: the payment is ${payment.status.replace('_', ' ')}`;
  return { code: 'landed_but_not_settled', stream, requestId, transaction: transaction.signature, expected, found };
}
