/** The `meta` of answers about one case, real or from fixtures (docs/design/interface.md#2.2). */
import type { CaseAnswer, CaseAnswerMeta, TruncationDetails } from '../../queries/case-answer.ts';
import { type Meta, metaOf } from '../meta.ts';
import type { PaidCallContext } from '../paid/paid-call.ts';

export interface AnsweredCall extends Pick<PaidCallContext, 'requestId' | 'costUsd' | 'tag'> {
  readonly sandbox: boolean;
}

export interface CaseMeta extends Meta {
  /** When a source last showed the whole docket; if none has, when one last showed a part. */
  readonly data_as_of: CaseAnswerMeta['dataAsOf'];
  readonly truncation_details?: TruncationDetails;
}

export const caseMeta = (answer: Omit<CaseAnswer, 'body'>, call: AnsweredCall): CaseMeta => ({
  ...metaOf({
    ...common(answer, call),
    context_delivered: answer.contextDelivered,
    language_delivered: answer.languageDelivered,
    truncated: answer.truncated,
  }),
  data_as_of: answer.dataAsOf,
  ...(answer.truncationDetails ? { truncation_details: answer.truncationDetails } : {}),
});

/** A monitor answer contains no texts, so context and language do not apply. */
export const monitorMeta = (answer: CaseAnswerMeta, call: AnsweredCall): CaseMeta => ({
  ...metaOf(common(answer, call)),
  data_as_of: answer.dataAsOf,
});

const common = (answer: CaseAnswerMeta, { requestId, costUsd, tag, sandbox }: AnsweredCall) => ({
  request_id: requestId,
  queried_at: answer.queriedAt,
  query_cost_usd: costUsd,
  sandbox,
  coverage_status: answer.coverageStatus,
  cache_age_seconds: answer.cacheAgeSeconds,
  tag,
});
