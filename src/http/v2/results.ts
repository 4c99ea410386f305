/**
 * `GET /v2/results/{result_id}`: a paid answer again, or what became of its payment (docs/design/interface.md#results).
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
import { PAYMENTS, type PaymentRecord } from '../../projections/payments.ts';
import type { Reach } from '../../projections/reach.ts';
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
  readonly reach: Reach;
  readonly clock: Clock;
  readonly keyCalls: KeyCalls;
  readonly resultIds: Pick<ResultIds, 'read'>;
}

export const RESULTS_PATH = '/v2/results/:resultId';

/** While the read models are behind, or made anew, an answer that was paid for is not yet known by its id. */
const BEHIND = problem('service_unavailable', { component: 'read_store', retry_after: 2 });

/** How long an id that is not known may still be on its way into the read model. */
export const RESULTS_PATIENCE_MS = 1_000;

/** Times that one answer may be read in a minute. */
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
      `One answer may be read ${READS_PER_MINUTE} times a minute; wait ${wait} seconds. Keep what you have read.`,
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
    // The read model says which payment it was; what became of it the log says, which never lags.
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
  // A later request may have presented the same payment after this one's query had failed.
  if (!('submission' in state) || state.authorization.requestId !== named.requestId) return notFound(reply);
  // A request id opens only what was sold by it.
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
      // A secret is given once, and a HEAD has no body to give it in. Its length is left out: nothing is composed.
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
 * The answer of a call on keys is composed again, as long as any answer is kept; a rotation's is given once
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
    // This request's own id: of two that ask for one secret at once, the log must be able to tell which one it gave.
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
 * The payment that a request presented, as soon as the read model knows it. Waits only while the model is behind the
 * log: an id that nobody was given is refused at once. Whether one was given is not known while the model lags.
 */
async function paymentOfRequest(
  { readStore, reach }: ResultsDependencies,
  requestId: string,
): Promise<string | Problem | null> {
  const find = async () =>
    (await readStore.find<PaymentRecord>({ collection: PAYMENTS, equals: { requestId }, limit: 1 }))[0]?.id ?? null;
  const known = await find();
  if (known !== null) return known;
  const isWhole = await reach.showsEverything();
  return (await find()) ?? (isWhole ? null : BEHIND);
}
