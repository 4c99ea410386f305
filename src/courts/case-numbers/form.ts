/** One way in which courts write their numbers, read by a pattern and written back in the courts' own form. */
import type { CaseNumber, Court } from '../court.ts';
import { type Grammar, plainNumber } from './grammar.ts';
import { exampleGrammar, publishedPatternGrammar } from './published-pattern.ts';

export type Parts = Readonly<Record<string, string>>;

export interface Form {
  /** The codes of the courts that write so. */
  readonly courts: RegExp;
  /** Named groups become the parts. Letters in any case. */
  readonly read: RegExp;
  /** The canonical form, alone or with more; null where the number is of another court. */
  write(parts: Parts, court: Court): string | (Partial<CaseNumber> & { readonly canonical: string }) | null;
}

/** The grammar of the courts of a table of forms: its first form that fits, else what the court publishes. */
export function grammarOfForms(forms: readonly Form[]): Grammar {
  const byCourt = new Map<string, readonly Form[]>();
  return (typed, court) => {
    let own = byCourt.get(court.code);
    if (own === undefined) {
      own = forms.filter((form) => form.courts.test(court.code));
      byCourt.set(court.code, own);
    }
    const read = byForms(own, typed.text, court);
    if (read !== undefined) return read;
    const published = publishedPatternGrammar(typed, court);
    if (published !== null) return published;
    // What was made to look like the example may have a part that a form sets aside.
    const alike = exampleGrammar(typed, court);
    return alike && (byForms(own, alike.canonical, court) ?? alike);
  };
}

/** Undefined where no form fits; null where the number is another court's. */
function byForms(forms: readonly Form[], text: string, court: Court): CaseNumber | null | undefined {
  for (const form of forms) {
    const groups = form.read.exec(text)?.groups;
    if (groups === undefined) continue;
    const written = form.write(partsOf(groups), court);
    if (written === null) return null;
    return typeof written === 'string' ? plainNumber(written) : plainNumber(written.canonical, written);
  }
  return undefined;
}

const partsOf = (groups: Readonly<Record<string, string | undefined>>): Parts =>
  Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, (value ?? '').toUpperCase()]));

/** Four digits of a year: courts that write them have no docket from before 1950. */
export function longYear(year: string): string {
  if (year.length === 4) return year;
  return `${Number(year) < 50 ? '20' : '19'}${year}`;
}
