/** The `meta` block of every success (docs/design/interface.md#2.2): all ten keys, null where one has no meaning. */
import type { Instant } from '../runtime/instant.ts';

export type CoverageStatus = 'full' | 'partial';
export type ContextDelivered = 'basic' | 'full';
export type LanguageDelivered = 'en' | 'fr' | 'bilingual';

export interface Meta {
  readonly request_id: string;
  readonly queried_at: Instant;
  /** US dollars in exact cents: what this call settled. */
  readonly query_cost_usd: number;
  readonly sandbox: boolean;
  readonly coverage_status: CoverageStatus | null;
  /** Whole seconds since the source was last asked. */
  readonly cache_age_seconds: number | null;
  readonly context_delivered: ContextDelivered | null;
  readonly language_delivered: LanguageDelivered | null;
  readonly truncated: boolean;
  readonly tag: string | null;
}

/** What a call must say of itself; the rest means nothing unless it says it. */
export type MetaOf = Pick<Meta, 'request_id' | 'queried_at'> & Partial<Meta>;

/** Completes a meta block, its keys in the specification's order. */
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
