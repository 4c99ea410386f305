/**
 * Case numbers: converts typed text to the court's form of a case number (docs/design/interface.md#2.1;
 * docs/design/dockets.md#case-numbers).
 */
import { appellateGrammar } from './case-numbers/appellate.ts';
import { bankruptcyGrammar } from './case-numbers/bankruptcy.ts';
import { canadianCourtGrammar } from './case-numbers/canadian-courts.ts';
import { districtGrammar } from './case-numbers/district.ts';
import type { Grammar } from './case-numbers/grammar.ts';
import { armedForcesGrammar, serviceCourtGrammar } from './case-numbers/military.ts';
import {
  federalClaimsGrammar,
  internationalTradeGrammar,
  multidistrictGrammar,
  taxGrammar,
} from './case-numbers/national-courts.ts';
import { publishedPatternGrammar } from './case-numbers/published-pattern.ts';
import { stateCourtGrammar } from './case-numbers/state-courts.ts';
import { supremeCourtGrammar } from './case-numbers/supreme-court.ts';
import { readTyped } from './case-numbers/typed-number.ts';
import type { CaseNumber, Court } from './court.ts';

/** Courts whose grammar can be determined only by their code. */
const GRAMMARS_BY_CODE: ReadonlyMap<string, Grammar> = new Map([
  ['scotus', supremeCourtGrammar],
  ['tax', taxGrammar],
  ['uscfc', federalClaimsGrammar],
  ['cit', internationalTradeGrammar],
  ['jpml', multidistrictGrammar],
  ['cavc', appellateGrammar],
  ['armfor', armedForcesGrammar],
  ['mc', serviceCourtGrammar],
  ['acca', serviceCourtGrammar],
  ['afcca', serviceCourtGrammar],
  ['nmcca', serviceCourtGrammar],
  ['uscgcoca', serviceCourtGrammar],
]);

function grammarOf(court: Court): Grammar {
  const own = GRAMMARS_BY_CODE.get(court.code);
  if (own !== undefined) return own;
  if (court.system === 'US federal district courts') return districtGrammar;
  if (court.system.startsWith('US federal')) {
    if (court.level === 'bankruptcy') return bankruptcyGrammar;
    if (court.level === 'appellate') return appellateGrammar;
  }
  if (court.country === 'CA') return canadianCourtGrammar;
  return court.system.startsWith('US federal') ? publishedPatternGrammar : stateCourtGrammar;
}

/**
 * Reads a case number as the court means it. Labels, initials and marks are removed; years, separators, padding and
 * letter case are converted to the court's own. Null if this court has no such numbers. Never throws, for any text.
 */
export function parseCaseNumber(court: Court, typed: string): CaseNumber | null {
  const plain = readTyped(typed);
  return plain === null ? null : grammarOf(court)(plain, court);
}

/**
 * Whether two numbers of one court can mean the same case: they are equal, or differ only in the office (or division,
 * or suffix), which one of them omits.
 */
export function canBeSameCase(a: CaseNumber, b: CaseNumber): boolean {
  if (a.canonical === b.canonical) return true;
  return a.core === b.core && (a.canonical === a.core || b.canonical === b.core);
}
