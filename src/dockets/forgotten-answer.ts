/** Removes a forgotten docket from a stored answer. Pure. */
import type { Json, JsonObject } from '../events/event.ts';
import { parsedJson } from '../runtime/parsed-json.ts';

export interface ForgottenCase {
  /** Whether a court code and a number, as a caller sent or the service wrote them, mean the docket. */
  means(courtCode: string, caseNumber: string): boolean;
  /** Ids of its filings. */
  readonly filingIds: ReadonlySet<string>;
  /** Its numbers, as they are written. */
  readonly numbers: readonly string[];
}

/** In the place of a batch's result. */
const WITHDRAWN: JsonObject = {
  code: 'result_gone',
  message: 'This result was removed by order.',
  documentation_url: '/docs/errors#result_gone',
  details: { charged: true, hint: 'The docket is not available here any more.' },
};

export type Remainder =
  | { readonly holds: false }
  /** What is left of the answer; null: nothing. */
  | { readonly holds: true; readonly left: Buffer | null };

/**
 * What is left of an answer without a docket. A batch keeps its results about other dockets.
 * @param bytes JSON of an answer of any endpoint and version, or the bytes of a callback
 */
export function withoutCase(bytes: Buffer, forgotten: ForgottenCase): Remainder {
  const text = bytes.toString('utf8');
  const answer = parsedJson(text) as Json | undefined;
  // Nothing of it can be kept, and nobody can read it.
  if (answer === undefined) return mentions(text, forgotten) ? { holds: true, left: null } : { holds: false };
  if (!holds(answer, forgotten)) return { holds: false };
  const { results, ...rest } = answer as JsonObject;
  if (!Array.isArray(results)) return { holds: true, left: null };
  const left = results.map((result) => (holds(result, forgotten) ? emptied(result) : result));
  const isAll = left.every((result, index) => result !== results[index]);
  return { holds: true, left: isAll ? null : Buffer.from(JSON.stringify({ ...rest, results: left })) };
}

const mentions = (text: string, { filingIds, numbers }: ForgottenCase): boolean =>
  [...filingIds, ...numbers].some((one) => text.includes(one));

/** The number stays: the buyer sent it. A result that is empty already holds nothing more. */
function emptied(result: Json): Json {
  const { case_id = null, court_code = null } = result as JsonObject;
  return { case_id, court_code, status: 'error', error: WITHDRAWN };
}

function holds(value: Json, forgotten: ForgottenCase): boolean {
  if (value === null || typeof value !== 'object') return false;
  if (Array.isArray(value)) return value.some((one) => holds(one, forgotten));
  const object = value as JsonObject;
  const { filing_id: filingId, court_code: court, case_id: number, case: shown, error } = object;
  if (typeof filingId === 'string' && forgotten.filingIds.has(filingId)) return true;
  if (typeof court === 'string' && (error === undefined || error === null)) {
    const canonical = (shown as JsonObject | null | undefined)?.case_number;
    for (const one of [canonical, number]) if (typeof one === 'string' && forgotten.means(court, one)) return true;
  }
  return Object.values(object).some((one) => holds(one, forgotten));
}
