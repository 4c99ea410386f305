/** `POST /v2/cases/batch`: up to 50 case queries for one payment (docs/design/interface.md#4.3). */

import type { FastifyInstance } from 'fastify';
import { PRICE_BASE_UNITS } from '../../commands/purchase/price.ts';
import { isProblem, type Problem } from '../../errors.ts';
import { canonicalJson } from '../../events/canonical-json.ts';
import type { Refresh } from '../../processes/sources/refresh.ts';
import { type OneAnswer, refreshedBatch } from '../../processes/sources/refresh-batch.ts';
import { askedOnce } from '../../projections/freshness.ts';
import { answerBatch, type WrittenAnswer } from '../../queries/batch-answer.ts';
import { createCaseQueries } from '../../queries/case-answer.ts';
import type { LookupPorts } from '../../queries/case-lookup.ts';
import { NO_CASE, standingOf, UNKNOWN_STANDING } from '../../queries/case-standing.ts';
import { type Clock, toInstant } from '../../runtime/instant.ts';
import { coalescedLoads } from '../../storage/coalesced-loads.ts';
import { BATCH_CHARGING } from '../paid/batch-charging.ts';
import { costInUsd, type PaidCallContext, type PaidRoute, type SandboxAnswer } from '../paid/paid-call.ts';
import { type BatchQuery, cannotBe } from '../parameters/batch-query.ts';
import { acceptServedBatch, type BatchRequest, readBatchRequest } from '../parameters/batch-request.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { MAX_BODY_BYTES } from '../server.ts';
import { caseMeta } from './answer-meta.ts';
import { type BatchOutcome, batchBody } from './batch-body.ts';
import { rehearsedQuery, sandboxBatch } from './batch-sandbox.ts';
import { canonicalQuery, caseQueryOf } from './case.ts';

export interface BatchRouteDependencies extends LookupPorts {
  readonly clock: Clock;
  readonly sandbox: Sandbox;
  readonly publicUrl: string;
  /** If left out, no source is asked. */
  readonly refresh?: Refresh | undefined;
}

/** Lookups for four whole batches. */
const MOST_LOOKS = 200;

