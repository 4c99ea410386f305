/** The receipt of one charged request: what was paid, and the events that prove it. It holds nothing of the answer. */
import type { Purchase } from '../../commands/payment/payment.ts';
import { UnreadableEvent } from '../../events/unreadable-event.ts';
import type { Instant } from '../../runtime/instant.ts';
import { usdcText } from '../../solana/decimal-amount.ts';
import type { RecordedEvent } from '../../storage/event-log.ts';
import { hashEvent } from '../../storage/prepare-append.ts';

export interface Receipt {
  readonly request_id: string;
  readonly status: 'settled' | 'settled_late';
  readonly paid_at: Instant;
  /** Null until the transfer was seen to be final. */
  readonly final_at: Instant | null;
  readonly endpoint: string;
  readonly queries: number | null;
  /** Base units of the token. */
  readonly amount: string;
  /** The same in USDC: exact decimal text. */
  readonly amount_usdc: string;
  readonly asset: string;
  readonly network: string;
  readonly pay_to: string;
  readonly payer: string;
  readonly transaction: string;
  readonly slot: number;
  readonly events: readonly {
    readonly type: string;
    readonly stream: string;
    readonly revision: number;
    readonly hash: string;
  }[];
}

type Settled = Purchase & { readonly slot: number; readonly late: boolean };

/**
 * @param recorded the complete stream of the payment
 * @throws UnreadableEvent if an event does not follow from the one before it: then it proves nothing
 */
export function receiptOf(
  { authorization, submission, slot, late }: Settled,
  recorded: readonly RecordedEvent[],
): Receipt {
  const { requestId } = authorization;
  const first = recorded.findLastIndex(
    ({ type, data }) => type === 'PaymentAuthorized' && data.requestId === requestId,
  );
  const proof = recorded.slice(Math.max(first, 0));
  const settlement = proof.findLast(({ type }) => type === 'PaymentSettled' || type === 'PaymentSettledLate');
  if (!settlement) throw new Error(`payment of request ${requestId} is settled without a settlement`);
  assertChained(recorded);
  const amount = String(settlement.data.amount);
  const final = proof.findLast(({ type }) => type === 'PaymentFinalized');
  return {
    request_id: requestId,
    status: late ? 'settled_late' : 'settled',
    paid_at: settlement.metadata.recordedAt,
    final_at: final?.metadata.recordedAt ?? null,
    endpoint: authorization.endpoint,
    queries: authorization.queries,
    amount,
    amount_usdc: usdcText(BigInt(amount)),
    asset: authorization.mint,
    network: authorization.network,
    pay_to: authorization.payTo,
    payer: authorization.wallet,
    transaction: submission.transaction,
    slot,
    events: proof.map(({ type, stream, revision, metadata: { hash } }) => ({ type, stream, revision, hash })),
  };
}

function assertChained(recorded: readonly RecordedEvent[]): void {
  let before = '';
  for (const event of recorded) {
    const { type, stream, revision, position, metadata } = event;
    const { hash } = metadata;
    if (hashEvent(before, event) !== hash) {
      const place = { type, stream, revision, position };
      throw new UnreadableEvent(place, 'its hash does not match its content and the event before it');
    }
    before = hash;
  }
}
