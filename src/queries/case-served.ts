/** What callers were told of a case's time, which they may send back whatever the clock says by now. */
import type { Court } from '../courts/court.ts';
import { caseClockId, readClock } from '../dockets/case-clock.ts';
import { CASES, type CaseDocument } from '../dockets/case-document.ts';
import { isProblem } from '../errors.ts';
import type { Instant } from '../instant.ts';
import type { QueryStore } from '../storage/read-store.ts';
import { findCase } from './case-lookup.ts';

/**
 * The latest `queried_at` that anybody can have been given about a case; null where nobody was. A clock that once ran
 * ahead leaves it ahead of now: filings are dated after everything that was served.
 */
export async function servedUntil(readStore: QueryStore, court: Court, caseId: string): Promise<Instant | null> {
  const found = await findCase(readStore, court, caseId);
  if (isProblem(found)) return null;
  const { stream } = found;
  const served = readClock((await readStore.cell(caseClockId(stream))).value)?.served ?? null;
  const newest = (await readStore.load<CaseDocument>(CASES, [stream])).get(stream)?.document.newestTime ?? null;
  return served === null || (newest !== null && newest > served) ? newest : served;
}
