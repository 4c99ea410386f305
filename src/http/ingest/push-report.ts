/** What became of each docket of a push. Its size is bounded, however many entries are skipped. */
import type { ImportedItem } from '../../commands/docket/import.ts';
import type { JsonObject } from '../../events/event.ts';
import type { LeftOut } from '../../sources/juriscraper/juriscraper.ts';

/** The most reasons listed for one docket, and for one push; the rest are only counted. */
const LISTED_OF_A_DOCKET = 50;
const LISTED = 2_000;

interface Totals {
  dockets: number;
  recorded: number;
  unchanged: number;
  refused: number;
  entries: number;
  new_filings: number;
  baseline_filings: number;
  revised: number;
  merged: number;
  sealed: number;
  skipped_entries: number;
}

export interface PushReport {
  add(item: ImportedItem): void;
  readonly totals: Readonly<Totals>;
  /** One row for each docket, in the order in which they were done. */
  readonly rows: readonly JsonObject[];
}

export function createPushReport(): PushReport {
  const totals: Totals = {
    dockets: 0,
    recorded: 0,
    unchanged: 0,
    refused: 0,
    entries: 0,
    new_filings: 0,
    baseline_filings: 0,
    revised: 0,
    merged: 0,
    sealed: 0,
    skipped_entries: 0,
  };
  const rows: JsonObject[] = [];
  let listed = 0;

  const reasons = (all: readonly LeftOut[]): readonly JsonObject[] => {
    const some = all.slice(0, Math.min(LISTED_OF_A_DOCKET, LISTED - listed));
    listed += some.length;
    return some.map(({ where, why }) => ({ where, why }));
  };

  const add = (item: ImportedItem): void => {
    totals.dockets++;
    const { where } = item;
    if (item.outcome === 'refused') {
      totals.refused++;
      rows.push({ where, outcome: 'refused', why: item.why });
      return;
    }
    if (item.outcome === 'already_imported') {
      totals.unchanged++;
      rows.push({ where, court_code: item.courtCode, case_number: item.caseNumber, outcome: 'unchanged' });
      return;
    }
    const { report } = item;
    const counts = {
      entries: item.entries,
      new_filings: report.newFilings,
      baseline_filings: report.baselineFilings,
      revised: report.revised,
      merged: report.merged,
      sealed: report.sealed,
      skipped_entries: item.skipped.filter(({ where: place }) => place.startsWith('docket_entries')).length,
    };
    for (const [name, count] of Object.entries(counts)) totals[name as keyof typeof counts] += count;
    totals[report.changed ? 'recorded' : 'unchanged']++;
    rows.push({
      where,
      court_code: item.courtCode,
      case_number: report.caseNumber,
      outcome: report.changed ? 'recorded' : 'unchanged',
      ...counts,
      older_than_known: report.stale,
      skipped: reasons(item.skipped),
      remarks: reasons(item.remarks),
    });
  };
  return { add, totals, rows };
}
