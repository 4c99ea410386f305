/**
 * `GET /v2/results/{result_id}`: a paid answer again, or the state of its payment (docs/design/interface.md#results), and
 * the receipt of the payment below it. Free.
 */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isRejection } from '../../commands/decider.ts';
import { isKept, keptEncodedAnswer, promisedBy } from '../../commands/payment/answer.ts';
import { type Purchase, payment } from '../../commands/payment/payment.ts';
import type { KeyCalls } from '../../commands/purchase/contract.ts';
import { isProblem, type Problem, problem } from '../../errors.ts';
import type { Clock } from '../../runtime/instant.ts';
import { steadyClock } from '../../runtime/steady-clock.ts';
import type { PayloadStore } from '../../storage/payload-store.ts';
import { createMinuteLimit } from '../address-limit.ts';
import { sendPaidAnswer } from '../paid/paid-route.ts';
import { MAX_TAG_LENGTH } from '../parameters/described-parameters.ts';
import { readTag } from '../parameters/request-parameters.ts';
import { sendProblem } from '../send-problem.ts';
import { type StoredAnswers, storedAnswers } from '../stored-answer.ts';
import { findResult, type ResultPorts, sendUnsettled } from './find-result.ts';
import { registerReceipts } from './result-receipt.ts';

export interface ResultsDependencies extends ResultPorts {
  readonly payloads: PayloadStore;
  readonly clock: Clock;
  readonly keyCalls: KeyCalls;
}

const RESULTS_PATH = '/v2/results/:resultId';

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
  app.route<Asked>({
    method: ['GET', 'HEAD'],
    url: RESULTS_PATH,
    handler: (...asked) => answer(dependencies, ...asked),
  });
  registerReceipts(app, ports);
}

type Asked = { Params: { resultId: string } };

async function answer(
  dependencies: Results,
  request: FastifyRequest<Asked>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { resultId } = request.params;
  const found = await findResult(dependencies, resultId);
  if (isProblem(found)) return sendProblem(reply, found);
  const { stream, state, requestId } = found;
  if (state.status !== 'settled') {
    const asked = { requestId, resultId, tag: tagOf(request), clock: dependencies.clock };
    return sendUnsettled(reply, state, asked);
  }
  // The secret is returned once, and a HEAD has no body for it. Its length is omitted, because nothing is composed.
  if (request.method === 'HEAD' && state.answer.keyCall?.does === 'rotate') {
    const gone = !isKept(dependencies.clock, state) || isRejection(payment.decide(state, { type: 'HandOut' }));
    if (gone) return sendProblem(reply, problem('result_gone'));
    return sendPaidAnswer(reply, { resultId, body: Readable.from([]), promised: promisedBy(state) });
  }
  const limited = dependencies.reads.count(requestId);
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
