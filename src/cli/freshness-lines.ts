/** Which watched cases a source can keep fresh, for `docket sources show`. */
import type { Config } from '../config.ts';
import type { LiveSourceName } from '../events/source.ts';
import { readAgenda } from '../processes/sources/agenda.ts';
import { feedCoverage } from '../processes/sources/feed-coverage.ts';
import { reportOf } from '../processes/sources/freshness.ts';
import { systemClock } from '../runtime/instant.ts';
import { askableCoverage } from '../sources/coverage.ts';
import { feedsOf } from '../sources/rss/addresses.ts';
import { SCOTUS_RATES } from '../sources/scotus/scotus.ts';
import type { ReadStore } from '../storage/read-store.ts';
import { counted } from './status/text.ts';

const HOUR = 3_600_000_000;

export interface ShownFreshness {
  readonly watched: number;
  readonly due: number;
  readonly overdue: number;
  readonly awaiting_text: number;
  readonly wanted: number;
  readonly cannot_be_kept: number;
  readonly requests_a_day_needed: number;
  readonly requests_a_day: number | null;
  /** Of those that cannot be kept: how often they should be looked at, and can be. */
  readonly short: readonly { readonly cases: number; readonly every_hours: number; readonly possible_hours: number }[];
}

/** Null for a source that cannot be asked about a case. */
export async function freshnessOf(
  readStore: Pick<ReadStore, 'find' | 'load' | 'cell'>,
  settings: Config['sources'],
  source: LiveSourceName,
): Promise<ShownFreshness | null> {
  if (source === 'rss') return null;
  const now = systemClock.now();
  const agenda = await readAgenda(
    {
      readStore,
      desk: { sourcesFor: askableCoverage(settings) },
      coverage: feedCoverage(readStore, feedsOf(settings.rss.courts, settings.rss.url)),
    },
    { now, watchDays: settings.watchDays },
  );
  const rates = { courtlistener: settings.courtListener.rates, scotus: SCOTUS_RATES, rss: [] };
  const plan = reportOf(agenda, (name) => rates[name], now).sources[source];
  const own = agenda.items.filter((item) => item.source === source);
  const hours = (micros: number) => Math.round(micros / (HOUR / 10)) / 10;
  return {
    watched: own.filter(({ isWanted }) => !isWanted).length,
    due: plan?.due ?? 0,
    overdue: plan?.overdue ?? 0,
    awaiting_text: own.filter(({ stubsSince }) => stubsSince !== null).length,
    wanted: own.filter(({ isWanted }) => isWanted).length,
    cannot_be_kept: plan?.cannotBeKept ?? 0,
    requests_a_day_needed: plan?.requestsPerDayNeeded ?? 0,
    requests_a_day: plan?.requestsPerDay ?? null,
    short: (plan?.short ?? []).map(({ cases, every, possible }) => ({
      cases,
      every_hours: hours(every),
      possible_hours: hours(possible),
    })),
  };
}

export function freshnessLines(fresh: ShownFreshness): readonly (readonly [label: string, text: string])[] {
  const { watched, wanted, due, overdue, awaiting_text: stubs, cannot_be_kept: short } = fresh;
  const allowed = fresh.requests_a_day === null ? 'no limit' : `${fresh.requests_a_day} allowed`;
  return [
    ['watched', `${counted(watched, 'case')}, ${due} due, ${overdue} overdue; ${wanted} not found yet`],
    ['stubs', `${counted(stubs, 'case')} with filings that wait for their text`],
    ['a day needs', `${fresh.requests_a_day_needed} requests, ${allowed}`],
    ...(short > 0 ? [['NOT KEPT FRESH', `${counted(short, 'case')}: the budget is too small`] as const] : []),
    ...fresh.short.map(
      ({ cases, every_hours: every, possible_hours: possible }) =>
        ['', `${counted(cases, 'case')} due every ${every} h, possible every ${possible} h`] as const,
    ),
  ];
}
