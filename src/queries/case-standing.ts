/** Whether a case is known and how old its data is. Shown before payment, so that no caller signs for a 404. */
import type { Court } from '../courts/court.ts';
import { CASES, type CaseDocument, lookAnswered } from '../dockets/case-document.ts';
import { isProblem } from '../errors.ts';
import { type Clock, MICROS_PER_SECOND, toMicros } from '../runtime/instant.ts';
import { findCase, type LookupPorts } from './case-lookup.ts';
import { isHeadAlone } from './head-alone.ts';
import { readUntilKnown } from './known.ts';

export interface CaseStanding {
  /** Null if unknown now: the read model is behind, or the number matches several cases. */
  readonly known: boolean | null;
  /** Whole seconds, as an answer would say; null for an unknown case. */
  readonly cache_age_seconds: number | null;
  /**
   * The source of the look that this age is of; `imported` for files. For an unknown case the one that would be asked, null
   * if none covers its court.
   */
  readonly source: string | null;
}

export interface StandingPorts extends LookupPorts {
  readonly clock: Clock;
  /** The source that would be asked about a case of a court; if left out, no source is asked. Sends no request. */
  readonly sourceOf?: ((court: Court) => string | null) | undefined;
}

export const UNKNOWN_STANDING: CaseStanding = { known: null, cache_age_seconds: null, source: null };
export const NO_CASE: CaseStanding = { known: false, cache_age_seconds: null, source: null };

/** The payment terms never wait longer for it, milliseconds. */
const PATIENCE_MS = 1_000;

/** Never fails: what is unknown is null. */
export async function standingOf(ports: StandingPorts, court: Court, caseId: string): Promise<CaseStanding> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<CaseStanding>((resolve) => {
    timer = setTimeout(resolve, PATIENCE_MS, UNKNOWN_STANDING);
  });
  const read = readStanding(ports, court, caseId).catch(() => UNKNOWN_STANDING);
  return Promise.race([read, late]).finally(() => clearTimeout(timer));
}

async function readStanding(ports: StandingPorts, court: Court, caseId: string): Promise<CaseStanding> {
  // Only a model that shows everything can say that a case does not exist.
  const read = await readUntilKnown(
    ports.freshness,
    () => shownStanding(ports, court, caseId),
    ({ known }) => (known === false ? 'if_whole' : 'always'),
  );
  return isProblem(read) ? UNKNOWN_STANDING : read;
}

async function shownStanding(
  { readStore, clock, sourceOf }: StandingPorts,
  court: Court,
  caseId: string,
): Promise<CaseStanding> {
  const noCase = (): CaseStanding => ({ ...NO_CASE, source: sourceOf?.(court) ?? null });
  const found = await findCase(readStore, court, caseId);
  if (isProblem(found)) return found.problem === 'case_not_found' ? noCase() : UNKNOWN_STANDING;
  const document = (await readStore.load<CaseDocument>(CASES, [found.stream])).get(found.stream)?.document;
  if (!document?.opened || isHeadAlone(document)) return noCase();
  const { asOf, source } = lookAnswered(document);
  const age = asOf === null ? null : clock.now() - toMicros(asOf);
  const seconds = age === null ? null : Math.max(0, Math.floor(age / MICROS_PER_SECOND));
  return { known: true, cache_age_seconds: seconds, source };
}
