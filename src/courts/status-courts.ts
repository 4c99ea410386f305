/** The courts as `GET /v2/status` lists them (docs/design/interface.md#4.4). */
import type { Country, Court, CourtLanguage, CourtLevel, Coverage } from './court.ts';
import { isLive } from './registry.ts';

/** How this installation gets a court's dockets. `imported`: an operator imports files; no source is queried live. */
export type CourtSource = 'none' | 'imported';

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
  readonly status: 'live' | 'planned';
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

function countCoverage(courts: readonly Court[]): CoverageCounts {
  const counts = { total: courts.length, full: 0, partial: 0, planned: 0 };
  for (const { coverage } of courts) counts[coverage] += 1;
  return counts;
}