export function batchRoute({
  readStore,
  freshness,
  clock,
  sandbox,
  publicUrl,
  refresh,
}: BatchRouteDependencies): PaidRoute<BatchRequest> {
  /** Lookups that unpaid batches are making now. */
  let looking = 0;
  /** Rejects a batch whose queries all fail regardless of which cases are known, so that it is not paid for. */
  const refuseAll =
    (queries: readonly BatchQuery[]): SandboxAnswer =>
    ({ requestId, tag }) =>
      batchBody(
        queries.flatMap((query): BatchOutcome[] => (isProblem(query.named) ? [{ query, answer: query.named }] : [])),
        { requestId, tag, sandbox: false, at: toInstant(clock.now()), publicUrl },
      );

  return {
    method: 'POST',
    path: '/v2/cases/batch',
    word: 'batch',
    description: 'Up to 50 US or Canadian court cases in one call, with the filings new since you last looked',
    parse: (request) => readBatchRequest(request, clock.now()),
    reconsider: (request, refusal) =>
      acceptServedBatch({ readStore, freshness: askedOnce(freshness) }, request, refusal, clock.now()),
    sandbox({ queries, sandbox: rehearses }) {
      if (rehearses) return sandboxBatch(sandbox, queries, clock, publicUrl);
      return queries.every(cannotBe) ? refuseAll(queries) : null;
    },
    pushes: ({ queries }) => queries.some(({ callbackUrl }) => callbackUrl !== null),
    sandboxCallbacks: ({ queries, sandbox: rehearses }) =>
      rehearses
        ? queries.flatMap((query, result) =>
            query.callbackUrl === null
              ? []
              : [
                  {
                    url: query.callbackUrl,
                    result,
                    payload: async (call) =>
                      (await sandbox.answerCase({ ...rehearsedQuery(query), context: 'basic' }))(call),
                  },
                ],
          )
        : [],
    async beforePayment({ queries }) {
      // Free, with up to 50 lookups per call: above the limit, the answer is "not known yet".
      if (looking + queries.length > MOST_LOOKS) {
        const cases = queries.map(({ caseId, courtCode }) => ({
          case_id: caseId,
          court_code: courtCode,
          ...UNKNOWN_STANDING,
        }));
        return { cases, charging: BATCH_CHARGING };
      }
      looking += queries.length;
      const ports = {
        readStore: coalescedLoads(readStore),
        freshness: askedOnce(freshness),
        clock,
        sourceOf: refresh?.sourceOf,
      };
      try {
        const cases = await Promise.all(
          queries.map(async ({ caseId, courtCode, named }) => ({
            case_id: caseId,
            court_code: courtCode,
            ...(isProblem(named) ? NO_CASE : await standingOf(ports, named.court, named.caseId)),
          })),
        );
        return { cases, charging: BATCH_CHARGING };
      } finally {
        looking -= queries.length;
      }
    },
    queries: ({ queries }) => queries.length,
    fingerprint: ({ queries }) => canonicalJson(queries.map(canonicalQuery)),
    async answer({ queries }, call) {
      const read = () => {
        // Created for each reading: lookups of the same moment are combined into one read.
        const { answerCase } = createCaseQueries({
          readStore: coalescedLoads(readStore),
          freshness: askedOnce(freshness),
          clock,
        });
        return answerBatch(
          queries,
          async (query, maxBytes) =>
            isProblem(query.named)
              ? query.named
              : written(await answerCase({ ...caseQueryOf({ ...query, ...query.named }), maxBytes }), call),
          call.signal,
        );
      };
      const asked = queries.map(({ named }) => (isProblem(named) ? null : named));
      const answers = await refreshedBatch(refresh, asked, call, read);
      const outcomes = queries.flatMap((query, index): BatchOutcome[] => {
        const answer = answers[index];
        return answer ? [{ query, answer }] : [];
      });
      const { requestId, tag } = call;
      const at = toInstant(clock.now());
      const body = Buffer.from(batchBody(outcomes, { requestId, tag, sandbox: false, at, publicUrl }));
      const failures = answers.filter(isProblem);
      const [first] = failures;
      if (first && failures.length === answers.length) return { uncharged: body, code: first.problem };
      return {
        body,
        answeredCases: answers.length - failures.length,
        courts: queries.flatMap(({ named }, index) => {
          const answer = answers[index];
          return !answer || isProblem(answer) || isProblem(named) ? [] : [named.court.code];
        }),
        cases: answers.flatMap((answer) => (isProblem(answer) ? [] : [answer.of.stream])),
        callbacks: outcomes.flatMap(({ answer }, result) => {
          const url = queries[result]?.callbackUrl ?? null;
          return url === null || isProblem(answer) ? [] : [{ url, result }];
        }),
      };
    },
  };
}

type CaseOutcome = Awaited<ReturnType<ReturnType<typeof createCaseQueries>['answerCase']>>;

/** A result: the answer that the query would get alone, with the batch's id. */
function written(answer: CaseOutcome, { requestId, tag }: PaidCallContext): (WrittenAnswer & OneAnswer) | Problem {
  if (isProblem(answer)) return answer;
  const costUsd = costInUsd(PRICE_BASE_UNITS);
  const meta = caseMeta(answer, { requestId, tag, costUsd, sandbox: false });
  const { stream, caseNumber, isComplete, wholeAsOf, activeAt, closed } = answer;
  const of = { stream, caseNumber, isComplete, wholeAsOf, activeAt, closed };
  const text = JSON.stringify({ meta, ...answer.body });
  return { text, bytes: Buffer.byteLength(text), truncated: answer.truncated, of };
}

/**
 * Opens the endpoint only for JSON bodies. The route reads the bytes itself and rejects whatever another parser could
 * read differently.
 * @param register opens the paid route on the given instance
 */
export function registerBatch(app: FastifyInstance, register: (scope: FastifyInstance) => void): void {
  app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i,
      { parseAs: 'buffer', bodyLimit: MAX_BODY_BYTES },
      (_request, body, parsed) => parsed(null, body),
    );
    register(scope);
    done();
  });
}
