/** `GET /v2/monitor`: whether anything is new in a case, and how much (docs/design/interface.md#4.2). */
import { isProblem } from '../../errors.ts';
import { canonicalJson } from '../../events/canonical-json.ts';
import { type Refresh, refreshed } from '../../processes/sources/refresh.ts';
import { createCaseQueries } from '../../queries/case-answer.ts';
import type { LookupPorts } from '../../queries/case-lookup.ts';
import { standingOf } from '../../queries/case-standing.ts';
import type { Clock } from '../../runtime/instant.ts';
import type { PaidRoute } from '../paid/paid-call.ts';
import { type MonitorRequest, readMonitorRequest } from '../parameters/monitor-request.ts';
import { acceptServed } from '../parameters/served-last-checked.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { monitorBody } from './monitor-body.ts';

export interface MonitorRouteDependencies extends LookupPorts {
  readonly clock: Clock;
  readonly sandbox: Sandbox;
  /** If left out, no source is asked. */
  readonly refresh?: Refresh | undefined;
}

export function monitorRoute({
  readStore,
  freshness,
  clock,
  sandbox,
  refresh,
}: MonitorRouteDependencies): PaidRoute<MonitorRequest> {
  const queries = createCaseQueries({ readStore, freshness, clock });
  return {
    method: 'GET',
    path: '/v2/monitor',
    word: 'monitor',
    description: 'Whether a US or Canadian court case has new filings since you last looked, and how many',
    parse: (request) => readMonitorRequest(request, clock.now()),
    reconsider: (request, refusal) =>
      acceptServed(
        { readStore, freshness },
        refusal,
        (now) => readMonitorRequest(request, now),
        ({ lastChecked }) => lastChecked,
      ),
    sandbox: (request) => (request.sandbox ? sandbox.answerMonitor(request) : null),
    beforePayment: async ({ court, caseId }) => ({
      ...(await standingOf({ readStore, freshness, clock, sourceOf: refresh?.sourceOf }, court, caseId)),
    }),
    queries: () => 1,
    fingerprint: ({ courtCode, caseId, lastChecked }) =>
      canonicalJson({ court_code: courtCode, case_id: caseId, last_checked: lastChecked }),
    async answer({ court, courtCode, caseId, lastChecked }, call) {
      const query = { court, caseId, lastChecked, filingTypes: null };
      const answer = await refreshed(refresh, query, call, () => queries.answerMonitor(query));
      if (isProblem(answer)) return answer;
      const body = monitorBody(answer, { caseId, courtCode }, { ...call, sandbox: false });
      return { body: Buffer.from(body), answeredCases: 1, courts: [court.code], cases: [answer.stream] };
    },
  };
}
