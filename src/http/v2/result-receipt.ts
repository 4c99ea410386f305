/** `GET /v2/results/{result_id}/receipt`: what a request was charged, and the events that prove it. Free. */
import type { FastifyInstance } from 'fastify';
import { receiptOf } from '../../audit/receipts/receipt.ts';
import { isProblem, problem } from '../../errors.ts';
import { type Clock, toInstant } from '../../runtime/instant.ts';
import { steadyClock } from '../../runtime/steady-clock.ts';
import { createMinuteLimit } from '../address-limit.ts';
import { metaOf } from '../meta.ts';
import { MAX_TAG_LENGTH } from '../parameters/described-parameters.ts';
import { readTag } from '../parameters/request-parameters.ts';
import { sendProblem } from '../send-problem.ts';
import { findResult, type ResultPorts, sendUnsettled } from './find-result.ts';

const RECEIPT_PATH = '/v2/results/:resultId/receipt';

/** How often one receipt may be read per minute. */
const RECEIPTS_PER_MINUTE = 60;

/** The receipt stays available after the answer has expired: it is about the payment, and the log keeps it. */
export function registerReceipts(app: FastifyInstance, ports: ResultPorts & { readonly clock: Clock }): void {
  const reads = createMinuteLimit(RECEIPTS_PER_MINUTE, steadyClock, (wait) =>
    problem(
      'rate_limit_exceeded',
      { retry_after: wait, limit: RECEIPTS_PER_MINUTE, window: 'result' },
      `A receipt may be read ${RECEIPTS_PER_MINUTE} times per minute. Wait ${wait} seconds, and keep the receipt that you have read.`,
    ),
  );
  app.route<{ Params: { resultId: string } }>({
    method: ['GET', 'HEAD'],
    url: RECEIPT_PATH,
    async handler(request, reply) {
      const { resultId } = request.params;
      const tag = readTag(request)?.slice(0, MAX_TAG_LENGTH) ?? null;
      const found = await findResult(ports, resultId);
      if (isProblem(found)) return sendProblem(reply, found);
      const { state, recorded, requestId } = found;
      if (state.status !== 'settled') {
        return sendUnsettled(reply, state, { requestId, resultId, tag, clock: ports.clock });
      }
      const limited = reads.count(requestId);
      if (limited) return sendProblem(reply, limited);
      const meta = metaOf({ request_id: request.requestId, queried_at: toInstant(ports.clock.now()), tag });
      return reply
        .header('cache-control', 'private, no-store')
        .type('application/json; charset=utf-8')
        .send(JSON.stringify({ meta, receipt: receiptOf(state, recorded) }));
    },
  });
}
