/** Every environment variable, with its default. */
import { z } from 'zod';
import { readRange } from '../callbacks/outbound/public-address.ts';
import { readTrustedPair } from '../callbacks/outbound/target.ts';
import { UNKNOWN_BLOCKHASHES_PER_SECOND } from '../commands/purchase/unknown-blockhashes.ts';
import { findCourt } from '../courts/registry.ts';
import { readProxyRange } from '../http/client-address.ts';
import { readOrigin } from '../http/mcp/origins.ts';
import { feedOf } from '../sources/rss/addresses.ts';
import { readRates } from '../sources/settings.ts';
import { isMongoUrl } from '../storage/mongodb/connection-string.ts';
import { readHeaders, readResource, SAMPLERS } from '../tracing/settings.ts';
import {
  address,
  collector,
  eventStoreUrl,
  host,
  httpUrl,
  list,
  masterKey,
  optional,
  pairs,
  port,
  publicUrl,
  sourceUrl,
  urlPattern,
  whole,
} from './values.ts';

const hasFeed = (code: string): boolean => {
  const court = findCourt(code);
  return court !== null && feedOf(court) !== null;
};

/** Invalid payments per minute from one address: far more than a client under development sends. */
const DEFAULT_ADDRESS_LIMIT = 120;

export const Environment = z.object({
  NODE_ENV: optional(z.string().default('development')),
  HOST: host('PORT'),
  PORT: port(8402),
  ADMIN_HOST: host('ADMIN_PORT'),
  ADMIN_PORT: port(8403),
  PUBLIC_URL: optional(publicUrl.optional()),
  DATA_DIR: optional(z.string().default('./data')),
  EVENTSTORE_URL: optional(eventStoreUrl.optional()),
  MONGODB_URL: optional(z.string().refine(isMongoUrl, 'a URL like mongodb://HOST:27017/NAME is expected').optional()),
  LOG_LEVEL: optional(
    z
      .enum(
        ['fatal', 'error', 'warn', 'info', 'debug', 'silent'],
        'fatal, error, warn, info, debug or silent is expected',
      )
      .default('info'),
  ),
  SOLANA_NETWORK: optional(z.enum(['local', 'devnet', 'mainnet'], 'local, devnet or mainnet is expected').optional()),
  SOLANA_RPC_URL: optional(
    z
      .string()
      .transform((value) => value.split(',').map((url) => url.trim()))
      .refine(
        (urls) => urls.every((url) => httpUrl.safeParse(url).success),
        'http or https URLs, comma-separated, are expected',
      )
      .optional(),
  ),
  SOLANA_RPC_CALLS_PER_SECOND: whole(0, 0, 1_000_000),
  UNKNOWN_BLOCKHASHES_PER_SECOND: whole(UNKNOWN_BLOCKHASHES_PER_SECOND, 1, 1_000_000),
  SOLANA_LOCAL_PORT: port(8899),
  SOLANA_LOCAL_SLOT_MS: whole(400, 10, 10_000),
  PAY_TO: optional(address.optional()),
  FEE_PAYER_KEY: optional(z.string().optional()),
  MASTER_KEY: optional(masterKey.optional()),
  AUDIT_HEADS: optional(z.enum(['on', 'off'], 'on or off is expected').default('on')),
  AUDIT_ANCHOR: optional(z.enum(['hourly', 'daily', 'off'], 'hourly, daily or off is expected').default('off')),
  SPONSOR_LOSS_LAMPORTS_PER_HOUR: whole(3_000_000, 1, 1_000_000_000_000),
  SPONSOR_LOSS_LAMPORTS_PER_DAY: whole(20_000_000, 1, 1_000_000_000_000),
  // Not 0: an answer that is being read from the old generation needs it to the end.
  PROJECTION_GRACE_HOURS: whole(24, 1, 24 * 365),
  ADDRESS_LIMIT_PER_MINUTE: whole(DEFAULT_ADDRESS_LIMIT, 0, 1_000_000),
  TRUSTED_PROXIES: list(
    readProxyRange,
    'ranges of addresses (10.0.0.0/8,2001:db8::/32), with no bit set after the prefix length, which must not be 0, are',
  ),
  MCP_ALLOWED_ORIGINS: list(readOrigin, 'origins (https://app.example,https://other.example:8443), or *, are'),
  CALLBACK_ALLOW_PRIVATE: list(readTrustedPair, 'addresses with a port (127.0.0.1:9000,[::1]:9000) are'),
  CALLBACK_NAT64_PREFIXES: list(
    (item) => (readRange(item)?.family === 6 ? item : null),
    'IPv6 prefixes (2001:db8:64::/96), with no bit set after the prefix length, are',
  ),
  COURTLISTENER_TOKEN: optional(
    z
      .string()
      .regex(/^[\x21-\x7e]{8,200}$/, 'the token alone is expected, without the word Token')
      .optional(),
  ),
  COURTLISTENER_URL: optional(sourceUrl.default('https://www.courtlistener.com/api/rest/v4/')),
  COURTLISTENER_RATES: optional(
    z
      .string()
      .default('5/min,50/hour,125/day')
      .transform((value, context) => {
        const rates = readRates(value);
        if (rates === null) context.addIssue({ code: 'custom', message: 'rates (5/min,50/hour,125/day) are expected' });
        return rates ?? [];
      }),
  ),
  COURTLISTENER_WEBHOOK_SECRET: optional(
    z
      .string()
      .regex(/^[\w.~-]{32,200}$/, '32 to 200 characters that need no encoding in a URL are expected')
      .optional(),
  ),
  COURTLISTENER_ALERTS: whole(5, 0, 1_000_000),
  RSS_COURTS: list(
    (item) => (item === 'all' || hasFeed(item) ? item.toLowerCase() : null),
    'all, or codes of courts with a feed, are',
  ),
  RSS_URL: optional(urlPattern('court').optional()),
  RSS_KEEP: optional(z.enum(['watched', 'all'], 'watched or all is expected').default('watched')),
  SCOTUS: optional(z.enum(['on', 'off'], 'on or off is expected').default('off')),
  SCOTUS_URL: optional(urlPattern('number').optional()),
  SOURCES_ALLOW_PRIVATE: list(readTrustedPair, 'addresses with a port (127.0.0.1:9000,[::1]:9000) are'),
  WATCH_DAYS: whole(30, 0, 3_650),
  OTEL_SDK_DISABLED: optional(
    z
      .string()
      .regex(/^(true|false)$/i, 'true or false is expected')
      .transform((value) => value.toLowerCase() === 'true')
      .default(false),
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: collector,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: collector,
  OTEL_EXPORTER_OTLP_PROTOCOL: optional(
    z.enum(['http/json'], 'http/json is expected: the only protocol that this service speaks').optional(),
  ),
  OTEL_EXPORTER_OTLP_HEADERS: pairs(
    readHeaders,
    'headers (api-key=SECRET,tenant=courts), with values percent-encoded, are',
  ),
  OTEL_SERVICE_NAME: optional(z.string().max(256, 'at most 256 characters are expected').default('')),
  OTEL_RESOURCE_ATTRIBUTES: pairs(
    readResource,
    'attributes (deployment.environment.name=staging,service.namespace=courts), with values percent-encoded, are',
  ),
  OTEL_TRACES_SAMPLER: optional(
    z.enum(SAMPLERS, `one of ${SAMPLERS.join(', ')} is expected`).default('parentbased_always_on'),
  ),
  OTEL_TRACES_SAMPLER_ARG: optional(
    z
      .string()
      .regex(/^(0(\.\d+)?|1(\.0+)?|\.\d+)$/, 'a ratio from 0 to 1 is expected')
      .transform(Number)
      .default(1),
  ),
});

export type EnvironmentValues = z.infer<typeof Environment>;
