/** The answer of `POST /v2/cases/batch`, real or from fixtures (docs/design/interface.md#2.5). */
import { PRICE_BASE_UNITS, priceOf } from '../../commands/purchase/price.ts';
import { isProblem, type Problem } from '../../errors.ts';
import type { WrittenAnswer } from '../../queries/batch-answer.ts';
import type { Instant } from '../../runtime/instant.ts';
import { type Meta, metaOf } from '../meta.ts';
import { costInUsd } from '../paid/paid-call.ts';
import { unpaidRefusal } from '../paid/unpaid-refusal.ts';
import type { BatchQuery } from '../parameters/batch-query.ts';
import { errorObject } from '../send-problem.ts';

export interface BatchMeta extends Meta {
  readonly batch_size: number;
  readonly successful: number;
  readonly failed: number;
  /** US dollars in exact cents: the price of that many queries; 0 in the sandbox. */
  readonly total_cost_usd: number;
}

export interface BatchOutcome {
  readonly query: Pick<BatchQuery, 'caseId' | 'courtCode'>;
  readonly answer: Pick<WrittenAnswer, 'text' | 'truncated'> | Problem;
}

export interface AnsweredBatch {
  readonly requestId: string;
  readonly tag: string | null;
  readonly sandbox: boolean;
  readonly at: Instant;
  readonly publicUrl: string;
}

/** The whole answer, with results in the order of the queries. A batch whose queries all failed costs nothing. */
export function batchBody(
  outcomes: readonly BatchOutcome[],
  { requestId, tag, sandbox, at, publicUrl }: AnsweredBatch,
): string {
  const failed = outcomes.filter(({ answer }) => isProblem(answer)).length;
  const total = sandbox ? 0 : costInUsd(priceOf(outcomes.length));
  const charged = !sandbox && failed < outcomes.length;
  const meta: BatchMeta = {
    ...metaOf({
      request_id: requestId,
      queried_at: at,
      query_cost_usd: charged ? total : 0,
      sandbox,
      truncated: outcomes.some(({ answer }) => !isProblem(answer) && answer.truncated),
      tag,
    }),
    batch_size: outcomes.length,
    successful: outcomes.length - failed,
    failed,
    total_cost_usd: total,
  };
  const results = outcomes.map(({ query, answer }) => {
    const ids = `{"case_id":${JSON.stringify(query.caseId)},"court_code":${JSON.stringify(query.courtCode)}`;
    return isProblem(answer)
      ? `${ids},"status":"error","error":${JSON.stringify(errorOf(charged ? answer : unpaidRefusal(answer), charged, publicUrl))}}`
      : `${ids},"status":"success","response":${answer.text}}`;
  });
  return `{"meta":${JSON.stringify(meta)},"results":[${results.join(',')}]}`;
}

/** The payment covers the whole batch: if any query succeeds, failed ones are charged too, and their errors say so. */
const errorOf = ({ details, ...refusal }: Problem, charged: boolean, publicUrl: string) =>
  errorObject(
    { ...refusal, details: { charged, query_cost_usd: charged ? costInUsd(PRICE_BASE_UNITS) : 0, ...details } },
    publicUrl,
  );
