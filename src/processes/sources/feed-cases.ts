/** Which cases of a feed somebody wants to know about, as the read models show it. */
import type { CaseNumber, Court } from '../../courts/court.ts';
import { CASE_NUMBERS, caseNumberId } from '../../dockets/case-document.ts';
import { isProblem } from '../../errors.ts';
import { sourceStream } from '../../events/source.ts';
import { WANTED_CASES } from '../../projections/watched-cases.ts';
import { findCase } from '../../queries/case-lookup.ts';
import type { ReadStore } from '../../storage/read-store.ts';

const AT_ONCE = 500;

type Store = Pick<ReadStore, 'load' | 'find' | 'count' | 'cell' | 'compareAndSet' | 'activeGeneration'>;

/** The canonical numbers of those cases that are known or wanted. */
export async function concernedCases(
  readStore: Store,
  court: Court,
  numbers: readonly CaseNumber[],
): Promise<ReadonlySet<string>> {
  const concerned = new Set<string>();
  for (let start = 0; start < numbers.length; start += AT_ONCE) {
    const batch = numbers.slice(start, start + AT_ONCE);
    const ids = batch.flatMap(({ canonical, core }) => [
      caseNumberId(court.code, canonical),
      caseNumberId(court.code, core),
    ]);
    const known = await readStore.load(CASE_NUMBERS, [...new Set(ids)]);
    const wanted = await readStore.load(
      WANTED_CASES,
      batch.map(({ canonical }) => sourceStream.wanted(court.code, canonical)),
    );
    for (const number of batch) {
      const { canonical, core, complete } = number;
      const isKnown =
        known.has(caseNumberId(court.code, canonical)) ||
        // A docket that is known without its office may be this one; so may be one of which the feed has no office.
        ((!complete || known.has(caseNumberId(court.code, core))) &&
          !isProblem(await findCase(readStore, court, canonical)));
      if (isKnown || wanted.has(sourceStream.wanted(court.code, canonical))) concerned.add(canonical);
    }
  }
  return concerned;
}
