/** The live sources for the overview: how each works, and in how many courts it does not. */
import type { Court } from '../courts/court.ts';
import { courts, findCourt } from '../courts/registry.ts';
import { LiveSourceName } from '../events/source.ts';
import { isTroubled, SOURCE_COURTS, type SourceCourt, type SourceRecord } from '../projections/source-records.ts';
import type { Instant } from '../runtime/instant.ts';
import type { ReadStore } from '../storage/read-store.ts';
import { sourceRecordsOf } from './live-sources.ts';

export interface SourceStatus {
  readonly source: string;
  readonly standing: NonNullable<SourceRecord['standing']>['standing'];
  readonly why: string | null;
  readonly paused: SourceRecord['paused'];
  readonly lastSuccessAt: Instant | null;
  /** Courts of which it is paused, or where it does not work, among those that are configured here. */
  readonly courtsInTrouble: number;
}

/** More than the registry will ever contain, for each source. */
const MOST_COURTS = 10_000;

/** The configured sources, and those of which anything is recorded. */
export async function sourceStatus(
  readStore: Pick<ReadStore, 'find' | 'load'>,
  liveSourcesOf: (court: Court) => readonly LiveSourceName[],
): Promise<readonly SourceStatus[]> {
  const [records, troubled] = await Promise.all([
    sourceRecordsOf(readStore, LiveSourceName.options),
    readStore.find<SourceCourt>({ collection: SOURCE_COURTS, equals: { trouble: true }, limit: MOST_COURTS }),
  ]);
  const configured = new Set(courts.flatMap(liveSourcesOf));
  // Of a court that is configured no longer nothing new comes, so what was recorded last would stay for ever.
  const isConfigured = (source: LiveSourceName, code: string): boolean => {
    const court = findCourt(code);
    return court !== null && liveSourcesOf(court).includes(source);
  };
  return LiveSourceName.options.flatMap((source): readonly SourceStatus[] => {
    const own = troubled.filter(
      ({ document }) => document.source === source && isTroubled(document) && isConfigured(source, document.court),
    );
    const record = records.get(source);
    if (!record && !configured.has(source)) return [];
    return [
      {
        source,
        standing: record?.standing?.standing ?? 'working',
        why: record?.standing?.why ?? null,
        paused: record?.paused ?? null,
        lastSuccessAt: record?.lastSuccessAt ?? null,
        courtsInTrouble: own.length,
      },
    ];
  });
}
