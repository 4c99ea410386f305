/** Times that callers received about a case and may send back, whatever the clock shows by now. */
import type { Court } from '../courts/court.ts';
import { caseClockId, readClock } from '../dockets/case-clock.ts';
import { CASES, type CaseDocument } from '../dockets/case-document.ts';
import { isProblem, type Problem } from '../errors.ts';
import type { Instant } from '../runtime/instant.ts';
import { findKnownCase, type LookupPorts } from './case-lookup.ts';

/**
 * The latest `queried_at` that any caller can have received about a case; null if there is none, a problem if it is
 * unknown now. A clock that once ran ahead leaves it in the future: filings get times after everything that was
 * served.
 */
export async function servedUntil(ports: LookupPorts, court: Court, caseId: string): Promise<Instant | null | Problem> {
  const { readStore } = ports;
  const found = await findKnownCase(ports, court, caseId);
  if (isProblem(found)) return found.problem === 'service_unavailable' ? found : null;
  const { stream } = found;
  const served = readClock((await readStore.cell(caseClockId(stream))).value)?.served ?? null;
  const newest = (await readStore.load<CaseDocument>(CASES, [stream])).get(stream)?.document.newestTime ?? null;
  return served === null || (newest !== null && newest > served) ? newest : served;
}
