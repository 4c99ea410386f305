/**
 * A batch in the sandbox: every query succeeds, even with unknown ids (docs/design/interface.md#sandbox). It is free, so
 * it must not be much larger than a single sandbox answer.
 */
import { parseCaseNumber } from '../../courts/case-number.ts';
import { findCourt } from '../../courts/registry.ts';
import { isProblem } from '../../errors.ts';
import { type Clock, toInstant } from '../../runtime/instant.ts';
import type { SandboxAnswer } from '../paid/paid-call.ts';
import type { BatchQuery } from '../parameters/batch-query.ts';
import type { CaseQueryParameters } from '../parameters/case-query.ts';
import { fixtureFor } from '../sandbox/fixture-choice.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { batchBody } from './batch-body.ts';

/** Used in place of an unknown court. */
const OTHER_COURT = 'cand';

export async function sandboxBatch(
  sandbox: Sandbox,
  queries: readonly BatchQuery[],
  clock: Clock,
  publicUrl: string,
): Promise<SandboxAnswer> {
  let largeShown = false;
  const answers = await Promise.all(
    queries.map((query) => {
      const parameters = rehearsedQuery(query);
      const isLarge = fixtureFor(parameters.court, parameters.caseNumber) === 'large' && query.context === 'full';
      // The docket of 2 MiB appears only once: a free answer must not be fifty times as large.
      const answer = sandbox.answerCase(parameters, isLarge && largeShown ? 'civil' : undefined);
      const truncated = isLarge && !largeShown;
      largeShown ||= isLarge;
      return Promise.resolve(answer).then((compose) => ({ query, compose, truncated }));
    }),
  );
  return (call) =>
    batchBody(
      answers.map(({ query, compose, truncated }) => ({ query, answer: { text: compose(call), truncated } })),
      { ...call, sandbox: true, at: toInstant(clock.now()), publicUrl },
    );
}

/** The query's own case if it can exist; otherwise one of the same court, or of another. */
export function rehearsedQuery(query: BatchQuery): CaseQueryParameters {
  if (!isProblem(query.named)) return { ...query, ...query.named };
  const court = findCourt(query.courtCode);
  const caseNumber = court && (parseCaseNumber(court, query.caseId) ?? parseCaseNumber(court, court.example ?? ''));
  return { ...query, ...(court && caseNumber ? { court, caseNumber } : otherCase()) };
}

function otherCase(): Pick<CaseQueryParameters, 'court' | 'caseNumber'> {
  const court = findCourt(OTHER_COURT);
  const caseNumber = court && parseCaseNumber(court, court.example ?? '');
  if (!court || !caseNumber) throw new Error(`the registry has no court ${OTHER_COURT} with an example`);
  return { court, caseNumber };
}
