/** Supreme Court of the United States: `23-719`, applications `24A100`, motions `24M12`, original cases `22O141`. */
import { type Grammar, padded, plainNumber, shortYear } from './grammar.ts';

const PETITION = /^(?<year>(?:19|20)?\d{2})-(?<sequence>\d{1,5})$/;
const LETTERED = /^(?<year>(?:20)?\d{2}) ?(?<letter>[AMO]) ?(?<sequence>\d{1,4})$/i;
const ORIGINAL = /^(?<sequence>\d{1,3}),? ?orig(?:inal)?\.?$/i;

/** Original cases are numbered consecutively; the Court's system files all of them under this year. */
const ORIGINAL_YEAR = '22';

const LETTER_TYPES: Readonly<Record<string, string>> = { A: 'application', M: 'motion', O: 'original' };

export const supremeCourtGrammar: Grammar = ({ text }) => {
  const petition = PETITION.exec(text)?.groups;
  if (petition) return plainNumber(`${shortYear(petition.year ?? '')}-${padded(petition.sequence ?? '', 1)}`);
  const original = ORIGINAL.exec(text)?.groups;
  if (original) return lettered(ORIGINAL_YEAR, 'O', original.sequence ?? '');
  const parts = LETTERED.exec(text)?.groups;
  return parts ? lettered(shortYear(parts.year ?? ''), (parts.letter ?? '').toUpperCase(), parts.sequence ?? '') : null;
};

const lettered = (year: string, letter: string, sequence: string) =>
  plainNumber(`${year}${letter}${padded(sequence, 1)}`, { caseType: LETTER_TYPES[letter] ?? null });
