/** `docket sources list` and `show`: the sources that this service asks or reads by itself. */
import type { Config } from '../../config.ts';
import { courts } from '../../courts/registry.ts';
import { LiveSourceName } from '../../events/source.ts';
import { isTroubled, type Looks, type SourceRecord } from '../../projections/source-records.ts';
import { sourceRecordsOf } from '../../queries/live-sources.ts';
import { type Instant, systemClock, toInstant } from '../../runtime/instant.ts';
import type { BudgetStanding } from '../../sources/budget.ts';
import { liveCoverage } from '../../sources/coverage.ts';
import { SCOTUS_RATES } from '../../sources/scotus/scotus.ts';
import { createSharedBudget } from '../../sources/shared-budget.ts';
import type { Storage } from '../../storage/storage.ts';

export const KINDS: Readonly<Record<LiveSourceName, 'api' | 'feeds' | 'files'>> = {
  courtlistener: 'api',
  rss: 'feeds',
  scotus: 'files',
};

export interface LiveSource {
  readonly name: LiveSourceName;
  readonly kind: 'api' | 'feeds' | 'files';
  /** Whether this environment configures it. */
  readonly configured: boolean;
  /** Codes of its courts. */
  readonly courts: readonly string[];
  /** Null if nothing is recorded of it. */
  readonly record: SourceRecord | null;
  /** Null if nothing limits it. */
  readonly budget: BudgetStanding | null;
}

/** The configured sources, and those of which something is recorded although they are not configured here. */
export async function liveSources(
  storage: Storage,
  { sources }: Pick<Config, 'sources'>,
): Promise<readonly LiveSource[]> {
  const names = LiveSourceName.options;
  const records = await sourceRecordsOf(storage.readStore, names);
  const coverage = liveCoverage(sources);
  const all = await Promise.all(
    names.map(async (name): Promise<LiveSource> => {
      const own = courts.filter((court) => coverage.sourcesOf(court).includes(name)).map(({ code }) => code);
      const configured = own.length > 0;
      const budget = configured ? await budgetOf(storage, sources, name) : null;
      return { name, kind: KINDS[name], configured, courts: own, record: records.get(name) ?? null, budget };
    }),
  );
  return all.filter(({ configured, record }) => configured || record !== null);
}

/** What all nodes together have used. Feeds have no budget: each court has an interval of its own. */
function budgetOf(
  { readStore }: Storage,
  { courtListener }: Config['sources'],
  name: LiveSourceName,
): Promise<BudgetStanding | null> {
  const rates = { courtlistener: courtListener.rates, scotus: SCOTUS_RATES, rss: null }[name];
  if (rates === null) return Promise.resolve(null);
  return createSharedBudget({ readStore, clock: systemClock, name, rates }).standing();
}

const WINDOWS: Readonly<Record<number, string>> = { 60: 'minute', 3600: 'hour', 86400: 'day' };
const windowOf = (micros: number): string => WINDOWS[micros / 1_000_000] ?? `${micros / 1_000_000} s`;

/** What of a budget is left, by window. */
export const budgetRows = (budget: BudgetStanding | null) =>
  (budget?.rates ?? []).map(({ requests, micros, used }) => ({
    window: windowOf(micros),
    limit: requests,
    used,
    left: Math.max(0, requests - used),
  }));

export const heldUntil = (budget: BudgetStanding | null): Instant | null =>
  budget?.heldUntil ? toInstant(budget.heldUntil) : null;

/** For `--json`. */
export const shownLive = ({ name, kind, configured, courts: own, record, budget }: LiveSource) => ({
  name,
  kind,
  configured,
  courts: own.length,
  standing: record?.standing?.standing ?? 'working',
  why: record?.standing?.why ?? null,
  since: record?.standing?.since ?? null,
  paused: record?.paused ?? null,
  budget: budgetRows(budget),
  held_until: heldUntil(budget),
  last_success_at: record?.lastSuccessAt ?? null,
  last_look_at: record?.lastLookAt ?? null,
  looks: record?.looks ?? null,
});

export const minute = (instant: Instant | null | undefined): string =>
  instant ? `${instant.slice(0, 16).replace('T', ' ')}Z` : 'never';

export const looksText = (looks: Looks): string => {
  const seen = Object.entries(looks).filter(([, count]) => count > 0);
  return seen.length === 0 ? 'none' : seen.map(([outcome, count]) => `${count} ${outcome}`).join(', ');
};

/** What the time of the last success means: that a feed was read is in no event, only what it brought. */
export const successOf = (source: string): string => (source === 'rss' ? 'entry' : 'success');

/** What an operator must know first. */
export function standingText({ configured, record }: Pick<LiveSource, 'configured' | 'record'>): string {
  if (!configured) return 'not configured here';
  if (record?.paused) return `PAUSED by ${record.paused.by}: ${record.paused.reason}`;
  if (record && isTroubled(record)) return `${record.standing?.standing}: ${record.standing?.why ?? 'unknown'}`;
  return 'working';
}

export function liveLine(source: LiveSource): string {
  const { name, kind, courts: own, record, budget } = source;
  const left = budgetRows(budget).at(-1);
  const spent = left ? `${left.left} of ${left.limit} requests left this ${left.window}, ` : '';
  const count = `${own.length} court${own.length === 1 ? '' : 's'}`;
  const last = `last ${successOf(name)} ${minute(record?.lastSuccessAt)}`;
  return `${name.padEnd(24)} ${kind.padEnd(5)} ${count.padEnd(10)}  ${standingText(source)}  ${spent}${last}`;
}
