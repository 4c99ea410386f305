/** What metrics show of live sources at a scrape: budget, circuit breaker, and how its courts do. */
import type { Standing } from '../commands/source/source.ts';
import { courts } from '../courts/registry.ts';
import type { LiveSourceName } from '../events/source.ts';
import type { SourceGauges } from '../http/admin/metrics/source-metrics.ts';
import type { SourceCourt, SourceRecord, SourceStanding } from '../projections/source-records.ts';
import { courtsOfSource, sourceRecordsOf } from '../queries/live-sources.ts';
import type { Clock, Micros } from '../runtime/instant.ts';
import type { BreakerState } from '../sources/breaker.ts';
import type { SourceBudget } from '../sources/budget.ts';
import type { LiveCoverage } from '../sources/coverage.ts';
import type { ReadStore } from '../storage/read-store.ts';

export interface SourceGaugePorts {
  readonly readStore: Pick<ReadStore, 'find' | 'load'>;
  readonly clock: Clock;
  readonly coverage: Pick<LiveCoverage, 'sourcesOf'>;
  readonly budgets: ReadonlyMap<LiveSourceName, SourceBudget>;
  breaker(source: LiveSourceName): BreakerState | null;
}

/** Reads the gauges of every source that is configured. */
export function sourceGauges(ports: SourceGaugePorts): () => Promise<readonly SourceGauges[]> {
  const { readStore, clock, coverage, budgets, breaker } = ports;
  const covered = new Map<LiveSourceName, string[]>();
  for (const court of courts) {
    for (const source of coverage.sourcesOf(court)) {
      const codes = covered.get(source);
      if (codes) codes.push(court.code);
      else covered.set(source, [court.code]);
    }
  }
  const sources = [...covered.keys()];
  return async () => {
    const records = await sourceRecordsOf(readStore, sources);
    return Promise.all(
      sources.map(async (source) => ({
        source,
        budget: (await budgets.get(source)?.standing()) ?? null,
        breaker: breakerName(breaker(source), clock.now()),
        courts: countCourts(covered.get(source) ?? [], records.get(source), await courtsOfSource(readStore, source)),
      })),
    );
  };
}

function breakerName(state: BreakerState | null, now: Micros): SourceGauges['breaker'] {
  if (state === null || state.is === 'closed') return state && 'closed';
  return now >= state.until ? 'half_open' : 'open';
}

type Count = Record<Standing | 'paused', number>;

/** A source that is paused, or does not work as a whole, is so for each court. */
function countCourts(
  codes: readonly string[],
  whole: SourceRecord | undefined,
  own: ReadonlyMap<string, SourceCourt>,
): Count {
  const count: Count = { working: 0, degraded: 0, failing: 0, misconfigured: 0, paused: 0 };
  const ofAll = standingOf(whole);
  for (const code of codes) count[ofAll === 'working' ? standingOf(own.get(code)) : ofAll]++;
  return count;
}

const standingOf = (one: SourceStanding | undefined): keyof Count =>
  one?.paused ? 'paused' : (one?.standing?.standing ?? 'working');
