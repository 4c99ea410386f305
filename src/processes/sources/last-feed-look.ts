/**
 * When a court's feed was read at the latest before its cell was lost, as a restore loses it: the newest look that the log
 * has. It is a lower bound, so a gap may be noted by mistake, but none is missed (docs/design/sources.md#feeds).
 */
import type { Freshness } from '../../projections/freshness.ts';
import { SOURCE_COURTS, type SourceCourt } from '../../projections/source-records.ts';
import { type Clock, MICROS_PER_SECOND, type Micros, toMicros } from '../../runtime/instant.ts';
import type { ReadStore } from '../../storage/read-store.ts';

/** `unknown`: the read models are still being built, so the court is to be polled a little later. */
export type LastFeedLook = (court: string) => Promise<Micros | null | 'unknown'>;

export interface LastFeedLookOptions {
  readonly readStore: Pick<ReadStore, 'load'>;
  /** Of the read models that say which looks there were, and which cases a gap is noted on. */
  readonly freshness: readonly Freshness[];
  readonly clock: Clock;
}

/** A read model that has halted must not stop the feeds. */
const WAITS_FOR_MODELS: Micros = 3_600 * MICROS_PER_SECOND;

export function createLastFeedLook({ readStore, freshness, clock }: LastFeedLookOptions): LastFeedLook {
  let firstAsked: Micros | null = null;
  const isBuilt = async (model: Freshness): Promise<boolean> => model.wasBuilt || (await model.showsEverything());
  return async (court) => {
    const now = clock.now();
    firstAsked ??= now;
    if (now - firstAsked < WAITS_FOR_MODELS && !(await Promise.all(freshness.map(isBuilt))).every(Boolean)) {
      return 'unknown';
    }
    const id = `rss ${court}`;
    const at = (await readStore.load<SourceCourt>(SOURCE_COURTS, [id])).get(id)?.document.lastLookAt ?? null;
    return at === null ? null : Math.min(now, toMicros(at));
  };
}
