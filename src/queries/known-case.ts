/** The case of a query at one moment. "Not found" is returned only once that is certain. */
import type { Court } from '../courts/court.ts';
import { isProblem, type Problem } from '../errors.ts';
import type { Instant } from '../runtime/instant.ts';
import { findKnownCase } from './case-lookup.ts';
import { type CaseMoment, type QueryPorts, readMoment } from './case-moment.ts';
import { type Known, readUntilKnown } from './known.ts';

export interface KnownCase extends CaseMoment {
  readonly stream: string;
}

/** @param lastChecked the time since which the caller wants news; null if it does not */
export async function readKnownCase(
  ports: QueryPorts,
  {
    court,
    caseId,
    lastChecked,
  }: { readonly court: Court; readonly caseId: string; readonly lastChecked: Instant | null },
): Promise<KnownCase | Problem> {
  const found = await findKnownCase(ports, court, caseId);
  if (isProblem(found)) return found;
  const { stream } = found;
  // A number becomes visible before its case.
  const moment = await readUntilKnown(ports.freshness, () => readMoment(ports, stream, lastChecked), momentHolds);
  return isProblem(moment) ? moment : { ...moment, stream };
}

const momentHolds = (moment: CaseMoment | Problem): Known =>
  isProblem(moment) && moment.problem === 'case_not_found' ? 'if_whole' : 'always';
