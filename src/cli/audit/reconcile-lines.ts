/** The findings of `docket audit reconcile` as lines for people and as JSON for programs. */
import type { Finding, Totals } from '../../audit/reconcile/compare.ts';
import type { LoggedPayment } from '../../audit/reconcile/logged-payment.ts';
import type { Reconciliation } from '../../audit/reconcile/reconcile.ts';
import { solText, usdcText } from '../../solana/decimal-amount.ts';
import { numbered } from './replay-columns.ts';

/** An amount for programs: exact, in base units and in USDC. */
const money = (amount: bigint) => ({ amount: String(amount), usdc: usdcText(amount) });

const paid = ({ amount, charged }: LoggedPayment): bigint => BigInt(charged ?? amount);

const named = (payment: LoggedPayment) => {
  const { stream, requestId, wallet, transaction, slot } = payment;
  return { stream, requestId, wallet, transaction, slot, ...money(paid(payment)) };
};

export function findingJson(finding: Finding): object {
  switch (finding.type) {
    case 'difference':
      return finding;
    case 'outgoing':
      return { ...finding, ...money(finding.amount) };
    case 'not_kept_by_endpoint':
      return {
        ...{ type: finding.type, stream: null, requestId: null, wallet: null },
        ...(finding.payment && named(finding.payment)),
        ...{ transaction: finding.transaction, slot: finding.slot, keptFrom: finding.keptFrom },
      };
    case 'pending':
      return {
        type: finding.type,
        ...named(finding.payment),
        submittedAt: finding.payment.submittedAt,
        onChain: finding.onChain,
      };
    case 'awaits_finality':
      return { type: finding.type, ...named(finding.payment) };
  }
}

export function findingLines(finding: Finding): readonly string[] {
  switch (finding.type) {
    case 'difference': {
      const { code, stream, transaction, expected, found } = finding;
      return [
        `! ${[code, stream, transaction && `transaction ${transaction}`].filter(Boolean).join('  ')}`,
        `    expected: ${expected}`,
        `    found:    ${found}`,
      ];
    }
    case 'outgoing':
      return [
        `  outgoing  ${usdcText(finding.amount)} USDC to ${finding.to.join(', ') || 'nobody'}  transaction ${finding.transaction}`,
      ];
    case 'not_kept_by_endpoint': {
      const { payment, transaction, slot, keptFrom } = finding;
      const whose = payment?.stream ?? 'of no settled payment';
      const why = keptFrom === null ? 'not given' : `in slot ${slot}; the first that is kept is ${keptFrom}`;
      return [`? not_kept_by_endpoint  ${whose}  transaction ${transaction}  ${why}`];
    }
    case 'pending':
      return [
        `  pending since ${finding.payment.submittedAt}  ${finding.payment.stream}  on the chain: ${finding.onChain}`,
      ];
    case 'awaits_finality':
      return [`  not final yet  ${finding.payment.stream}  transaction ${finding.payment.transaction}`];
  }
}

export function summaryJson(result: Reconciliation, calls: number): object {
  const { charged, incoming, outgoing, balances, fees, ...rest } = result;
  return {
    type: 'summary',
    ...rest,
    charged: money(charged),
    incoming: { transfers: incoming.transfers, ...money(incoming.amount) },
    outgoing: { transfers: outgoing.transfers, ...money(outgoing.amount) },
    balances: balances.map(({ account, balance, sum, verdict }) => ({
      account,
      balance: money(balance),
      sum: money(sum),
      verdict,
    })),
    fees: fees.map(({ feePayer, transactions, lamports }) => ({ feePayer, transactions, lamports: String(lamports) })),
    calls,
  };
}

/** What is missing in an incomplete comparison. More may be found once the list of transactions is complete. */
export const remaining = (left: number): string =>
  left > 0 ? `at least ${numbered(left, 'transaction')} still to be fetched` : 'lists or balances are still to be read';

const VERDICTS = {
  matches: 'the sum of its transfers',
  differs: 'not the sum of its transfers',
  not_provable: 'not comparable: the endpoint does not keep the account’s first transfers',
} as const;

export function summaryLines(result: Reconciliation, calls: number): readonly string[] {
  const { incoming, outgoing, balances, fees, listedFrom, complete, left } = result;
  const row = (title: string, text: string) => `${title.padEnd(12)}${text}`;
  const transfers = (count: number, amount: bigint) => `${numbered(count, 'transfer')}, ${usdcText(amount)} USDC`;
  return [
    ...paymentLines(result, row),
    row('incoming', transfers(incoming.transfers, incoming.amount)),
    row('outgoing', transfers(outgoing.transfers, outgoing.amount)),
    ...balances.map(({ account, balance, verdict }) =>
      row('balance', `${usdcText(balance)} USDC in ${account}, ${VERDICTS[verdict]}`),
    ),
    ...fees.map(({ feePayer, transactions, lamports }) =>
      row(
        'fees',
        `${solText(lamports)} SOL for ${numbered(transactions, 'sponsored transaction')}, paid by ${feePayer}`,
      ),
    ),
    ...Object.entries(listedFrom)
      .filter(([, slot]) => slot > 0)
      .map(([account, slot]) =>
        row(
          'history',
          Number.isFinite(slot)
            ? `transfers of ${account} are compared from slot ${slot} on; the endpoint keeps none before`
            : `the endpoint does not say how far back it lists the transfers of ${account}`,
        ),
      ),
    row('RPC calls', String(calls)),
    ...(complete ? [] : [row('incomplete', remaining(left))]),
  ];
}

function paymentLines({ payments, charged }: Totals, row: (title: string, text: string) => string): readonly string[] {
  const { settled, late, matches, differs, notKept, awaitsFinality, notCompared } = payments;
  const parts: readonly (readonly [count: number, text: string])[] = [
    [matches, 'on the chain as logged'],
    [differs, differs === 1 ? 'differs' : 'differ'],
    [notKept, 'not kept by the endpoint'],
    [awaitsFinality, 'not final yet'],
    [notCompared, 'not compared yet'],
  ];
  const compared = parts
    .filter(([count], index) => index === 0 || count > 0)
    .map(([count, text]) => `${count} ${text}`);
  return [
    row(
      'settled',
      `${numbered(settled, 'payment')}${late ? ` (${late} late)` : ''}, ${usdcText(charged)} USDC: ${compared.join(', ')}`,
    ),
    row('apart', `${payments.pending} pending, ${payments.failed} failed, ${payments.rolledBack} rolled back`),
  ];
}
