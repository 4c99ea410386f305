/** What the watch has to look at: the watched and the wanted cases that a source can be asked about, by source. */
import type { Court } from '../../courts/court.ts';
import type { LiveSourceName } from '../../events/source.ts';
import type { SourceCheck } from '../../projections/watched-cases.ts';
import { type Instant, MICROS_PER_SECOND, type Micros, toMicros } from '../../runtime/instant.ts';
import { freshFor } from '../../sources/cadence.ts';
import type { PlannedCase } from '../../sources/watch-plan.ts';
import type { ReadStore } from '../../storage/read-store.ts';
import type { SourceDesk } from './desk.ts';
import type { Coverage } from './feed-coverage.ts';
import { LONGEST_BACK_OFF } from './look-back-off.ts';
import { type KnownCase, soughtCases, type Watching, watchedCases } from './watched.ts';

export interface AgendaItem extends PlannedCase {
  /** Of the docket, or of the want. */
  readonly stream: string;
  readonly court: Court;
  readonly caseNumber: string;
  readonly source: LiveSourceName;
  /** Not before then: the last look failed because of the case, not of the source. */
  readonly notBefore: Micros;
  /** Whether no source has shown it. */
  readonly isWanted: boolean;
  /** When a wanted case was first asked for. */
  readonly since: Instant;
}

export interface Agenda {
  readonly items: readonly AgendaItem[];
  /** Watched cases of courts that no source can be asked about. */
  readonly unasked: number;
}

export interface AgendaOptions {
  readonly readStore: Pick<ReadStore, 'find' | 'load'>;
  readonly desk: Pick<SourceDesk, 'sourcesFor'>;
  /** The cases of which a feed shows what is new; none if omitted. */
  readonly coverage?: Coverage | undefined;
}

const HOUR: Micros = 3_600 * MICROS_PER_SECOND;
const DAY: Micros = 24 * HOUR;

/** Feeds say what is new. They never show a docket. */
const SHOWS_NOTHING_WHOLE: ReadonlySet<string> = new Set(['rss']);

export async function readAgenda(options: AgendaOptions, watching: Watching): Promise<Agenda> {
  const { readStore, desk, coverage } = options;
  const isCovered = (await coverage?.(watching.now)) ?? (() => false);
  const items: AgendaItem[] = [];
  let unasked = 0;
  for await (const known of watchedCases(readStore, watching)) {
    const [source] = desk.sourcesFor(known.court);
    if (source === undefined) unasked++;
    else items.push(itemOf(known, source, isCovered(known), watching.now));
  }
  for await (const sought of soughtCases(readStore)) {
    const { stream, court, caseNumber, since, wantedAt } = sought;
    const [source] = desk.sourcesFor(court);
    if (source === undefined) continue;
    // The longer a case is wanted, the more rarely it is asked for.
    const every = Math.min(DAY, Math.max(HOUR, watching.now - toMicros(since)));
    const planned = { every, completeAt: null, askedAt: wantedAt, stubsSince: null };
    items.push({ ...planned, stream, court, caseNumber, source, notBefore: 0, isWanted: true, since });
  }
  return { items, unasked };
}

function itemOf(known: KnownCase, source: LiveSourceName, covered: boolean, now: Micros): AgendaItem {
  const { stream, court, caseNumber, activeAt, closed, checks, stubsSince, failedAt, failures } = known;
  const askedAt = known.askedAt ?? checks[0]?.at ?? '1970-01-01T00:00:00.000000Z';
  return {
    stream,
    court,
    caseNumber,
    source,
    every: freshFor(court, { activeAt, closed, covered }, now),
    completeAt: newestComplete(checks),
    askedAt,
    stubsSince,
    notBefore: failedAt === null ? 0 : toMicros(failedAt) + backOff(failures),
    isWanted: false,
    since: askedAt,
  };
}

const newestComplete = (checks: readonly SourceCheck[]): Instant | null =>
  checks.reduce((newest: Instant | null, { source, completeAt }) => {
    if (completeAt === null || SHOWS_NOTHING_WHOLE.has(source)) return newest;
    return newest === null || completeAt > newest ? completeAt : newest;
  }, null);

/** After so many looks in a row that failed because of the case itself. */
export const backOff = (failures: number): Micros => Math.min(LONGEST_BACK_OFF, HOUR * 2 ** Math.min(failures - 1, 20));
