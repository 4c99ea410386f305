/** The differences between log and chain that `docket audit reconcile` can find; the table is in docs/auditing.md. */

export const DIFFERENCES = {
  not_on_chain: 'A settled payment is not on the chain, although the endpoint keeps that part of its history.',
  failed_on_chain: 'A settled payment failed on the chain, so nothing was paid.',
  amount_differs: 'Our account received another amount than the log says.',
  recipient_differs: 'The transfer went to another account than that of the receiver in the log.',
  mint_differs: 'The transfer moved another token.',
  payer_differs: 'Another wallet paid than the log says.',
  slot_differs: 'The transfer is in another slot than the log says of the final one.',
  slot_too_early:
    'A settled payment names a slot before the history of the endpoint, and was submitted after one that is in that history.',
  message_differs: 'The transaction on the chain is not the one that the stream is named after.',
  memo_differs: 'The memo on the chain is not the one that the log holds.',
  transaction_of_two_payments: 'Two payments name one transaction.',
  other_receiver: 'A payment names a receiver that this log never had.',
  other_mint: 'A payment names a token that this log does not take.',
  transfer_without_payment: 'Our account received a transfer that no payment in the log names.',
  landed_but_not_settled:
    'A transfer landed, and the log says that its payment failed, was rolled back or was released.',
  balance_differs: 'The balance of an account is not the sum of its transfers.',
  unreadable_event: 'An event of the log cannot be read.',
} as const;

export type DifferenceCode = keyof typeof DIFFERENCES;

export interface Difference {
  readonly code: DifferenceCode;
  readonly stream: string | null;
  readonly requestId: string | null;
  readonly transaction: string | null;
  /** What the log says, or what should be there. */
  readonly expected: string;
  readonly found: string;
}
