/** The table of payments: one row for each request that presented a payment, charged or not. */
import { PAYMENT_STREAM_EVENTS, type PaymentEvent, paymentOf } from '../../events/payment.ts';
import type { RecordedEvent } from '../../storage/event-log.ts';
import type { ReadableLog } from '../readable-log.ts';
import { ownEvent, ownEvents } from './own-events.ts';
import { RowsInOrder } from './rows-in-order.ts';
import { column, isWithin, type RowOf, type Selection, type Table } from './table.ts';

const PAYMENT_COLUMNS = {
  request_id: column('text', 'Id of the request that presented the payment.'),
  status: column(
    'text',
    '`released` (nothing was sent, nothing charged), `submitted` (no outcome yet), `settled`, `settled_late`, `failed` or `rolled_back`; `authorized` if the rest is missing.',
  ),
  charged: column('boolean', 'Whether the wallet paid: true for `settled` and `settled_late`.'),
  authorized_at: column('time', 'When the request presented the payment.'),
  submitted_at: column('time', 'When its transaction was recorded to be sent.'),
  settled_at: column('time', 'When the transfer was seen to be confirmed.'),
  finalized_at: column('time', 'When the transfer was seen to be final.'),
  ended_at: column('time', 'When it was released, failed or was rolled back.'),
  wallet: column('text', 'The wallet that paid.'),
  endpoint: column('text', 'Method and path of the request.'),
  queries: column('integer', 'How many queries the amount pays for; empty in events that did not say it yet.'),
  answered_cases: column('integer', 'How many cases were answered.'),
  callbacks: column('integer', 'How many callbacks the answer promised.'),
  amount: column('base_units', 'Amount that was presented, in base units (1 USDC = 1,000,000).'),
  amount_usdc: column('usdc', 'The same in USDC.'),
  settled_amount: column('base_units', 'Amount that the settlement records, in base units; empty before.'),
  settled_usdc: column('usdc', 'The same in USDC.'),
  network: column('text', 'The chain, as CAIP-2.'),
  mint: column('text', 'Address of the token.'),
  pay_to: column('text', 'Address that the payment goes to.'),
  dialect: column('text', 'How it was presented: `x402-v2`, `x402-v1` or `self-paid`.'),
  transaction: column('text', 'Signature of the transaction.'),
  slot: column('integer', 'Slot in which the transfer was seen.'),
  reason: column('text', 'Why it was released, failed or was rolled back.'),
  query_error: column('text', 'Error code of a query that failed.'),
  query_status: column('integer', 'HTTP status of a query that failed.'),
  payment: column('text', 'SHA-256 of the transaction message. Its stream is `payment-` and this.'),
  first_revision: column('integer', "Revision of the row's first event in that stream."),
  last_revision: column('integer', "Revision of the row's last event."),
  last_hash: column('text', "Hash of the row's last event; it covers all before it."),
} as const;

export type PaymentRow = RowOf<typeof PAYMENT_COLUMNS>;

export const payments: Table = { columns: PAYMENT_COLUMNS, rows: paymentRows };

/** Rows in the order in which the requests were recorded. `mostWaiting` bounds the memory. */
export async function* paymentRows(
  log: ReadableLog,
  selection: Selection,
  mostWaiting?: number,
): AsyncIterable<PaymentRow> {
  const waiting = new RowsInOrder<PaymentRow>({
    completed: (row) => completed(log, row),
    ...(mostWaiting !== undefined && { mostWaiting }),
  });
  for await (const { recorded, event } of ownEvents(log, ['payment-'])) {
    const { stream } = recorded;
    if (!isPaymentEvent(event) || paymentOf(stream) === null) continue;
    if (event.type === 'PaymentAuthorized') {
      // A stream may present again after a release: that is another request, and another row.
      waiting.close(stream);
      if (isSelected(event, recorded, selection)) waiting.open(stream, opened(event, recorded));
    } else {
      const row = waiting.get(stream);
      if (!row) continue;
      waiting.set(stream, changed(row, event, recorded));
      if (isLast(event)) waiting.close(stream);
    }
    if (waiting.areReady) yield* waiting.ready();
  }
  yield* waiting.rest();
}

