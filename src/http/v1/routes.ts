/**
 * `GET /v1/case` and `GET /v1/monitor`: version 2 queries in the shapes of version 1 (docs/design/interface.md#v1).
 */
import { isProblem, type Problem } from '../../errors.ts';
import { canonicalJson } from '../../events/canonical-json.ts';
import type { JsonObject } from '../../events/event.ts';
import { type Refresh, refreshed } from '../../processes/sources/refresh.ts';
import { type CaseQueries, type CaseQuery, createCaseQueries, type OfDocket } from '../../queries/case-answer.ts';
import type { LookupPorts } from '../../queries/case-lookup.ts';
import { standingOf } from '../../queries/case-standing.ts';
import type { Clock } from '../../runtime/instant.ts';
import type { PaidCallContext, PaidRoute } from '../paid/paid-call.ts';
import { acceptServed } from '../parameters/served-last-checked.ts';
import { readV1CaseRequest, readV1MonitorRequest, type V1CaseRequest } from './parameters.ts';
import { v1Case, v1Monitor } from './shapes.ts';

export interface V1RouteDependencies extends LookupPorts {
  readonly clock: Clock;
  /** If left out, no source is asked. */
  readonly refresh?: Refresh | undefined;
}

type V1Route = PaidRoute<V1CaseRequest>;

/** A case and its filings; without `last_checked`, every filing is new, oldest first. */
export const v1CaseRoute = (dependencies: V1RouteDependencies): V1Route => {
  const queries = createCaseQueries(dependencies);
  return v1Route(dependencies, {
    path: '/v1/case',
    word: 'case',
    description: 'A US or Canadian court case and its new filings, in the form of version 1',
    read: readV1CaseRequest,
    answer: (request, call) => answerCase(queries, dependencies.refresh, request, call),
  });
};

/** Whether anything is new; without `last_checked`, whether there is any filing. */
export const v1MonitorRoute = (dependencies: V1RouteDependencies): V1Route => {
  const queries = createCaseQueries(dependencies);
  return v1Route(dependencies, {
    path: '/v1/monitor',
    word: 'monitor',
    description: 'Whether a US or Canadian court case has new filings, in the form of version 1',
    read: readV1MonitorRequest,
    answer: (request, call) => answerMonitor(queries, dependencies.refresh, request, call),
  });
};

interface V1Answer extends Pick<OfDocket, 'stream'> {
  readonly body: JsonObject;
}

interface V1Endpoint extends Pick<V1Route, 'path' | 'word' | 'description'> {
  readonly read: typeof readV1CaseRequest;
  answer(request: V1CaseRequest, call: PaidCallContext): Promise<V1Answer | Problem>;
}

function v1Route(dependencies: V1RouteDependencies, { path, word, description, read, answer }: V1Endpoint): V1Route {
  const { clock, refresh } = dependencies;
  const standings = { ...dependencies, sourceOf: refresh?.sourceOf };
  return {
    method: 'GET',
    path,
    word,
    description,
    parse: (request) => read(request, clock.now()),
    reconsider: (request, refusal) =>
      acceptServed(
        dependencies,
        refusal,
        (now) => read(request, now),
        ({ lastChecked }) => lastChecked,
      ),
    sandbox: () => null,
    beforePayment: async ({ court, caseId }) => ({ ...(await standingOf(standings, court, caseId)) }),
    queries: () => 1,
    fingerprint,
    async answer(request, call) {
      const answered = await answer(request, call);
      if (isProblem(answered)) return answered;
      const { body, stream } = answered;
      return {
        body: Buffer.from(JSON.stringify(body)),
        answeredCases: 1,
        courts: [request.court.code],
        cases: [stream],
      };
    },
  };
}

/** Ids as sent, because the answer echoes them; everything else by its meaning. */
const fingerprint = ({ courtCode, caseId, lastChecked, filingTypes }: V1CaseRequest): string =>
  canonicalJson({
    court_code: courtCode,
    case_id: caseId,
    last_checked: lastChecked,
    filing_types: filingTypes?.toSorted() ?? null,
  });

async function answerCase(
  queries: CaseQueries,
  refresh: Refresh | undefined,
  { court, courtCode, caseId, lastChecked, filingTypes }: V1CaseRequest,
  call: PaidCallContext,
): Promise<V1Answer | Problem> {
  const query: CaseQuery = {
    court,
    courtCode,
    caseId,
    lastChecked,
    since: lastChecked,
    context: 'basic',
    language: null,
    filingTypes,
    fromTheBeginning: true,
    crossReferences: true,
  };
  const answer = await refreshed(refresh, query, call, () => queries.answerCase(query));
  if (isProblem(answer)) return answer;
  return { body: v1Case(answer, { caseId, courtCode, costUsd: call.costUsd }), stream: answer.stream };
}

async function answerMonitor(
  queries: CaseQueries,
  refresh: Refresh | undefined,
  { court, courtCode, caseId, lastChecked }: V1CaseRequest,
  call: PaidCallContext,
): Promise<V1Answer | Problem> {
  const query = { court, caseId, lastChecked, filingTypes: null };
  const answer = await refreshed(refresh, query, call, () => queries.answerMonitor(query));
  if (isProblem(answer)) return answer;
  return { body: v1Monitor(answer, { caseId, courtCode, costUsd: call.costUsd }), stream: answer.stream };
}
