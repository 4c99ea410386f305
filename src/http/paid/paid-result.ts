/** Where to fetch a paid answer, and the response while its payment is not settled yet. */
import { type Clock, toInstant } from '../../runtime/instant.ts';
import { type Meta, metaOf } from '../meta.ts';

/** Where a paid answer can be fetched again. */
export const resultPath = (resultId: string): string => `/v2/results/${resultId}`;

/** When a caller whose payment is not settled yet should retry, seconds. */
export const PENDING_RETRY_SECONDS = 2;

export interface PendingPayment {
  readonly requestId: string;
  /** Opens the answer once there is one. */
  readonly resultId: string;
  readonly transaction: string;
  readonly tag: string | null;
  readonly clock: Clock;
}

export interface PendingAnswer {
  readonly meta: Meta;
  readonly payment: {
    readonly status: 'pending';
    readonly transaction: string;
    readonly result_url: string;
    readonly retry_after: number;
  };
}

/** The response for a payment without a known outcome: where and when to fetch it. */
export const pendingAnswer = (
  { requestId, resultId, transaction, tag, clock }: PendingPayment,
  publicUrl: string,
): PendingAnswer => ({
  meta: metaOf({ request_id: requestId, queried_at: toInstant(clock.now()), tag }),
  payment: {
    status: 'pending',
    transaction,
    result_url: `${publicUrl}${resultPath(resultId)}`,
    retry_after: PENDING_RETRY_SECONDS,
  },
});
