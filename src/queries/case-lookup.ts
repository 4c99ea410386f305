/** Which case somebody means by a number (specification 2.1; `dockets.md`, Case numbers). */
import { parseCaseNumber } from '../courts/case-number.ts';
import type { Court } from '../courts/court.ts';
import { CASE_NUMBERS, type CaseNumberDocument, caseNumberId } from '../dockets/case-document.ts';
import { type Problem, problem } from '../errors.ts';
import type { QueryStore } from '../storage/read-store.ts';

const CANDIDATES = 20;

export const caseNotFound = (candidates: readonly string[] = []): Problem =>
  problem('case_not_found', { enqueued: false, retry_after: null, candidates });

/** The stream of the case that a number of a court means, or why there is not exactly one. */
export async function findCase(
  readStore: QueryStore,
  court: Court,
  caseId: string,
): Promise<{ readonly stream: string } | Problem> {
  const number = parseCaseNumber(court, caseId);
  if (!number) {
    return problem('invalid_case_id', { received: caseId, pattern: court.pattern, example: court.example });
  }
  const id = caseNumberId(court.code, number.canonical);
  const own = (await readStore.load<CaseNumberDocument>(CASE_NUMBERS, [id])).get(id)?.document;
  if (own && number.complete) return { stream: own.case };
  const alike = (
    await readStore.find<CaseNumberDocument>({
      collection: CASE_NUMBERS,
      equals: { court: court.code, core: number.core },
      limit: CANDIDATES * 2,
    })
  ).map(({ document }) => document);
  const streams = new Set(alike.map((one) => one.case));
  const [stream] = streams;
  const wholeNumbers = [...new Set(alike.map((one) => one.number))]
    .filter((one) => one !== number.core || alike.length === 1)
    .slice(0, CANDIDATES);
  if (!number.complete && streams.size > 1) return problem('ambiguous_case_id', { candidates: wholeNumbers });
  if (!number.complete && stream !== undefined) return { stream };
  // A docket that is known without its office alone may well be the one that was asked for.
  if (stream !== undefined && alike.every((one) => one.number === number.core)) return { stream };
  return caseNotFound(wholeNumbers);
}
