/** Reads a request to `POST /v2/cases/batch` (docs/design/interface.md#2.5). */
import { isProblem, type Problem, problem } from '../../errors.ts';
import type { LookupPorts } from '../../queries/case-lookup.ts';
import { servedUntil } from '../../queries/case-served.ts';
import { type Micros, toMicros } from '../../runtime/instant.ts';
import { nearestName } from '../nearest-name.ts';
import { type BatchQuery, readBatchQuery, suggestForFew } from './batch-query.ts';
import { echo, type Issue, refuseFor } from './issues.ts';
import { readJsonBody } from './json-body.ts';
import { readRequestParameters, type SentRequest } from './request-parameters.ts';
import { CLOCK_TOLERANCE } from './timestamps.ts';

export const MAX_BATCH_SIZE = 50;

/** Most issues listed; the rest are only counted. */
const MAX_ISSUES = 100;
const EXAMPLE = '{"queries": [{"case_id": "3:24-cv-01234", "court_code": "cand"}]}';

export interface BatchRequest {
  /** 1 to 50, in the order sent. */
  readonly queries: readonly BatchQuery[];
  /** Whether the sandbox is asked for, which is free. */
  readonly sandbox: boolean;
}

/**
 * Reads a batch: steps 2 and 3 of the order of checks. Errors of the request itself reject the whole batch, all listed at
 * once. A query for a case that cannot exist is kept, with its error as its result.
 */
export function readBatchRequest(request: SentRequest, now: Micros): BatchRequest | Problem {
  const { sandbox, issues: own } = readRequestParameters(request, []);
  const body = readBody(request.body);
  const suggest = suggestForFew();
  const read = body.queries.map((sent, index) => readBatchQuery(sent, `queries[${index}]`, now, suggest));
  const [first, ...others] = [...own, ...body.issues, ...read.flatMap(({ issues }) => issues)];
  if (!first) return { queries: read.flatMap(({ query }) => query ?? []), sandbox };
  if (others.length === 0 && first.code === 'batch_too_large') {
    return problem('batch_too_large', { limit: MAX_BATCH_SIZE });
  }
  return refuseFor(bounded(first, others), own.length ? 'invalid_parameter' : 'invalid_batch_request');
}

/** Whether a batch was rejected because a `last_checked` is ahead of the clock. */
const isForFuture = ({ details }: Problem): boolean =>
  Array.isArray(details.issues) &&
  details.issues.some((issue) => (issue as { readonly code?: unknown }).code === 'last_checked_in_future');

/**
 * Reads a batch again that was rejected because a `last_checked` is ahead of the clock: a `queried_at` that this service
 * returned itself is accepted, whichever node's clock it came from (`acceptServed`).
 */
export async function acceptServedBatch(
  ports: LookupPorts,
  request: SentRequest,
  refusal: Problem,
  now: Micros,
): Promise<BatchRequest | Problem> {
  if (!isForFuture(refusal)) return refusal;
  const batch = readBatchRequest(request, Number.POSITIVE_INFINITY);
  if (isProblem(batch)) return refusal;
  const outcomes = await Promise.all(
    batch.queries.map(async ({ named, lastChecked }) => {
      if (lastChecked === null || toMicros(lastChecked.at) <= now + CLOCK_TOLERANCE) return null;
      if (isProblem(named)) return refusal;
      const served = await servedUntil(ports, named.court, named.caseId);
      if (typeof served === 'object' && served !== null) return served;
      return served !== null && lastChecked.at <= served ? null : refusal;
    }),
  );
  // Report certain errors before those that cannot be decided now.
  const refusals = outcomes.filter((outcome) => outcome !== null);
  return refusals.find((one) => one === refusal) ?? refusals[0] ?? batch;
}

interface ReadBody {
  /** Empty if the number of queries is invalid. */
  readonly queries: readonly unknown[];
  readonly issues: readonly Issue[];
}

function readBody(sent: unknown): ReadBody {
  let value = sent;
  const issues: Issue[] = [];
  if (sent instanceof Uint8Array) {
    const json = readJsonBody(Buffer.from(sent.buffer, sent.byteOffset, sent.byteLength));
    if ('fault' in json) return refused('body', json.fault);
    value = json.value;
    for (const path of json.repeated) issues.push(fault(echo(path), 'Send each member once.', null));
  }
  if (Array.isArray(value)) return refused('body', 'Put the array into an object, as the member `queries`.');
  if (typeof value !== 'object' || value === null) return refused('body', 'Send an object with the array `queries`.');

  const unknown = Object.keys(value).filter((name) => name !== 'queries');
  for (const name of unknown.slice(0, MAX_ISSUES)) {
    const suggestion = nearestName(name, ['queries']);
    const rule = `Unknown member. ${suggestion === null ? 'The only one is queries.' : 'Did you mean queries?'}`;
    issues.push(fault(echo(name), rule, suggestion));
  }
  const queries: unknown = Object.hasOwn(value, 'queries') ? (value as { queries: unknown }).queries : undefined;
  if (!Array.isArray(queries) || queries.length === 0) {
    const rule = `An array of 1 to ${MAX_BATCH_SIZE} queries.`;
    return { queries: [], issues: [...issues, fault('queries', rule, EXAMPLE)] };
  }
  if (queries.length <= MAX_BATCH_SIZE) return { queries, issues };
  const tooMany: Issue = {
    parameter: 'queries',
    code: 'batch_too_large',
    received: `${queries.length} queries`,
    rule: `At most ${MAX_BATCH_SIZE} queries; split the batch.`,
    example: null,
  };
  return { queries: [], issues: [...issues, tooMany] };
}

const fault = (parameter: string, rule: string, example: string | null): Issue => ({
  parameter,
  code: 'invalid_batch_request',
  received: null,
  rule,
  example,
});

const refused = (parameter: string, rule: string): ReadBody => ({
  queries: [],
  issues: [fault(parameter, rule, EXAMPLE)],
});

function bounded(first: Issue, others: readonly Issue[]): readonly [Issue, ...Issue[]] {
  if (others.length < MAX_ISSUES) return [first, ...others];
  const left = others.length - MAX_ISSUES + 1;
  return [first, ...others.slice(0, MAX_ISSUES - 1), fault('…', `${left} more errors are not listed.`, null)];
}
