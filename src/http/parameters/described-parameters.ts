/**
 * The description, choices and example of each parameter (docs/design/interface.md#2.1). The checks of a request, the
 * OpenAPI document and the reference all use them.
 */
import { z } from 'zod';
import { FILING_TYPES } from '../../dockets/filing-type.ts';

export interface DescribedParameter<Schema extends z.ZodType = z.ZodType> {
  readonly description: string;
  readonly schema: Schema;
  /** A valid value. */
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
 * The most deliveries on one page of the history, which is also the default (docs/design/interface.md#8).
 */
export const MAX_DELIVERIES = 200;
export const DEFAULT_DELIVERIES = 50;

/** Query parameters by name. */
export const PARAMETERS = {
  case_id: described(
    z.string().min(1),
    '3:24-cv-01234',
    'Case number, as the court writes it or as people type it. `GET /v2/status` lists the pattern of each court.',
  ),
  court_code: described(
    z.string().min(1),
    'cand',
    'Court code; letter case does not matter. `GET /v2/status` lists all courts.',
  ),
  last_checked: described(
    timestamp,
    '2026-03-01T12:00:00Z',
    'When you last asked: ISO-8601 with an offset. Use `meta.queried_at` of your last answer, unchanged. At most 5 minutes ahead of our clock.',
  ),
  context: described(
    z.enum(['basic', 'full']).default('basic'),
    'full',
    '`full` adds all parties with their attorneys, cross-references and the whole docket, at the same price.',
  ),
  language: described(
    z.enum(['en', 'fr']),
    'fr',
    'Language of names and texts, if the court has both. Default: the language of the case.',
  ),
  filing_types: described(
    z.string().min(1),
    'motion,order',
    `Filters only the delta: types separated by commas, not a JSON array. Types: ${FILING_TYPES.join(', ')}.`,
  ),
  callback_url: described(
    z.string().max(MAX_CALLBACK_URL_LENGTH),
    'https://agent.example/callbacks',
    'URL that gets a signed copy of the answer once it is paid. Not parsed or resolved before the answer.',
  ),
  test: described(z.string(), '1', '`1` enables the sandbox: a free answer from fixtures. No other value does.'),
  status: described(
    z.enum(['pending', 'retrying', 'succeeded', 'failed']),
    'failed',
    'Only deliveries with this status.',
  ),
  require_sign_in: described(
    z.enum(['true', 'false']).default('false'),
    'true',
    '`true` requires the proof `sign-in-with-x` for each later rotation and history of this wallet. It cannot be undone.',
  ),
  limit: described(
    z.int().min(1).max(MAX_DELIVERIES).default(DEFAULT_DELIVERIES),
    '50',
    `Maximum number of deliveries per page, 1 to ${MAX_DELIVERIES}.`,
  ),
  cursor: described(z.string().min(1), 'opaque', '`next_cursor` of the previous page.'),
  since: described(timestamp, '2026-03-01T12:00:00Z', 'Only deliveries whose last attempt was after this time.'),
} as const satisfies Readonly<Record<string, DescribedParameter>>;

export type ParameterName = keyof typeof PARAMETERS;

/** Request headers other than those of payment, by name. */
export const REQUEST_HEADERS = {
  'X-Service-Tag': described(
    z.string().max(MAX_TAG_LENGTH),
    'my-agent-7',
    `Returned as \`meta.tag\`. At most ${MAX_TAG_LENGTH} characters.`,
  ),
  'X-Service-Test': described(z.string(), '1', '`1` enables the sandbox, like the parameter `test`.'),
} as const satisfies Readonly<Record<string, DescribedParameter>>;

export type RequestHeaderName = keyof typeof REQUEST_HEADERS;
