/**
 * `GET /v2/results/{result_id}`: a paid answer again, or the state of its payment (docs/design/interface.md#results).
 * Free.
 */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isRejection } from '../../commands/decider.ts';
import { load } from '../../commands/handle.ts';
import { isKept, keptEncodedAnswer, promisedBy, resultOf } from '../../commands/payment/answer.ts';
import { type Payment, type Purchase, payment } from '../../commands/payment/payment.ts';
import type { NamedResult, ResultIds } from '../../commands/payment/result-id.ts';
import type { KeyCalls } from '../../commands/purchase/contract.ts';
import { isProblem, type Problem, problem } from '../../errors.ts';
import { paymentStream } from '../../events/payment.ts';
import type { Freshness } from '../../projections/freshness.ts';
import { PAYMENTS, type PaymentRecord } from '../../projections/payments.ts';
import type { Clock } from '../../runtime/instant.ts';
import { steadyClock } from '../../runtime/steady-clock.ts';
import type { EventLog } from '../../storage/event-log.ts';
import type { PayloadStore } from '../../storage/payload-store.ts';
import type { ReadStore } from '../../storage/read-store.ts';
import { createMinuteLimit } from '../address-limit.ts';
import { sendPaidAnswer, sendPending } from '../paid/paid-route.ts';
import { MAX_TAG_LENGTH } from '../parameters/described-parameters.ts';
import { readTag } from '../parameters/request-parameters.ts';
import { sendProblem } from '../send-problem.ts';
import { type StoredAnswers, storedAnswers } from '../stored-answer.ts';

export interface ResultsDependencies {
  readonly log: EventLog;
  readonly payloads: PayloadStore;
  readonly readStore: ReadStore;
  /** Of the read model of payments. */
  readonly freshness: Freshness;
  readonly clock: Clock;
  readonly keyCalls: KeyCalls;
  readonly resultIds: Pick<ResultIds, 'read'>;
}

export const RESULTS_PATH = '/v2/results/:resultId';

/** While the read models are behind or being rebuilt, the id of a paid answer may be unknown. */
const BEHIND = problem('service_unavailable', { component: 'read_store', retry_after: 2 });

/** How long to wait for an unknown id to arrive in the read model. */
export const RESULTS_PATIENCE_MS = 1_000;

/** How often one answer may be read per minute. */
export const READS_PER_MINUTE = 60;

interface Results extends ResultsDependencies {
  readonly reads: ReturnType<typeof createMinuteLimit>;
  readonly stored: StoredAnswers;
}

export function registerResults(app: FastifyInstance, ports: ResultsDependencies): void {
  const reads = createMinuteLimit(READS_PER_MINUTE, steadyClock, (wait) =>
    problem(
      'rate_limit_exceeded',
      { retry_after: wait, limit: READS_PER_MINUTE, window: 'result' },
      `An answer may be read ${READS_PER_MINUTE} times per minute. Wait ${wait} seconds, and keep the answer that you have read.`,
    ),
  );
  const dependencies: Results = { ...ports, reads, stored: storedAnswers() };
  app.route<{ Params: { resultId: string } }>({ method: ['GET', 'HEAD'], url: RESULTS_PATH, handler });

  async function handler(request: FastifyRequest<{ Params: { resultId: string } }>, reply: FastifyReply) {
    const { resultId } = request.params;
    const named = dependencies.resultIds.read(resultId);
    if (named === null) return notFound(reply);
    if ('problem' in named) return sendProblem(reply, named);
    const hash = await paymentOfRequest(dependencies, named.requestId);
    if (hash === null) return notFound(reply);
    if (typeof hash !== 'string') return sendProblem(reply, hash);
    // The read model only finds the payment. Its state comes from the log, which never lags.
    const stream = paymentStream(hash);
    const { state } = await load(dependencies.log, payment, stream);
    return answer(dependencies, { stream, state }, { resultId, named }, request, reply);
  }
}

