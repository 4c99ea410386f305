/** Finds the payment that a result id names, for its answer and its receipt. */
import type { FastifyReply } from 'fastify';
import { folded } from '../../commands/handle.ts';
import { resultOf } from '../../commands/payment/answer.ts';
import { isSubmitted, type Payment, type Purchase, payment } from '../../commands/payment/payment.ts';
import type { ResultIds } from '../../commands/payment/result-id.ts';
import { type Problem, problem } from '../../errors.ts';
import { paymentStream } from '../../events/payment.ts';
import type { Freshness } from '../../projections/freshness.ts';
import { PAYMENTS, type PaymentRecord } from '../../projections/payments.ts';
import type { EventLog, RecordedEvent } from '../../storage/event-log.ts';
import type { ReadStore } from '../../storage/read-store.ts';
import type { PendingPayment } from '../paid/paid-result.ts';
import { sendPending } from '../paid/paid-route.ts';
import { sendProblem } from '../send-problem.ts';

export interface ResultPorts {
  readonly log: EventLog;
  readonly readStore: ReadStore;
  /** Of the read model of payments. */
  readonly freshness: Freshness;
  readonly resultIds: Pick<ResultIds, 'read'>;
}

type Submitted = Extract<Payment, Purchase>;

export interface FoundResult {
  readonly requestId: string;
  readonly stream: string;
  readonly state: Submitted;
  /** The complete stream. */
  readonly recorded: readonly RecordedEvent[];
}

/** While the read models are behind or being rebuilt, the id of a paid answer may be unknown. */
const BEHIND = problem('service_unavailable', { component: 'read_store', retry_after: 2 });

/** How long to wait for an unknown id to arrive in the read model. */
export const RESULTS_PATIENCE_MS = 1_000;

export async function findResult(ports: ResultPorts, resultId: string): Promise<FoundResult | Problem> {
  const named = ports.resultIds.read(resultId);
  if (named === null) return problem('result_not_found');
  if ('problem' in named) return named;
  const { requestId, resultKey } = named;
  const hash = await paymentOfRequest(ports, requestId);
  if (hash === null) return problem('result_not_found');
  if (typeof hash !== 'string') return hash;
  // The read model only finds the payment. Its state comes from the log, which never lags.
  const stream = paymentStream(hash);
  const { state, recorded } = folded(payment, await ports.log.read(stream));
  // A later request may have presented the same payment after the query of this one had failed.
  if (!isSubmitted(state) || state.authorization.requestId !== requestId) return problem('result_not_found');
  // A request id opens only the answer that was sold under it.
  if (resultOf(state.answer).resultKey !== resultKey) return problem('result_not_found');
  return { requestId, stream, state, recorded };
}

/** Answers while a payment is not settled, or if it never will be. */
export function sendUnsettled(
  reply: FastifyReply,
  state: Exclude<Submitted, { readonly status: 'settled' }>,
  asked: Omit<PendingPayment, 'transaction'>,
): FastifyReply {
  const { transaction } = state.submission;
  if (state.status === 'submitted') return sendPending(reply, { ...asked, transaction });
  const reason = state.status === 'failed' ? state.reason : 'rolled_back';
  return sendProblem(reply, problem('settlement_failed', { reason, transaction }));
}

/**
 * The payment that a request presented, once the read model knows it. Waits only while the read model is behind the log,
 * because only then an unknown id may exist; otherwise it is rejected at once.
 */
async function paymentOfRequest(
  { readStore, freshness }: ResultPorts,
  requestId: string,
): Promise<string | Problem | null> {
  const find = async () =>
    (await readStore.find<PaymentRecord>({ collection: PAYMENTS, equals: { requestId }, limit: 1 }))[0]?.id ?? null;
  const known = await find();
  if (known !== null) return known;
  const isWhole = await freshness.showsEverything();
  return (await find()) ?? (isWhole ? null : BEHIND);
}
