/** Read model of payments: one document each, also found by its request and by the work left for recovery. */
import { unreachable } from '../commands/decider.ts';
import type { JsonObject } from '../events/event.ts';
import { PAYMENT_STREAM_EVENTS, type PaymentEvent, paymentOf } from '../events/payment.ts';
import type { Instant } from '../runtime/instant.ts';
import type { Projection } from './projection.ts';

export const PAYMENTS = 'payments';

/** The work left for recovery; `none` once the payment is final. */
export type PaymentAttention =
  /** Submitted, without an outcome. */
  | 'outcome'
  /** Confirmed, but not final yet. */
  | 'finality'
  /** Given up. Checked for a while longer, since money that arrives late must still be answered. */
  | 'doubt'
  | 'none';

export type PaymentRecordStatus = 'released' | 'authorized' | 'submitted' | 'settled' | 'failed' | 'rolled_back';

export type PaymentRecord = {
  /** SHA-256 of the transaction's message, which is the document's id. */
  readonly payment: string;
  /** The last request that presented it. */
  readonly requestId: string;
  readonly wallet: string;
  readonly dialect: string;
  readonly endpoint: string;
  /** Base units, decimal. */
  readonly amount: string;
  readonly status: PaymentRecordStatus;
  readonly attention: PaymentAttention;
  readonly transaction: string | null;
  readonly lastValidBlockHeight: number | null;
  /** Name of the blob with the answer. */
  readonly answer: string | null;
  readonly keepUntil: Instant | null;
  readonly answeredCases: number;
  readonly late: boolean;
  readonly finalized: boolean;
  readonly handedOut: boolean;
  /** Why it failed, was released or was rolled back. */
  readonly reason: string | null;
  /** Error code of the last query that failed. */
  readonly queryError: string | null;
  readonly authorizedAt: Instant;
  readonly submittedAt: Instant | null;
  /** When its outcome was recorded. */
  readonly outcomeAt: Instant | null;
};

export const payments: Projection<PaymentEvent> = {
  name: PAYMENTS,
  events: PAYMENT_STREAM_EVENTS,
  collections: [
    {
      name: PAYMENTS,
      indexes: [
        ['requestId'],
        ['transaction'],
        ['attention', 'submittedAt'],
        ['attention', 'outcomeAt'],
        ['wallet', 'authorizedAt'],
      ],
    },
  ],

  targets({ recorded }) {
    const id = paymentOf(recorded.stream);
    return id === null ? [] : [{ collection: PAYMENTS, id }];
  },

  fold({ id }, document, { event, recorded }) {
    const at = recorded.metadata.recordedAt;
    if (event.type === 'PaymentAuthorized') return authorized(id, event, at);
    // A release may come alone: an identifier took over a claim that was never recorded.
    return document === null ? null : changed(document as PaymentRecord, event, at);
  },
};

function authorized(
  payment: string,
  { data }: Extract<PaymentEvent, { type: 'PaymentAuthorized' }>,
  at: Instant,
): PaymentRecord {
  return {
    payment,
    requestId: data.requestId,
    wallet: data.wallet,
    dialect: data.dialect,
    endpoint: data.endpoint,
    amount: data.amount,
    status: 'authorized',
    attention: 'none',
    transaction: null,
    lastValidBlockHeight: null,
    answer: null,
    keepUntil: null,
    answeredCases: 0,
    late: false,
    finalized: false,
    handedOut: false,
    reason: null,
    queryError: null,
    authorizedAt: at,
    submittedAt: null,
    outcomeAt: null,
  };
}

function changed(
  record: PaymentRecord,
  event: Exclude<PaymentEvent, { type: 'PaymentAuthorized' }>,
  at: Instant,
): JsonObject {
  switch (event.type) {
    case 'QueryAnswered': {
      const { answer, keepUntil, answeredCases } = event.data;
      return { ...record, answer, keepUntil, answeredCases };
    }
    case 'QueryFailed':
      return { ...record, queryError: event.data.code };
    case 'PaymentSubmitted': {
      const { transaction, lastValidBlockHeight } = event.data;
      return {
        ...record,
        status: 'submitted',
        attention: 'outcome',
        transaction,
        lastValidBlockHeight,
        submittedAt: at,
      };
    }
    case 'PaymentSettled':
    case 'PaymentSettledLate': {
      const late = event.type === 'PaymentSettledLate';
      return {
        ...record,
        status: 'settled',
        attention: 'finality',
        late,
        finalized: false,
        reason: null,
        outcomeAt: at,
      };
    }
    case 'PaymentFailed':
      return { ...record, status: 'failed', attention: 'doubt', reason: event.data.reason, outcomeAt: at };
    case 'PaymentRolledBack':
      return { ...record, status: 'rolled_back', attention: 'doubt', reason: event.data.reason, outcomeAt: at };
    case 'PaymentFinalized':
      return { ...record, finalized: true, attention: 'none' };
    case 'PaymentReleased':
      return { ...record, status: 'released', attention: 'none', reason: event.data.reason };
    case 'ResultHandedOut':
      return { ...record, handedOut: true };
    default:
      return unreachable(event);
  }
}
