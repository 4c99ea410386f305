/** Which live sources this installation asks or reads for which court, by its settings alone. */
import type { Court } from '../courts/court.ts';
import type { LiveSourceName } from '../events/source.ts';

export interface LiveCoverage {
  /** The configured sources of a court, the one that shows most first. */
  sourcesOf(court: Court): readonly LiveSourceName[];
  /** Seconds between two readings of the court's feed; null if it is not read. */
  cadenceOf(court: Court): number | null;
}

export const NO_LIVE_SOURCE: LiveCoverage = { sourcesOf: () => [], cadenceOf: () => null };
