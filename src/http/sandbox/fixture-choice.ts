/** Chooses the sandbox docket that fits the court and the case number. */
import type { CaseNumber, Court } from '../../courts/court.ts';

export type FixtureName = 'civil' | 'criminal' | 'bankruptcy' | 'appellate' | 'bilingual' | 'large';

const CRIMINAL: ReadonlySet<string> = new Set(['cr', 'mj', 'po', 'cf', 'cm', 'f', 'm', 'fe', 'mi', 'fel', 'misd']);
const MULTIDISTRICT: ReadonlySet<string> = new Set(['md', 'ml', 'mdl']);

/**
 * Canada: the bilingual case. US: by the level of the court, in trial courts by the case type in the number.
 * Multidistrict litigation gets the docket of 6,000 entries.
 */
export function fixtureFor(
  { country, level, code }: Pick<Court, 'country' | 'level' | 'code'>,
  { caseType }: Pick<CaseNumber, 'caseType'>,
): FixtureName {
  if (country === 'CA') return 'bilingual';
  if (code === 'jpml') return 'large';
  if (level === 'bankruptcy') return 'bankruptcy';
  if (level === 'appellate' || level === 'supreme') return 'appellate';
  if (caseType !== null && MULTIDISTRICT.has(caseType)) return 'large';
  return caseType !== null && CRIMINAL.has(caseType) ? 'criminal' : 'civil';
}
