/** US courts of appeals, bankruptcy appellate panels, Veterans Claims: year and sequence, `24-1234`. */
import type { Court } from '../court.ts';
import { type Grammar, padded, plainNumber, setAside, shortYear } from './grammar.ts';
import { withoutShortLabel } from './typed-number.ts';

/**
 * A lead or consolidation mark, a nature of the case as the Second Circuit writes it, or the initials of a panel:
 * `(L)`, `(Con)`, `-cv`, `-BGS`.
 */
const NUMBER =
  /^(?<panel>[A-Z]{2,3}-)?(?<year>(?:19|20)?\d{2})-(?<sequence>\d{1,5})(?<aside>(?:[ -]?(?:\([A-Z]{1,5}\)|-[A-Z]{1,5})){0,3})$/i;

/** The minimum number of digits of a sequence, if it is not four. */
const WIDTHS: ReadonlyMap<string, number> = new Map([
  ['ca5', 5],
  ['ca11', 5],
  ['bap1', 3],
  ['bap10', 3],
]);

function widthOf(court: Court): number {
  // These courts use ACMS, which pads nothing: `22-21` is a complete number.
  if (court.caseManagementSystem === 'ACMS') return 1;
  return WIDTHS.get(court.code) ?? 4;
}

/** The same with a nature and a mark in one, `-cv(L)`, `-cr (CON)`. */
const PRINTED =
  /^(?<panel>[A-Z]{2,3}-)?(?<year>(?:19|20)?\d{2})-(?<sequence>\d{1,5})(?<aside>(?: ?\([A-Z]{1,5}\)|[ -]{1,2}[A-Z]{1,5}){0,5})$/i;

export const appellateGrammar: Grammar = (typed, court) => {
  const parts = (NUMBER.exec(typed.text) ?? PRINTED.exec(typed.text))?.groups;
  if (!parts) {
    const unlabelled = withoutShortLabel(typed);
    return unlabelled && appellateGrammar(unlabelled, court);
  }
  if (parts.panel !== undefined && !court.code.startsWith('bap')) return null;
  const sequence = padded(parts.sequence ?? '', widthOf(court));
  return plainNumber(`${shortYear(parts.year ?? '')}-${sequence}`, { setAside: setAside(parts.panel, parts.aside) });
};
