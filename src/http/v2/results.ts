/** `GET /v2/results/{request_id}`: a paid answer again, or what became of its payment (`http-api.md`). Free. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { load } from '../../commands/handle.ts';
import { type Payment, payment } from '../../commands/payment.ts';
import { keptAnswer } from '../../commands/payment-answer.ts';
import { problem } from '../../errors.ts';
import { paymentStream } from '../../events/payment.ts';
import type { Clock } from '../../instant.ts';
import { PAYMENTS, type PaymentRecord } from '../../projections/payments.ts';
import type { EventLog } from '../../storage/event-log.ts';
import type { PayloadStore } from '../../storage/payload-store.ts';
import type { ReadStore } from '../../storage/read-store.ts';
import { sendPaidAnswer, sendPending } from '../paid-route.ts';
import { MAX_TAG_LENGTH } from '../parameters/described-parameters.ts';
import { readTag } from '../parameters/request-parameters.ts';
import { sendProblem } from '../send-problem.ts';

export interface ResultsDependencies {
  readonly log: EventLog;
  readonly payloads: PayloadStore;
  readonly readStore: ReadStore;
  readonly clock: Clock;
}

export const RESULTS_PATH = '/v2/results/:requestId';

/** How long an id that is not known may still be on its way into the read model. */
const PATIENCE_MS = 1_000;
const LOOK_EVERY_MS = 25;

const RequestId = z.uuid();

export function registerResults(app: FastifyInstance, dependencies: ResultsDependencies): void {
  app.get<{ Params: { requestId: string } }>(RESULTS_PATH, async (request, reply) => {
    const requestId = request.params.requestId.toLowerCase();
    const hash = RequestId.safeParse(requestId).success ? await paymentOfRequest(dependencies, requestId) : null;
    if (hash === null) return notFound(reply);
    // The read model says which payment it was; what became of it the log says, which never lags.
    const { state } = await load(dependencies.log, payment, paymentStream(hash));
    return answer(dependencies, state, requestId, request, reply);
  });
}

const notFound = (reply: FastifyReply): FastifyReply => sendProblem(reply, problem('result_not_found'));

async function answer(
  { payloads, clock }: ResultsDependencies,
  state: Payment,
  requestId: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  // A later request may have presented the same payment after this one's query had failed.
  if (!('submission' in state) || state.authorization.requestId !== requestId) return notFound(reply);
  const { transaction } = state.submission;
  switch (state.status) {
    case 'submitted':
      return sendPending(reply, {
        requestId,
        boughtBy: requestId,
        transaction,
        tag: readTag(request)?.slice(0, MAX_TAG_LENGTH) ?? null,
        clock,
      });
    case 'failed':
      return sendProblem(reply, problem('settlement_failed', { reason: state.reason, transaction }));
    case 'rolled_back':
      return sendProblem(reply, problem('settlement_failed', { reason: 'rolled_back', transaction }));
    case 'settled': {
      const body = await keptAnswer({ payloads, clock }, state);
      return body ? sendPaidAnswer(reply, requestId, body) : sendProblem(reply, problem('result_gone'));
    }
  }
}

/**
 * The payment that a request presented, as soon as the read model knows it. Waits only while the model is behind the
 * log: an id that nobody was given is refused at once.
 */
async function paymentOfRequest({ log, readStore }: ResultsDependencies, requestId: string): Promise<string | null> {
  const find = async () =>
    (await readStore.find<PaymentRecord>({ collection: PAYMENTS, equals: { requestId }, limit: 1 }))[0]?.id ?? null;
  const known = await find();
  if (known !== null) return known;

  const deadline = performance.now() + PATIENCE_MS;
  const head = await log.head();
  const generation = await readStore.activeGeneration(PAYMENTS);
  for (;;) {
    const checkpoint = await readStore.checkpoint(PAYMENTS, generation);
    const found = await find();
    const caughtUp = head === null || (checkpoint !== null && checkpoint >= head);
    if (found !== null || caughtUp || performance.now() >= deadline) return found;
    await sleep(LOOK_EVERY_MS);
  }
}
