/** One notation of case numbers: a pattern reads it, and a function writes it in the court's own form. */
import type { CaseNumber, Court } from '../court.ts';
import { type Grammar, plainNumber } from './grammar.ts';
import { exampleGrammar, publishedPatternGrammar } from './published-pattern.ts';

export type Parts = Readonly<Record<string, string>>;

export interface Form {
  /** The codes of the courts that use it. */
  readonly courts: RegExp;
  /** Named groups become the parts. Letter case is ignored. */
  readonly read: RegExp;
  /** The canonical form, alone or with other fields; null if the number belongs to another court. */
  write(parts: Parts, court: Court): string | (Partial<CaseNumber> & { readonly canonical: string }) | null;
}

/** The grammar of the courts in a table of forms: the first form that fits, otherwise the court's published pattern. */
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
    // A number adapted to the court's example may have a part that a form sets aside.
    const alike = exampleGrammar(typed, court);
    return alike && (byForms(own, alike.canonical, court) ?? alike);
  };
}

/** Undefined if no form fits; null if the number belongs to another court. */
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

/** A year in four digits: courts that write them have no docket from before 1950. */
export function longYear(year: string): string {
  if (year.length === 4) return year;
  return `${Number(year) < 50 ? '20' : '19'}${year}`;
}
