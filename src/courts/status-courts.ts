/** The courts as `GET /v2/status` lists them (docs/design/interface.md#4.4). */
import type { Country, Court, CourtLanguage, CourtLevel, Coverage } from './court.ts';
import { isLive } from './registry.ts';

/**
 * Where this installation gets a court's dockets: `courtlistener`, `rss`, `scotus`, the name of a source that pushes them,
 * `imported` (an operator imports files), or `none`.
 */
export type CourtSource = string;

/** What is known of a court beyond the registry and the configuration. */
export interface CourtNews {
  /** A source that brings its dockets does not work as it should, or is paused. */
  readonly degraded?: boolean;
  /** The source that pushes its dockets; absent if none does. */
  readonly pushedBy?: string;
}

/** The pattern of case numbers if the court publishes no format. */
export const ANY_CASE_NUMBER = '^[A-Za-z0-9][A-Za-z0-9 .,:/()\\-]{0,63}$';

const NO_FORMAT = 'The court publishes no format of its case numbers: any number is accepted as it is written.';

export interface StatusCourt {
  readonly court_code: string;
  readonly name: string;
  readonly jurisdiction_country: Country;
  readonly region: string | null;
  readonly level: CourtLevel;
  readonly language: CourtLanguage;
  /** Both `live` and `degraded` courts can be queried. */
  readonly status: 'live' | 'degraded' | 'planned';
  readonly coverage: Coverage;
  readonly case_id_format: { readonly pattern: string; readonly example: string | null };
  readonly source: CourtSource;
  readonly refresh_cadence_seconds: number | null;
  readonly case_management_system: string | null;
  readonly notes: string | null;
}

export type CoverageCounts = { readonly [coverage in Coverage | 'total']: number };

export interface CoverageSummary extends CoverageCounts {
  readonly by_country: { readonly [country in Country]: CoverageCounts };
}

/**
 * The `courts` and `coverage_summary` of the status answer.
 *
 * @param sourceOf the source that can supply a court in this installation.
 * @param cadenceOf seconds between two checks of a court's source; null if it is not checked automatically.
 */
export function statusCourts(
  courts: readonly Court[],
  sourceOf: (court: Court) => CourtSource,
  cadenceOf: (court: Court) => number | null = () => null,
): { readonly courts: StatusCourt[]; readonly coverage_summary: CoverageSummary } {
  return {
    courts: courts.map((court) => statusCourt(court, sourceOf(court), cadenceOf(court))),
    coverage_summary: {
      ...countCoverage(courts),
      by_country: {
        US: countCoverage(courts.filter(({ country }) => country === 'US')),
        CA: countCoverage(courts.filter(({ country }) => country === 'CA')),
      },
    },
  };
}

function statusCourt(court: Court, source: CourtSource, cadence: number | null): StatusCourt {
  return {
    court_code: court.code,
    name: court.name,
    jurisdiction_country: court.country,
    region: court.region,
    level: court.level,
    language: court.language,
    status: isLive(court) ? 'live' : 'planned',
    coverage: court.coverage,
    case_id_format: { pattern: court.pattern ?? ANY_CASE_NUMBER, example: court.example },
    source,
    refresh_cadence_seconds: cadence,
    case_management_system: court.caseManagementSystem,
    notes: court.pattern === null ? [NO_FORMAT, court.note].filter((note) => note !== null).join(' ') : court.note,
  };
}

/** A court with what is known of it now. */
export function courtNow(court: StatusCourt, news: CourtNews | undefined): StatusCourt {
  const status = court.status === 'live' && news?.degraded ? 'degraded' : court.status;
  const source = court.source === 'imported' ? (news?.pushedBy ?? court.source) : court.source;
  return status === court.status && source === court.source ? court : { ...court, status, source };
}

function countCoverage(courts: readonly Court[]): CoverageCounts {
  const counts = { total: courts.length, full: 0, partial: 0, planned: 0 };
  for (const { coverage } of courts) counts[coverage] += 1;
  return counts;
}
