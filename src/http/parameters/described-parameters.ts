/**
 * What each parameter means and may hold: the checks of a request take their choices and examples from here, and the
 * OpenAPI document and the reference are written from it (docs/design/interface.md#2.1).
 */
import { z } from 'zod';
import { FILING_TYPES } from '../../dockets/filing-type.ts';

export interface DescribedParameter<Schema extends z.ZodType = z.ZodType> {
  readonly description: string;
  readonly schema: Schema;
  /** A value that is accepted. */
  readonly example: string;
}

const described = <Schema extends z.ZodType>(
  schema: Schema,
  example: string,
  description: string,
): DescribedParameter<Schema> => ({ schema, example, description });

const timestamp = z.string().meta({ format: 'date-time' });

/** Longest `callback_url`, in characters (docs/design/interface.md#2.1). */
export const MAX_CALLBACK_URL_LENGTH = 2_048;
/** Longest `X-Service-Tag`, in characters (docs/design/interface.md#2.2). */
export const MAX_TAG_LENGTH = 256;
/**
 * How many deliveries one page of the history holds at most, and unless asked otherwise (docs/design/interface.md#8).
 */
export const MAX_DELIVERIES = 200;
export const DEFAULT_DELIVERIES = 50;

/** Parameters of the query string, by name. */
export const PARAMETERS = {
  case_id: described(
    z.string().min(1),
    '3:24-cv-01234',
    'Case number, as the court writes it or as people type it. The pattern of each court is in `GET /v2/status`.',
  ),
  court_code: described(
    z.string().min(1),
    'cand',
    'Code of the court, in any letter case. `GET /v2/status` lists all of them.',
  ),
  last_checked: described(
    timestamp,
    '2026-03-01T12:00:00Z',
    'ISO-8601 with an offset: when you last looked. Best is `meta.queried_at` of your previous answer, unchanged. At most 5 minutes ahead of our clock.',
  ),
  context: described(
    z.enum(['basic', 'full']).default('basic'),
    'full',
    '`full` adds all parties with their attorneys, cross-references and the whole docket, at the same price.',
  ),
  language: described(
    z.enum(['en', 'fr']),
    'fr',
    'Of names and texts, where the court has both. Left out: whatever the case’s own language is.',
  ),
  filing_types: described(
    z.string().min(1),
    'motion,order',
    `Filters the delta, and nothing else: types separated by commas, no JSON array. Types: ${FILING_TYPES.join(', ')}.`,
  ),
  callback_url: described(
    z.string().max(MAX_CALLBACK_URL_LENGTH),
    'https://agent.example/callbacks',
    'Where a signed copy of the answer is pushed to once it is paid for. Neither parsed nor resolved before the answer.',
  ),
  require_sign_in: described(
    z.enum(['true', 'false']).default('false'),
    'true',
    '`true` demands the proof `sign-in-with-x` for each later rotation and history of this wallet. It cannot be undone.',
  ),
  test: described(z.string(), '1', '`1` asks for the sandbox: a free answer from fixtures. Any other value does not.'),
  status: described(z.enum(['pending', 'retrying', 'succeeded', 'failed']), 'failed', 'Only deliveries that stand so.'),
  limit: described(
    z.int().min(1).max(MAX_DELIVERIES).default(DEFAULT_DELIVERIES),
    '50',
    `How many deliveries at most, 1 to ${MAX_DELIVERIES}.`,
  ),
  cursor: described(z.string().min(1), 'opaque', '`next_cursor` of the page before.'),
  since: described(timestamp, '2026-03-01T12:00:00Z', 'Only deliveries whose last attempt was after this moment.'),
} as const satisfies Readonly<Record<string, DescribedParameter>>;

export type ParameterName = keyof typeof PARAMETERS;

/** Request headers beside those of payment, by name. */
export const REQUEST_HEADERS = {
  'X-Service-Tag': described(
    z.string().max(MAX_TAG_LENGTH),
    'my-agent-7',
    `Comes back as \`meta.tag\`. At most ${MAX_TAG_LENGTH} characters.`,
  ),
  'X-Service-Test': described(z.string(), '1', '`1` asks for the sandbox, as the parameter `test` does.'),
} as const satisfies Readonly<Record<string, DescribedParameter>>;

export type RequestHeaderName = keyof typeof REQUEST_HEADERS;
