/** Which live sources this installation asks or reads for which court, by its settings alone. */
import type { Court } from '../courts/court.ts';
import { courts } from '../courts/registry.ts';
import { LiveSourceName } from '../events/source.ts';
import { isOnCourtListener } from './courtlistener/courts.ts';
import { feedOf, feedsOf } from './rss/addresses.ts';
import type { SourceSettings } from './settings.ts';

export interface LiveCoverage {
  /** The configured sources of a court, the one that shows most first. */
  sourcesOf(court: Court): readonly LiveSourceName[];
  /** Seconds between two readings of the court's feed; null if it is not read. */
  cadenceOf(court: Court): number | null;
}

export const NO_LIVE_SOURCE: LiveCoverage = { sourcesOf: () => [], cadenceOf: () => null };

/** No feed is read more often. */
const FEED_SECONDS = 300;

export function liveCoverage({ courtListener, rss, scotus }: SourceSettings): LiveCoverage {
  const feeds = new Set(feedsOf(rss.courts, rss.url).map(({ court }) => court.code));
  return {
    sourcesOf: (court) => [
      ...(scotus.isOn && court.code === 'scotus' ? (['scotus'] as const) : []),
      ...(courtListener.token !== null && isOnCourtListener(court) ? (['courtlistener'] as const) : []),
      ...(feeds.has(court.code) ? (['rss'] as const) : []),
    ],
    cadenceOf: ({ code }) => (feeds.has(code) ? FEED_SECONDS : null),
  };
}

/** The sources that can be asked about a case of a court. A feed only shows what is new. */
export function askableCoverage(settings: SourceSettings): LiveCoverage['sourcesOf'] {
  const { sourcesOf } = liveCoverage(settings);
  return (court) => sourcesOf(court).filter((name) => name !== 'rss');
}

/** Whether a source could be asked about a court, or read its feed, whatever the settings are. */
export function mayCover(source: LiveSourceName, court: Court): boolean {
  if (source === 'scotus') return court.code === 'scotus';
  return source === 'courtlistener' ? isOnCourtListener(court) : feedOf(court) !== null;
}

/** The sources that have a court here. */
export function configuredSources(settings: SourceSettings): readonly LiveSourceName[] {
  const { sourcesOf } = liveCoverage(settings);
  const used = new Set(courts.flatMap(sourcesOf));
  return LiveSourceName.options.filter((name) => used.has(name));
}
