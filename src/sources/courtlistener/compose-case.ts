/** Makes one snapshot of what a look at a case has read, of all its dockets on CourtListener. Pure. */
import { canBeSameCase, parseCaseNumber } from '../../courts/case-number.ts';
import type { CaseNumber, Court } from '../../courts/court.ts';
import type { DocketSnapshot } from '../../dockets/snapshot.ts';
import type { JsonObject } from '../../events/event.ts';
import type { Instant } from '../../runtime/instant.ts';
import { readJuriscraperDocket } from '../juriscraper/juriscraper.ts';
import { composeDocket } from './courtlistener.ts';
import type { ListName } from './kept-rows.ts';
import type { LookedPage } from './look-store.ts';

export interface CaseParts {
  readonly court: Court;
  /** As it was asked for. */
  readonly number: CaseNumber;
  /** By id of the docket. */
  readonly headers: ReadonlyMap<string, JsonObject>;
  readonly pages: readonly LookedPage[];
}

export interface Claims {
  readonly askedAt: Instant;
  /** `whole`: every entry; `start`: a part of that; `changes`: all that changed since the last complete look. */
  readonly shows: 'whole' | 'start' | 'changes' | 'part';
}

/** Null if it cannot be read as a docket. */
export function composeCase(
  { court, number, headers, pages }: CaseParts,
  { askedAt, shows }: Claims,
): DocketSnapshot | null {
  const rowsOf = (docket: string, ...lists: readonly ListName[]): readonly JsonObject[] =>
    pages.filter((page) => page.docket === docket && lists.includes(page.list)).flatMap(({ rows }) => rows);
  const entriesOf = (docket: string) => rowsOf(docket, 'entries', 'documents');
  const most = (count: (docket: string) => number): string | undefined =>
    [...headers.keys()].toSorted((a, b) => count(b) - count(a))[0];
  const main = most((docket) => entriesOf(docket).length);
  const header = main === undefined ? undefined : headers.get(main);
  if (main === undefined || header === undefined) return null;
  // Of several dockets, the entries are one list; the parties are those of the docket that names most.
  const entries = [...headers.keys()].flatMap((docket) => entriesOf(docket).map((row) => ({ ...row, docket: main })));
  const named = most((docket) => rowsOf(docket, 'parties').length) ?? main;
  const value: JsonObject = {
    ...composeDocket({ id: main, docket: header, entries, parties: [], attorneys: [] }),
    parties:
      composeDocket({
        id: named,
        docket: header,
        entries: [],
        parties: rowsOf(named, 'parties'),
        attorneys: rowsOf(named, 'attorneys'),
      }).parties ?? [],
    court_id: court.code,
    docket_number: numberIn(court, number, header),
  };
  const read = readJuriscraperDocket(value, { askedAt, complete: shows === 'whole', source: 'courtlistener' });
  if ('refused' in read) return null;
  // Of several dockets, one may be closed and another not.
  const { saysOpen: _, ...snapshot } = read.snapshot;
  const isOpen = [...headers.values()].every(({ date_terminated: closed }) => closed === null);
  const shown: DocketSnapshot = isOpen ? { ...snapshot, saysOpen: true } : snapshot;
  if (shows === 'start') return { ...shown, ofFirstLook: true };
  return shows === 'changes' ? { ...shown, showsAllChanges: true } : shown;
}

/** The docket's own number, which may have the office that was not asked for; a list of numbers is not one. */
function numberIn(court: Court, asked: CaseNumber, { docket_number: written }: JsonObject): string {
  const own = typeof written === 'string' ? parseCaseNumber(court, written.slice(0, 200)) : null;
  return own && canBeSameCase(own, asked) && own.canonical.length > asked.canonical.length
    ? own.canonical
    : asked.canonical;
}
