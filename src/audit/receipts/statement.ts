/** A wallet's statement: each request that it was charged for, and totals. */

import type { Instant } from '../../runtime/instant.ts';
import { paymentRows } from '../export/payments.ts';
import { column, isWithin, type RowOf } from '../export/table.ts';
import type { ReadableLog } from '../readable-log.ts';

export const STATEMENT_COLUMNS = {
  paid_at: column('time', 'When the transfer was seen to be confirmed.'),
  request_id: column('text', 'Id of the request that was paid for.'),
  endpoint: column('text', 'Method and path of the request.'),
  queries: column('integer', 'How many queries the amount pays for; empty if the event did not say it yet.'),
  amount: column('base_units', 'Amount that was charged, in base units (1 USDC = 1,000,000).'),
  amount_usdc: column('usdc', 'The same in USDC.'),
  status: column(
    'text',
    '`settled`, `late` (it landed after it had counted as expired) or `rolled_back` (returned by the chain, not charged).',
  ),
  transaction: column('text', 'Signature of the transaction.'),
  slot: column('integer', 'Slot in which the transfer was seen.'),
  network: column('text', 'The chain, as CAIP-2.'),
  mint: column('text', 'Address of the token.'),
  pay_to: column('text', 'Address that was paid.'),
} as const;

export type StatementLine = RowOf<typeof STATEMENT_COLUMNS>;

export interface StatementOf {
  readonly wallet: string;
  /** Both ends are included. */
  readonly from: Instant | null;
  readonly to: Instant | null;
}

/** The heading of a statement. */
export interface StatementHead extends StatementOf {
  /** Null for a log that has no identity yet. */
  readonly log: {
    readonly logId: string;
    readonly receiver: string;
    readonly mint: string;
    readonly network: string;
  } | null;
}

export interface Totals {
  readonly charged: number;
  readonly amount: bigint;
  readonly rolledBack: number;
  readonly returned: bigint;
}

export const NO_TOTALS: Totals = { charged: 0, amount: 0n, rolledBack: 0, returned: 0n };

/** Charged requests in the order in which they were recorded; the period compares when each was paid. */
export async function* statementLines(
  log: ReadableLog,
  { wallet, from, to }: StatementOf,
): AsyncIterable<StatementLine> {
  for await (const row of paymentRows(log, { wallet, from: null, to: null })) {
    // A failed payment that never settled has no such time.
    if (row.settled_at === null || !isWithin(row.settled_at, { from, to })) continue;
    yield {
      paid_at: row.settled_at,
      request_id: row.request_id,
      endpoint: row.endpoint,
      queries: row.queries,
      amount: row.settled_amount,
      amount_usdc: row.settled_usdc,
      status: row.status === 'settled_late' ? 'late' : row.status,
      transaction: row.transaction,
      slot: row.slot,
      network: row.network,
      mint: row.mint,
      pay_to: row.pay_to,
    };
  }
}

/** A payment that was rolled back is listed, but is not part of the amount. */
export function plusLine(totals: Totals, { status, amount }: StatementLine): Totals {
  const units = amount ?? 0n;
  if (status === 'rolled_back') {
    return { ...totals, rolledBack: totals.rolledBack + 1, returned: totals.returned + units };
  }
  return { ...totals, charged: totals.charged + 1, amount: totals.amount + units };
}
