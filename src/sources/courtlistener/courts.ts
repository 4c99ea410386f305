/** The courts that CourtListener has dockets of, and its names for them (docs/design/sources.md#courtlistener). */
import type { Court } from '../../courts/court.ts';
import { courts } from '../../courts/registry.ts';

/** Courts of national jurisdiction beside the courts of appeals. */
const NATIONAL: ReadonlySet<string> = new Set(['cit', 'uscfc', 'jpml', 'cavc']);

/** The few courts that CourtListener names otherwise. */
const OTHER_IDS: ReadonlyMap<string, string> = new Map([
  ['azb', 'arb'],
  ['neb', 'nebraskab'],
]);

function isCovered({ code, level, system }: Court): boolean {
  if (system === 'US federal district courts') return true;
  if (system === 'US federal bankruptcy courts') return level === 'bankruptcy';
  return system === 'US federal' && (level === 'appellate' || NATIONAL.has(code));
}

/** District and bankruptcy courts, courts of appeals, and four courts more; not the Supreme Court's entries. */
export const COURTLISTENER_COURTS: readonly Court[] = courts.filter(isCovered);

const covered: ReadonlySet<string> = new Set(COURTLISTENER_COURTS.map(({ code }) => code));

export const isOnCourtListener = ({ code }: Court): boolean => covered.has(code);

export const courtListenerId = ({ code }: Court): string => OTHER_IDS.get(code) ?? code;
