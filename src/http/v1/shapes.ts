/**
 * The answers of version 1, flat and under its old names, built from the results of version 2 queries
 * (docs/design/interface.md#v1).
 */
import type { StatusCourt } from '../../courts/status-courts.ts';
import type { JsonObject } from '../../events/event.ts';
import type { CaseAnswer, CaseAnswerMeta, MonitorAnswer } from '../../queries/case-answer.ts';

/** Values that the caller sent, which are echoed, and the cost of the call. */
export interface V1Call {
  readonly caseId: string;
  readonly courtCode: string;
  /** US dollars in exact cents. */
  readonly costUsd: number;
}

/** A member of a version 2 answer. It is missing only if version 2 changed and this file did not. */
function member(answer: JsonObject, name: string): JsonObject[string] {
  const value = answer[name];
  if (value === undefined) throw new Error(`an answer of version 2 has no ${name}`);
  return value;
}

const picked = (answer: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(names.map((name) => [name, member(answer, name)]));

const envelope = ({ queriedAt, coverageStatus }: CaseAnswerMeta, { caseId, courtCode, costUsd }: V1Call) => ({
  case_id: caseId,
  court_code: courtCode,
  queried_at: queriedAt,
  query_cost: costUsd,
  coverage_status: coverageStatus,
});

const BEFORE_NATURE = ['case_number', 'case_name', 'case_type', 'case_status', 'court_name'] as const;
const AFTER_NATURE = [
  'cause',
  'assigned_judge',
  'referred_judge',
  'filed_at',
  'closed_at',
  'filing_count',
  'latest_activity_at',
  'primary_parties',
] as const;

/** @param answer to a query with cross-references and a delta */
export function v1Case(answer: CaseAnswer, call: V1Call): JsonObject {
  const found = member(answer.body, 'case') as JsonObject;
  const delta = member(answer.body, 'delta') as JsonObject;
  return {
    ...envelope(answer, call),
    changed: member(delta, 'changed'),
    case: {
      ...picked(found, BEFORE_NATURE),
      nature_of_suit: member(found, 'nature_of_proceeding'),
      ...picked(found, AFTER_NATURE),
      related_cases: member(found, 'cross_references'),
    },
    new_filings: (member(delta, 'new_filings') as readonly JsonObject[]).map(v1Filing),
  };
}

function v1Filing(filing: JsonObject): JsonObject {
  const link = member(filing, 'external_url');
  return {
    ...picked(filing, ['filing_id', 'filing_type', 'filed_at', 'filed_by', 'description']),
    pacer_doc_id: member(filing, 'document_identifier'),
    pacer_link: link,
    // The service stores no documents itself.
    document_url: null,
    document_access: member(filing, 'sealed') === true ? 'sealed' : link === null ? 'none' : 'court',
  };
}

export const v1Monitor = (answer: MonitorAnswer, call: V1Call): JsonObject => ({
  ...envelope(answer, call),
  changed: answer.changed,
});

/** A court in the shape of version 1, which has no `jurisdiction_country` and knows only live and planned courts. */
export function v1Court({ jurisdiction_country: _, ...court }: StatusCourt) {
  return { ...court, status: court.status === 'planned' ? ('planned' as const) : ('live' as const) };
}