const notFound = (reply: FastifyReply): FastifyReply => sendProblem(reply, problem('result_not_found'));

async function answer(
  dependencies: Results,
  { stream, state }: { readonly stream: string; readonly state: Payment },
  { resultId, named }: { readonly resultId: string; readonly named: NamedResult },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  // A later request may have presented the same payment after the query of this one had failed.
  if (!('submission' in state) || state.authorization.requestId !== named.requestId) return notFound(reply);
  // A request id opens only the answer that was sold under it.
  if (resultOf(state.answer).resultKey !== named.resultKey) return notFound(reply);
  const { transaction } = state.submission;
  switch (state.status) {
    case 'submitted':
      return sendPending(reply, {
        requestId: named.requestId,
        resultId,
        transaction,
        tag: tagOf(request),
        clock: dependencies.clock,
      });
    case 'failed':
      return sendProblem(reply, problem('settlement_failed', { reason: state.reason, transaction }));
    case 'rolled_back':
      return sendProblem(reply, problem('settlement_failed', { reason: 'rolled_back', transaction }));
    case 'settled': {
      // The secret is returned once, and a HEAD has no body for it. Its length is omitted, because nothing is composed.
      if (request.method === 'HEAD' && state.answer.keyCall?.does === 'rotate') {
        const gone = !isKept(dependencies.clock, state) || isRejection(payment.decide(state, { type: 'HandOut' }));
        if (gone) return sendProblem(reply, problem('result_gone'));
        return sendPaidAnswer(reply, { resultId, body: Readable.from([]), promised: promisedBy(state) });
      }
      const limited = dependencies.reads.count(named.requestId);
      if (limited) return sendProblem(reply, limited);
      if (!state.answer.keyCall) {
        const kept = await keptEncodedAnswer(dependencies, state);
        if (!kept) return sendProblem(reply, problem('result_gone'));
        if (isProblem(kept)) return sendProblem(reply, kept);
        return dependencies.stored.send(request, reply, kept, { resultId, promised: promisedBy(state) });
      }
      const body = await keyAnswer(dependencies, stream, state, request);
      if (!body) return sendProblem(reply, problem('result_gone'));
      if (isProblem(body)) return sendProblem(reply, body);
      return sendPaidAnswer(reply, { resultId, body, promised: promisedBy(state) });
    }
  }
}

/**
 * The answer of a key call is composed again while answers are kept; the answer of a rotation is returned once
 * (docs/design/payments.md#key-calls).
 */
async function keyAnswer(
  { keyCalls, clock }: ResultsDependencies,
  stream: string,
  purchase: Purchase,
  request: FastifyRequest,
): Promise<Buffer | Problem | null> {
  if (!isKept(clock, purchase)) return null;
  const { requestId } = request;
  const call = {
    tag: tagOf(request),
    // The id of this request: if two ask for one secret at once, the log must show which one got it.
    context: {
      commandId: requestId,
      requestId: purchase.authorization.requestId,
      correlationId: purchase.authorization.requestId,
      causationId: null,
      actor: 'http',
    },
  };
  return purchase.answer.keyCall?.does === 'rotate'
    ? keyCalls.rotate(stream, purchase, call)
    : keyCalls.show(purchase, call);
}

const tagOf = (request: FastifyRequest): string | null => readTag(request)?.slice(0, MAX_TAG_LENGTH) ?? null;

/**
 * The payment that a request presented, once the read model knows it. Waits only while the read model is behind the log,
 * because only then an unknown id may exist; otherwise it is rejected at once.
 */
async function paymentOfRequest(
  { readStore, freshness }: ResultsDependencies,
  requestId: string,
): Promise<string | Problem | null> {
  const find = async () =>
    (await readStore.find<PaymentRecord>({ collection: PAYMENTS, equals: { requestId }, limit: 1 }))[0]?.id ?? null;
  const known = await find();
  if (known !== null) return known;
  const isWhole = await freshness.showsEverything();
  return (await find()) ?? (isWhole ? null : BEHIND);
}
