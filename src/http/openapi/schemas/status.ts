/** `GET /v2/status` (docs/design/interface.md#4.4). */
import { z } from 'zod';
import { Country, CourtLanguage } from './case.ts';
import { Meta, Timestamp } from './meta.ts';

const Text = z.string().nullable();
const Count = z.int().min(0);

const COURT_BEFORE_COUNTRY = { court_code: z.string(), name: z.string() };
const PLANNED = 'A `planned` court is listed but cannot be queried: 422.';
const COURT_AFTER_COUNTRY = {
  region: Text,
  level: z.enum(['supreme', 'appellate', 'trial', 'bankruptcy', 'special']),
  language: CourtLanguage,
  status: z
    .enum(['live', 'degraded', 'planned'])
    .describe(
      `${PLANNED} A \`degraded\` court can be queried, but a source of its dockets is silent, failing or paused, so answers may be older than usual; each says its age.`,
    ),
  coverage: z.enum(['full', 'partial', 'planned']),
  case_id_format: z.object({
    pattern: z.string().describe('Regular expression that the whole case number matches.'),
    example: Text,
  }),
  source: z
    .string()
    .describe(
      'Where its dockets come from: `courtlistener`, `rss` (the court’s own feed), `scotus` (the Supreme Court’s own files), the name of a source that pushes them, `imported` (an operator imports files; nothing is asked live), or `none`.',
    ),
  refresh_cadence_seconds: Count.nullable().describe('How often its feed is read; null if it has none.'),
  case_management_system: Text,
  notes: Text,
  cases_known: Count.nullable().describe('Cases that can be queried now; null while unknown.'),
  last_success_at: Timestamp.nullable().describe('When a source last provided a docket of this court.'),
};

export const Court = z.object({ ...COURT_BEFORE_COUNTRY, jurisdiction_country: Country, ...COURT_AFTER_COUNTRY });
export const V1Court = z.object({
  ...COURT_BEFORE_COUNTRY,
  ...COURT_AFTER_COUNTRY,
  status: z.enum(['live', 'planned']).describe(PLANNED),
});

const COUNTS = { total: Count, full: Count, partial: Count, planned: Count };
export const CoverageSummary = z.object({
  ...COUNTS,
  by_country: z.object({ US: z.object(COUNTS), CA: z.object(COUNTS) }),
});

export const STATUS_BODY = {
  api_version: z.string(),
  changelog_url: z.url(),
  operational_status: z.enum(['nominal', 'degraded', 'maintenance', 'incident']),
  components: z
    .record(z.string(), z.object({ status: z.enum(['nominal', 'degraded', 'down']), since: Timestamp }))
    .describe('Parts by name.'),
};

export const StatusAnswer = z.object({
  meta: Meta,
  ...STATUS_BODY,
  courts: z.array(Court),
  coverage_summary: CoverageSummary,
});
