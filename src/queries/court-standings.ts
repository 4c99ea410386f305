/** What is known about each court's cases, for the status. Read now and then; after the first read no caller waits. */
import type { Court } from '../courts/court.ts';
import type { CourtNews } from '../courts/status-courts.ts';
import { LiveSourceName } from '../events/source.ts';
import { COURT_RECORDS, type CourtRecord } from '../projections/court-records.ts';
import type { Freshness } from '../projections/freshness.ts';
import {
  isTroubled,
  SOURCE_COURTS,
  SOURCE_RECORDS,
  type SourceCourt,
  type SourceRecord,
} from '../projections/source-records.ts';
import { type Clock, MICROS_PER_SECOND } from '../runtime/instant.ts';
import type { QueryStore } from '../storage/read-store.ts';
import { sourceTokens } from './operator-acts.ts';

export type CourtStanding = CourtRecord & CourtNews;

/** By court code; a missing court has no case, and nothing is amiss there. */
export type CourtStandings = ReadonlyMap<string, CourtStanding>;

export interface StandingsReader {
  /** The last result; null before the first. Starts a new read in the background if one is due. */
  latest(): CourtStandings | null;
  /** The first result, or null if it takes too long or fails. */
  first(): Promise<CourtStandings | null>;
}

export interface StandingsPorts {
  readonly readStore: Pick<QueryStore, 'find' | 'load'>;
  /** Of the read model of courts. */
  readonly freshness: Freshness;
  readonly courts: readonly Court[];
  /** The live sources that are configured for a court. */
  readonly liveSourcesOf: (court: Court) => readonly LiveSourceName[];
  readonly clock: Clock;
}

/** More than the registry will ever contain. */
const MOST_COURTS = 10_000;
const READ_EVERY = 5 * MICROS_PER_SECOND;
const PATIENCE_MS = 1_500;

export function createCourtStandings(ports: StandingsPorts): StandingsReader {
  const { readStore, freshness, clock } = ports;
  let known: CourtStandings | null = null;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;

  async function read(): Promise<void> {
    // While the model is being built from scratch, its counts mean nothing.
    if (!freshness.wasBuilt && !(await freshness.showsEverything())) return;
    const found = await readStore.find<CourtRecord>({ collection: COURT_RECORDS, limit: MOST_COURTS });
    const records = new Map(found.map(({ id, document }) => [id, document]));
    const news = await readNews(ports, records);
    known = new Map([
      ...records,
      ...[...news].map(([code, one]) => [code, { ...(records.get(code) ?? NO_CASE), ...one }] as const),
    ]);
  }
  const due = (): Promise<void> | null => {
    const now = clock.now();
    if (reading === null && Math.abs(now - readAt) >= READ_EVERY) {
      readAt = now;
      // If a read fails, the earlier result stays; the health checks report the store.
      reading = read()
        .catch(() => {})
        .finally(() => {
          reading = null;
        });
    }
    return reading;
  };
  return {
    latest() {
      due();
      return known;
    },
    async first() {
      const underway = due();
      if (known === null && underway) {
        let timer: NodeJS.Timeout | undefined;
        const late = new Promise<void>((resolve) => {
          timer = setTimeout(resolve, PATIENCE_MS);
        });
        await Promise.race([underway, late]);
        clearTimeout(timer);
      }
      return known;
    },
  };
}

const NO_CASE: CourtRecord = { casesKnown: 0, lastSuccessAt: null };

/** The courts of which there is news, by code. */
async function readNews(
  { readStore, courts, liveSourcesOf }: StandingsPorts,
  records: ReadonlyMap<string, CourtRecord>,
): Promise<ReadonlyMap<string, CourtNews>> {
  const [sources, troubled, tokens] = await Promise.all([
    readStore.load<SourceRecord>(SOURCE_RECORDS, LiveSourceName.options),
    readStore.find<SourceCourt>({ collection: SOURCE_COURTS, equals: { trouble: true }, limit: MOST_COURTS }),
    sourceTokens(readStore),
  ]);
  const down = new Set([...sources].flatMap(([name, { document }]) => (isTroubled(document) ? name : [])));
  const downThere = new Set(troubled.map(({ id }) => id));
  const forAll = new Set<string>();
  const forOne = new Map<string, string>();
  // Of several sources that push the same court, the first by name.
  for (const { source, courts: own } of [...tokens.values()].sort((a, b) => (a.source < b.source ? 1 : -1))) {
    if (own === null) forAll.add(source);
    else for (const code of own) forOne.set(code, source);
  }
  const news = new Map<string, CourtNews>();
  for (const court of courts) {
    const { code } = court;
    const degraded = liveSourcesOf(court).some((name) => down.has(name) || downThere.has(`${name} ${code}`));
    const last = records.get(code)?.lastSource;
    const pushedBy = forOne.get(code) ?? (last !== undefined && forAll.has(last) ? last : undefined);
    if (degraded || pushedBy !== undefined) {
      news.set(code, { ...(degraded && { degraded }), ...(pushedBy !== undefined && { pushedBy }) });
    }
  }
  return news;
}
