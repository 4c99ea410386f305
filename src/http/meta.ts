/** The `meta` block of every success (docs/design/interface.md#2.2): all ten keys, null if one does not apply. */
import type { Instant } from '../runtime/instant.ts';

export type CoverageStatus = 'full' | 'partial';
export type ContextDelivered = 'basic' | 'full';
export type LanguageDelivered = 'en' | 'fr' | 'bilingual';

export interface Meta {
  readonly request_id: string;
  readonly queried_at: Instant;
  /** US dollars in exact cents: the amount that this call settled. */
  readonly query_cost_usd: number;
  readonly sandbox: boolean;
  readonly coverage_status: CoverageStatus | null;
  /** Whole seconds since a source last showed the whole docket; if none has, since one last showed a part. */
  readonly cache_age_seconds: number | null;
  readonly context_delivered: ContextDelivered | null;
  readonly language_delivered: LanguageDelivered | null;
  readonly truncated: boolean;
  readonly tag: string | null;
}

/** The required keys; the others default to null unless given. */
export type MetaOf = Pick<Meta, 'request_id' | 'queried_at'> & Partial<Meta>;

/** Completes a meta block, with its keys in the specified order. */
export const metaOf = ({ request_id, queried_at, ...rest }: MetaOf): Meta => ({
  request_id,
  queried_at,
  query_cost_usd: 0,
  sandbox: false,
  coverage_status: null,
  cache_age_seconds: null,
  context_delivered: null,
  language_delivered: null,
  truncated: false,
  tag: null,
  ...rest,
});
