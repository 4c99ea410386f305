/** `GET /v2/case`: one case and its new filings (docs/design/interface.md#4.1). */
import type { RequestedCallback } from '../../commands/purchase/query-run.ts';
import { isProblem } from '../../errors.ts';
import { canonicalJson } from '../../events/canonical-json.ts';
import type { JsonObject } from '../../events/event.ts';
import { type Refresh, refreshed } from '../../processes/sources/refresh.ts';
import { type CaseQueries, type CaseQuery, createCaseQueries } from '../../queries/case-answer.ts';
import type { LookupPorts } from '../../queries/case-lookup.ts';
import { standingOf } from '../../queries/case-standing.ts';
import type { Clock } from '../../runtime/instant.ts';
import type { PaidRoute } from '../paid/paid-call.ts';
import type { CaseIds, CaseOptions, CaseQueryParameters } from '../parameters/case-query.ts';
import { type CaseRequest, readCaseRequest } from '../parameters/case-request.ts';
import { acceptServed } from '../parameters/served-last-checked.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { caseMeta } from './answer-meta.ts';

export interface CaseRouteDependencies extends LookupPorts {
  readonly clock: Clock;
  readonly sandbox: Sandbox;
  /** If left out, no source is asked. */
  readonly refresh?: Refresh | undefined;
}

export function caseRoute({
  readStore,
  freshness,
  clock,
  sandbox,
  refresh,
}: CaseRouteDependencies): PaidRoute<CaseRequest> {
  const queries: CaseQueries = createCaseQueries({ readStore, freshness, clock });
  return {
    method: 'GET',
    path: '/v2/case',
    word: 'case',
    description: 'A US or Canadian court case and the filings that are new since you last looked',
    parse: (request) => readCaseRequest(request, clock.now()),
    reconsider: (request, refusal) =>
      acceptServed(
        { readStore, freshness },
        refusal,
        (now) => readCaseRequest(request, now),
        ({ lastChecked }) => lastChecked?.at ?? null,
      ),
    sandbox: (request) => (request.sandbox ? sandbox.answerCase(request) : null),
    pushes: (request) => callbacksOf(request).length > 0,
    sandboxCallbacks: (request) =>
      request.sandbox
        ? callbacksOf(request).map((callback) => ({
            ...callback,
            payload: async (call) => (await sandbox.answerCase({ ...request, context: 'basic' }))(call),
          }))
        : [],
    beforePayment: async ({ court, caseId }) => ({
      ...(await standingOf({ readStore, freshness, clock, sourceOf: refresh?.sourceOf }, court, caseId)),
    }),
    queries: () => 1,
    fingerprint: (request) => canonicalJson(canonicalQuery(request)),
    async answer(request, call) {
      const answer = await refreshed(refresh, request, call, () => queries.answerCase(caseQueryOf(request)));
      if (isProblem(answer)) return answer;
      const meta = caseMeta(answer, { ...call, sandbox: false });
      return {
        body: Buffer.from(JSON.stringify({ meta, ...answer.body })),
        answeredCases: 1,
        courts: [request.court.code],
        cases: [answer.stream],
        callbacks: callbacksOf(request),
      };
    },
  };
}

const callbacksOf = ({ callbackUrl }: CaseRequest): readonly RequestedCallback[] =>
  callbackUrl === null ? [] : [{ url: callbackUrl, result: null }];

/** The query for these parameters. */
export const caseQueryOf = (parameters: CaseQueryParameters): CaseQuery => {
  const { court, courtCode, caseId, lastChecked, context, language, filingTypes } = parameters;
  return {
    court,
    courtCode,
    caseId,
    lastChecked: lastChecked?.at ?? null,
    since: lastChecked?.sent ?? null,
    context,
    language,
    filingTypes,
  };
};

/** Ids as sent, because the answer echoes them; everything else by its meaning. */
export const canonicalQuery = ({
  courtCode,
  caseId,
  ...query
}: CaseOptions & Pick<CaseIds, 'courtCode' | 'caseId'>): JsonObject => ({
  court_code: courtCode,
  case_id: caseId,
  last_checked: query.lastChecked?.at ?? null,
  context: query.context,
  language: query.language,
  filing_types: query.filingTypes?.toSorted() ?? null,
  // Only if present: requests identified before callbacks existed must still match.
  ...(query.callbackUrl === null ? {} : { callback_url: query.callbackUrl }),
});
