/** What the log says about one payment, as far as the chain can confirm it. */
import bs58 from 'bs58';
import type { PaymentEvent } from '../../events/payment.ts';
import { memosOf } from '../../solana/landed-transaction.ts';
import { readTransaction, TransactionUnreadable } from '../../solana/local/wire.ts';

export type PaymentStatus = 'authorized' | 'released' | 'submitted' | 'settled' | 'failed' | 'rolled_back';

/** JSON, so that it can be stored as it is. Amounts are base units. */
export interface LoggedPayment {
  readonly stream: string;
  readonly requestId: string;
  readonly wallet: string;
  readonly mint: string;
  readonly payTo: string;
  /** As authorized. */
  readonly amount: string;
  readonly status: PaymentStatus;
  /** As settled; null before. */
  readonly charged: string | null;
  /** Whether it settled after it had counted as expired. */
  readonly late: boolean;
  readonly transaction: string | null;
  /** The payer of the network fee, from the signed bytes; null if they cannot be read. */
  readonly feePayer: string | null;
  /** From the signed bytes; null if they cannot be read. */
  readonly memos: readonly string[] | null;
  /** When it was submitted. */
  readonly submittedAt: string | null;
  readonly slot: number | null;
  readonly finalized: boolean;
}

/** Everything that the signed bytes say, if they are those of a transaction. */
function submission(wire: string): Pick<LoggedPayment, 'feePayer' | 'memos'> {
  try {
    const { message } = readTransaction(Buffer.from(wire, 'base64'));
    const [payer] = message.accounts;
    return {
      feePayer: payer ? bs58.encode(payer) : null,
      memos: memosOf(message),
    };
  } catch (error) {
    if (!(error instanceof TransactionUnreadable)) throw error;
    return { feePayer: null, memos: null };
  }
}

/**
 * Applies the next event of a payment's stream. Null before its authorization: an event without it proves nothing that
 * the chain could confirm, and `docket audit verify` reports it.
 */
export function foldPayment(
  payment: LoggedPayment | null,
  event: PaymentEvent,
  { stream, recordedAt }: { readonly stream: string; readonly recordedAt: string },
): LoggedPayment | null {
  if (event.type === 'PaymentAuthorized') {
    const { requestId, wallet, mint, payTo, amount } = event.data;
    return {
      stream,
      requestId,
      wallet,
      mint,
      payTo,
      amount,
      status: 'authorized',
      charged: null,
      late: false,
      transaction: null,
      feePayer: null,
      memos: null,
      submittedAt: null,
      slot: null,
      finalized: false,
    };
  }
  if (payment === null) return null;
  switch (event.type) {
    case 'PaymentSubmitted': {
      const { feePayer, memos } = submission(event.data.wire);
      const { transaction } = event.data;
      return { ...payment, status: 'submitted', transaction, feePayer, memos, submittedAt: recordedAt };
    }
    case 'PaymentSettled':
    case 'PaymentSettledLate': {
      const { transaction, slot, amount, wallet } = event.data;
      const late = event.type === 'PaymentSettledLate';
      return { ...payment, status: 'settled', transaction, slot, charged: amount, wallet, late, finalized: false };
    }
    case 'PaymentFinalized':
      return { ...payment, slot: event.data.slot, finalized: true };
    case 'PaymentRolledBack':
      return { ...payment, status: 'rolled_back', finalized: false };
    case 'PaymentFailed':
      return { ...payment, status: 'failed' };
    case 'PaymentReleased':
      return { ...payment, status: 'released' };
    default:
      return payment;
  }
}
