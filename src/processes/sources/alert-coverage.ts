/** The cases of which an alert shows what is new, so that looks only complete it (docs/design/sources.md#watched-cases). */
import { parseCaseNumber } from '../../courts/case-number.ts';
import { findCourt } from '../../courts/registry.ts';
import { alertsOfSource } from '../../queries/live-sources.ts';
import { MICROS_PER_SECOND, type Micros } from '../../runtime/instant.ts';
import type { ReadStore } from '../../storage/read-store.ts';
import type { Coverage } from './feed-coverage.ts';

const READ_EVERY: Micros = 300 * MICROS_PER_SECOND;

/** The forms of one number share a core. */
export function coreKey(code: string, caseNumber: string): string {
  const court = findCourt(code);
  return `${code} ${(court && parseCaseNumber(court, caseNumber)?.core) ?? caseNumber}`;
}

export function alertCoverage(readStore: Pick<ReadStore, 'find'>): Coverage {
  let covered: ReadonlySet<string> = new Set();
  let readAt = Number.NEGATIVE_INFINITY;
  return async (now) => {
    if (Math.abs(now - readAt) >= READ_EVERY) {
      const alerts = await alertsOfSource(readStore, 'courtlistener');
      covered = new Set(alerts.map(({ court, caseNumber }) => coreKey(court, caseNumber)));
      readAt = now;
    }
    return ({ court, caseNumber }) => covered.has(coreKey(court.code, caseNumber));
  };
}

/** What any of them covers. */
export function anyCoverage(...all: readonly Coverage[]): Coverage {
  return async (now) => {
    const each = await Promise.all(all.map((coverage) => coverage(now)));
    return (known) => each.some((covers) => covers(known));
  };
}
