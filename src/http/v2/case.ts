/** `GET /v2/case`: one case, and what is new in it (specification 4.1). */
import { isProblem } from '../../errors.ts';
import { canonicalJson } from '../../events/canonical-json.ts';
import type { Clock } from '../../instant.ts';
import { type CaseAnswer, type CaseQueries, createCaseQueries } from '../../queries/case-answer.ts';
import type { ReadStore } from '../../storage/read-store.ts';
import { metaOf } from '../meta.ts';
import { type PaidCallContext, type PaidRoute, PRICE_BASE_UNITS } from '../paid-call.ts';
import type { CaseQueryParameters } from '../parameters/case-query.ts';
import { readCaseRequest } from '../parameters/case-request.ts';

export interface CaseRouteDependencies {
  readonly readStore: ReadStore;
  readonly clock: Clock;
}

export function caseRoute({ readStore, clock }: CaseRouteDependencies): PaidRoute<CaseQueryParameters> {
  const queries: CaseQueries = createCaseQueries({ readStore, clock });
  return {
    method: 'GET',
    path: '/v2/case',
    description: 'A US or Canadian court case and the filings that are new since you last looked',
    parse: (request) => readCaseRequest(request, clock.now()),
    price: () => PRICE_BASE_UNITS,
    fingerprint,
    async answer({ caseNumber, lastChecked, ...query }, call) {
      const answer = await queries.answerCase({
        ...query,
        lastChecked: lastChecked?.at ?? null,
        since: lastChecked?.sent ?? null,
      });
      return isProblem(answer) ? answer : { body: caseBody(answer, call), answeredCases: 1 };
    },
  };
}

/** Ids as they were sent, since the answer echoes them; everything else by what it means. */
const fingerprint = ({ courtCode, caseId, ...query }: CaseQueryParameters): string =>
  canonicalJson({
    court_code: courtCode,
    case_id: caseId,
    last_checked: query.lastChecked?.at ?? null,
    context: query.context,
    language: query.language,
    filing_types: query.filingTypes?.toSorted() ?? null,
  });

/** The whole answer, `meta` first, serialised once. */
function caseBody(answer: CaseAnswer, { requestId, costUsd, tag }: PaidCallContext): Buffer {
  const meta = {
    ...metaOf({
      request_id: requestId,
      queried_at: answer.queriedAt,
      query_cost_usd: costUsd,
      coverage_status: answer.coverageStatus,
      cache_age_seconds: answer.cacheAgeSeconds,
      context_delivered: answer.contextDelivered,
      language_delivered: answer.languageDelivered,
      truncated: answer.truncated,
      tag,
    }),
    data_as_of: answer.dataAsOf,
    ...(answer.truncationDetails ? { truncation_details: answer.truncationDetails } : {}),
  };
  return Buffer.from(JSON.stringify({ meta, ...answer.body }));
}
