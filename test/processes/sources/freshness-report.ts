import { type AgendaOptions, readAgenda } from '../../../src/processes/sources/agenda.ts';
import { type FreshnessReport, type RatesOf, reportOf } from '../../../src/processes/sources/freshness.ts';
import type { Watching } from '../../../src/processes/sources/watched.ts';

/** The report on the cases watched at a moment. */
export async function freshnessReport(
  options: AgendaOptions & { readonly rates: RatesOf },
  watching: Watching,
): Promise<FreshnessReport> {
  return reportOf(await readAgenda(options, watching), options.rates, watching.now);
}
