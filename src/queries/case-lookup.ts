/** Finds the case that a number refers to (docs/design/interface.md#2.1; docs/design/dockets.md#case-numbers). */
import { parseCaseNumber } from '../courts/case-number.ts';
import type { Court } from '../courts/court.ts';
import { CASE_NUMBERS, type CaseNumberDocument, caseNumberId } from '../dockets/case-document.ts';
import { isProblem, type Problem, problem } from '../errors.ts';
import type { Freshness } from '../projections/freshness.ts';
import type { QueryStore } from '../storage/read-store.ts';
import { type Known, readUntilKnown } from './known.ts';

const CANDIDATES = 20;

export const caseNotFound = (candidates: readonly string[] = []): Problem =>
  problem('case_not_found', { enqueued: false, retry_after: null, candidates });

export interface FoundCase {
  readonly stream: string;
  /**
   * How the number was matched: by the full number, which is final; by its part without the office, which may match more
   * cases than are shown; or by a docket known only without its office, if nothing else has the number.
   */
  readonly by: 'number' | 'core' | 'lack';
}

export interface LookupPorts {
  readonly readStore: QueryStore;
  /** Of the read model of cases. */
  readonly freshness: Freshness;
}

/** The stream of the case that a number refers to, or why there is not exactly one, once that is certain. */
export const findKnownCase = (
  { readStore, freshness }: LookupPorts,
  court: Court,
  caseId: string,
): Promise<FoundCase | Problem> => readUntilKnown(freshness, () => findCase(readStore, court, caseId), lookupHolds);

/** How certain the result of a lookup is. */
function lookupHolds(found: FoundCase | Problem): Known {
  if (!isProblem(found)) return found.by === 'number' ? 'always' : found.by === 'core' ? 'once_built' : 'if_whole';
  switch (found.problem) {
    case 'case_not_found':
      return 'if_whole';
    // Cases that are still to come would be missing, and a caller who picks a listed one would pay for the wrong case.
    case 'ambiguous_case_id':
      return 'once_built';
    default:
      return 'always';
  }
}

/** The stream of the case that a number refers to, or why there is not exactly one, as far as the read model shows. */
export async function findCase(readStore: QueryStore, court: Court, caseId: string): Promise<FoundCase | Problem> {
  const number = parseCaseNumber(court, caseId);
  if (!number) {
    return problem('invalid_case_id', { received: caseId, pattern: court.pattern, example: court.example });
  }
  const id = caseNumberId(court.code, number.canonical);
  const own = (await readStore.load<CaseNumberDocument>(CASE_NUMBERS, [id])).get(id)?.document;
  if (own && number.complete) return { stream: own.case, by: 'number' };
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
  if (!number.complete && streams.size > 1) {
    const { pattern, example } = court;
    return problem('ambiguous_case_id', { pattern, example, candidates: wholeNumbers });
  }
  if (!number.complete && stream !== undefined) return { stream, by: 'core' };
  // A docket known only without its office may be the one that was asked for.
  if (stream !== undefined && alike.every((one) => one.number === number.core)) return { stream, by: 'lack' };
  return caseNotFound(wholeNumbers);
}
