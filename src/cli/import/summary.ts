/** The outcome of each file of an import, for people and programs. Its size is bounded, however many entries fail. */
import type { ImportedItem } from '../../commands/docket/import.ts';
import type { LeftOut } from '../../sources/juriscraper/juriscraper.ts';

/** The most reasons listed for one file; the rest are only counted. */
const LISTED = 50;

interface Totals {
  dockets: number;
  alreadyImported: number;
  refused: number;
  /** Entries in the dockets imported. */
  filings: number;
  newFilings: number;
  baselineFilings: number;
  revised: number;
  merged: number;
  sealed: number;
  unchanged: number;
  duplicates: number;
  skippedEntries: number;
}

const noTotals = (): Totals => ({
  dockets: 0,
  alreadyImported: 0,
  refused: 0,
  filings: 0,
  newFilings: 0,
  baselineFilings: 0,
  revised: 0,
  merged: 0,
  sealed: 0,
  unchanged: 0,
  duplicates: 0,
  skippedEntries: 0,
});

export interface FileOutcome {
  add(item: ImportedItem): void;
}

export interface ImportSummary {
  begin(file: string): FileOutcome;
  totals(): Readonly<Totals>;
  lineOf(file: string): string;
  toLines(): readonly string[];
  toJson(): object;
}

interface Listed {
  readonly file: string;
  readonly totals: Totals;
  readonly refusals: LeftOut[];
  readonly skipped: LeftOut[];
  readonly remarks: LeftOut[];
  /** The first few cases of this file. */
  readonly cases: { readonly court_code: string; readonly case_number: string; readonly stream: string }[];
}

export function createImportSummary(): ImportSummary {
  const files = new Map<string, Listed>();
  const all = noTotals();

  const add = (one: Listed, item: ImportedItem): void => {
    for (const totals of [all, one.totals]) count(totals, item);
    const place = (where: string): string => [item.where, where].filter((part) => part !== '').join(' ');
    if (item.outcome === 'refused') list(one.refusals, [{ where: item.where, why: item.why }]);
    if (item.outcome !== 'imported') return;
    list(
      one.skipped,
      item.skipped.map(({ where, why }) => ({ where: place(where), why })),
    );
    list(
      one.remarks,
      item.remarks.map(({ where, why }) => ({ where: place(where), why })),
    );
    const { stream, caseNumber } = item.report;
    if (one.cases.length < LISTED) one.cases.push({ court_code: item.courtCode, case_number: caseNumber, stream });
  };

  return {
    begin(file) {
      const one: Listed = { file, totals: noTotals(), refusals: [], skipped: [], remarks: [], cases: [] };
      files.set(file, one);
      return { add: (item) => add(one, item) };
    },
    totals: () => all,
    lineOf: (file) => lineOf(files.get(file)?.totals ?? noTotals()),
    toLines: () => [...files.values()].flatMap(linesOf).concat(files.size > 1 ? [`all: ${lineOf(all)}`] : []),
    toJson: () => ({ ...totalsJson(all), files: [...files.values()].map(fileJson) }),
  };
}

function list(target: LeftOut[], more: readonly LeftOut[]): void {
  target.push(...more.slice(0, Math.max(0, LISTED - target.length)));
}

function count(totals: Totals, item: ImportedItem): void {
  if (item.outcome === 'already_imported') totals.alreadyImported++;
  else if (item.outcome === 'refused') totals.refused++;
  else {
    const { report } = item;
    totals.dockets++;
    totals.filings += item.entries;
    totals.newFilings += report.newFilings;
    totals.baselineFilings += report.baselineFilings;
    totals.revised += report.revised;
    totals.merged += report.merged;
    totals.sealed += report.sealed;
    totals.unchanged += report.unchanged;
    totals.duplicates += report.duplicates;
    totals.skippedEntries += item.skipped.filter(({ where }) => where.startsWith('docket_entries')).length;
  }
}

function lineOf(totals: Readonly<Totals>): string {
  const parts: readonly (readonly [number, string])[] = [
    [totals.dockets, totals.dockets === 1 ? 'docket' : 'dockets'],
    [totals.baselineFilings, 'entries recorded as its history'],
    [totals.newFilings, 'new filings'],
    [totals.revised, 'revised'],
    [totals.merged, 'merged'],
    [totals.sealed, 'sealed'],
    [totals.unchanged, 'unchanged'],
    [totals.duplicates, 'repeated in the file'],
    [totals.skippedEntries, 'entries skipped'],
    [totals.alreadyImported, 'imported before, unchanged'],
    [totals.refused, 'not usable'],
  ];
  const said = parts.filter(([number]) => number > 0).map(([number, what]) => `${number} ${what}`);
  return said.length === 0 ? 'nothing' : said.join(', ');
}

function linesOf({ file, totals, refusals, skipped, remarks }: Listed): string[] {
  const reasons = (what: string, items: readonly LeftOut[]): string[] =>
    items.map(({ where, why }) => `  ${what} ${where === '' ? '' : `${where}: `}${why}`);
  return [
    `${file}: ${lineOf(totals)}`,
    ...reasons('not usable', refusals),
    ...reasons('skipped', skipped),
    ...reasons('note', remarks),
  ];
}

const totalsJson = (totals: Readonly<Totals>): object => ({
  dockets: totals.dockets,
  already_imported: totals.alreadyImported,
  refused: totals.refused,
  entries: totals.filings,
  new_filings: totals.newFilings,
  baseline_filings: totals.baselineFilings,
  revised: totals.revised,
  merged: totals.merged,
  sealed: totals.sealed,
  unchanged: totals.unchanged,
  duplicates: totals.duplicates,
  skipped_entries: totals.skippedEntries,
});

const fileJson = ({ file, totals, refusals, skipped, remarks, cases }: Listed): object => ({
  file,
  ...totalsJson(totals),
  cases,
  refusals,
  skipped,
  remarks,
});