const TYPES: ReadonlySet<string> = new Set(PAYMENT_STREAM_EVENTS.map(({ type }) => type));
const isPaymentEvent = (event: { readonly type: string }): event is PaymentEvent => TYPES.has(event.type);

/** After these, no event changes the row. */
const isLast = ({ type }: PaymentEvent): boolean => type === 'PaymentReleased' || type === 'PaymentFinalized';

type Authorized = Extract<PaymentEvent, { type: 'PaymentAuthorized' }>;

const isSelected = ({ data }: Authorized, { metadata }: RecordedEvent, selection: Selection): boolean =>
  (selection.wallet === null || data.wallet === selection.wallet) && isWithin(metadata.recordedAt, selection);

/** Completes a row from its stream, up to the next request that presented the same payment. */
async function completed(log: ReadableLog, row: PaymentRow): Promise<PaymentRow> {
  let known = row;
  for (const recorded of await log.read(`payment-${row.payment}`, { from: (row.last_revision ?? 0) + 1 })) {
    const event = ownEvent(recorded)?.event;
    if (!event || !isPaymentEvent(event)) continue;
    if (event.type === 'PaymentAuthorized') return known;
    known = changed(known, event, recorded);
    if (isLast(event)) return known;
  }
  return known;
}

function opened({ data }: Authorized, { stream, revision, metadata }: RecordedEvent): PaymentRow {
  const amount = BigInt(data.amount);
  return {
    request_id: data.requestId,
    status: 'authorized',
    charged: false,
    authorized_at: metadata.recordedAt,
    submitted_at: null,
    settled_at: null,
    finalized_at: null,
    ended_at: null,
    wallet: data.wallet,
    endpoint: data.endpoint,
    queries: data.queries,
    answered_cases: null,
    callbacks: null,
    amount,
    amount_usdc: amount,
    settled_amount: null,
    settled_usdc: null,
    network: data.network,
    mint: data.mint,
    pay_to: data.payTo,
    dialect: data.dialect,
    transaction: null,
    slot: null,
    reason: null,
    query_error: null,
    query_status: null,
    payment: paymentOf(stream),
    first_revision: revision,
    last_revision: revision,
    last_hash: metadata.hash,
  };
}

function changed(row: PaymentRow, event: PaymentEvent, { revision, metadata }: RecordedEvent): PaymentRow {
  const at = metadata.recordedAt;
  const known = { ...row, last_revision: revision, last_hash: metadata.hash };
  switch (event.type) {
    case 'PaymentAuthorized':
    case 'ResultHandedOut':
      return known;
    case 'QueryAnswered':
      return { ...known, answered_cases: event.data.answeredCases, callbacks: event.data.callbacks.length };
    case 'QueryFailed':
      return { ...known, query_error: event.data.code, query_status: event.data.status };
    case 'PaymentSubmitted':
      return { ...known, status: 'submitted', transaction: event.data.transaction, submitted_at: at };
    case 'PaymentSettled':
    case 'PaymentSettledLate': {
      const amount = BigInt(event.data.amount);
      return {
        ...known,
        status: event.type === 'PaymentSettled' ? 'settled' : 'settled_late',
        charged: true,
        settled_amount: amount,
        settled_usdc: amount,
        slot: event.data.slot,
        settled_at: at,
        finalized_at: null,
        ended_at: null,
        reason: null,
      };
    }
    case 'PaymentFinalized':
      return { ...known, slot: event.data.slot, finalized_at: at };
    case 'PaymentFailed':
      return { ...known, status: 'failed', charged: false, ended_at: at, reason: event.data.reason };
    case 'PaymentRolledBack':
      return { ...known, status: 'rolled_back', charged: false, ended_at: at, reason: event.data.reason };
    case 'PaymentReleased':
      return { ...known, status: 'released', charged: false, ended_at: at, reason: event.data.reason };
  }
}
