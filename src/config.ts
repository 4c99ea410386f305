/**
 * The configuration: every environment variable in one schema. An invalid configuration reports every error at once, with
 * the variable, the value received and what is expected.
 */

import { isIP } from 'node:net';
import { z } from 'zod';
import { MasterKeyUnreadable, readMasterKeys } from './callbacks/master-keys.ts';
import { readRange } from './callbacks/outbound/public-address.ts';
import { readTrustedPair } from './callbacks/outbound/target.ts';
import type { SponsorLimits } from './commands/purchase/sponsor-budget.ts';
import { UNKNOWN_BLOCKHASHES_PER_SECOND } from './commands/purchase/unknown-blockhashes.ts';
import { findCourt } from './courts/registry.ts';
import { readProxyRange } from './http/client-address.ts';
import { readOrigin } from './http/mcp/origins.ts';
import { parseUrl } from './runtime/parse-url.ts';
import { readSecretFile } from './runtime/secret-file.ts';
import { isAddress, type SolanaNetwork } from './solana/addresses.ts';
import { feedOf } from './sources/rss/addresses.ts';
import { readRates, type SourceSettings } from './sources/settings.ts';
import { readConnectionString } from './storage/eventstoredb/connection-string.ts';
import { isMongoUrl } from './storage/mongodb/connection-string.ts';
import {
  isEndpoint,
  readHeaders,
  readResource,
  SAMPLERS,
  type TracingSettings,
  tracingOf,
} from './tracing/settings.ts';

export class ConfigurationError extends Error {
  readonly code = 'configuration';
  constructor(readonly faults: readonly ConfigurationFault[]) {
    super(
      ['The configuration is invalid:', ...faults.map(({ variable, problem }) => `  ${variable}: ${problem}`)].join(
        '\n',
      ),
    );
    this.name = 'ConfigurationError';
  }
}

export interface ConfigurationFault {
  readonly variable: string;
  readonly problem: string;
}

const hasFeed = (code: string): boolean => {
  const court = findCourt(code);
  return court !== null && feedOf(court) !== null;
};

/** An environment variable set to the empty string counts as not set. */
const optional = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === '' ? undefined : value), schema);

const port = (fallback: number) =>
  optional(
    z
      .string()
      .regex(/^\d{1,5}$/, 'a port number from 0 to 65535 is expected')
      .transform(Number)
      .refine((value) => value <= 65_535, 'a port number from 0 to 65535 is expected')
      .default(fallback),
  );

const whole = (fallback: number, least: number, most: number) =>
  optional(
    z
      .string()
      .regex(/^\d+$/, `a whole number from ${least} to ${most} is expected`)
      .transform(Number)
      .refine((value) => value >= least && value <= most, `a whole number from ${least} to ${most} is expected`)
      .default(fallback),
  );

const httpUrl = z
  .string()
  .refine((value) => /^https?:$/.test(parseUrl(value)?.protocol ?? ''), 'an http or https URL is expected');

const publicUrl = httpUrl.superRefine((value, context) => {
  const url = parseUrl(value);
  if (url === null) return;
  const { username, password, pathname, search, hash } = url;
  const forbidden = [
    ...(username || password ? ['credentials'] : []),
    ...(/^\/*$/.test(pathname) ? [] : ['a path']),
    ...(search || value.includes('?') ? ['a query'] : []),
    ...(hash || value.includes('#') ? ['a fragment'] : []),
  ];
  if (forbidden.length === 0) return;
  const message = `only a scheme, a host and a port are expected, without ${forbidden.join(', ')}: the service answers at the root of its address (https://dockets.example)`;
  context.addIssue({ code: 'custom', message });
});

/** One spelling for each URL, without a trailing slash: payments are bound to it, and nodes may spell it differently. */
const normalUrl = (url: string): string => new URL(url).href.replace(/\/+$/, '');

const HOST_EXPECTED = 'an IP address or a host name is expected (127.0.0.1, ::1, ::, 0.0.0.0)';

/** Where to listen. An IPv6 address may be in brackets, as in a URL. */
const host = (portVariable: string) =>
  optional(
    z
      .string()
      .default('127.0.0.1')
      .transform((value, context) => {
        const bare = /^\[(.*)\]$/.exec(value)?.[1] ?? value;
        const bracketed = bare !== value;
        if (isIP(bare) === 6 || (!bracketed && (isIP(bare) === 4 || HOST_NAME.test(bare)))) return bare;
        const withPort = /^(?:\[[^\]]*\]|[^:/[\]]+):\d+$/.test(value);
        const message = withPort ? `the port belongs in ${portVariable}; ${HOST_EXPECTED}` : HOST_EXPECTED;
        context.addIssue({ code: 'custom', message });
        return value;
      }),
  );

const HOST_NAME = /^(?=.{1,253}$)(?!.*\.\d+$)(?!\d+$)[a-z\d]([a-z\d_-]*[a-z\d])?(\.[a-z\d]([a-z\d_-]*[a-z\d])?)*\.?$/i;

const address = z.string().refine(isAddress, 'a Solana address (base58 of 32 bytes) is expected');

const eventStoreUrl = z.string().superRefine((value, context) => {
  try {
    readConnectionString(value);
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
  }
});

const masterKey = z.string().superRefine((value, context) => {
  try {
    readMasterKeys(value);
  } catch (error) {
    if (!(error instanceof MasterKeyUnreadable)) throw error;
    context.addIssue({ code: 'custom', message: error.message });
  }
});

/** Items separated by commas, each normalized; the error names the first invalid one. */
const list = (read: (item: string) => string | null, expected: string) =>
  optional(
    z
      .string()
      .default('')
      .transform((value, context) => {
        const items = value.split(',').flatMap((item) => item.trim() || []);
        return items.map((item) => {
          const form = read(item);
          if (form === null) context.addIssue({ code: 'custom', message: `${expected} expected` });
          return form ?? item;
        });
      }),
  );

/** No source is called with a password in its address. */
const sourceUrl = httpUrl.refine((value) => {
  const url = parseUrl(value);
  return url === null || (url.username === '' && url.password === '');
}, 'a URL without credentials is expected');

/** A URL with one place to fill in. */
const urlPattern = (place: string) =>
  z
    .string()
    .refine(
      (value) => value.includes(`{${place}}`) && sourceUrl.safeParse(value.replaceAll(`{${place}}`, 'x')).success,
      `an http or https URL without credentials, and with {${place}} in it, is expected`,
    );

/** Where an OpenTelemetry collector listens; credentials go into headers. */
const collector = optional(
  z
    .string()
    .refine(
      isEndpoint,
      'an http or https URL without credentials, query and fragment is expected (http://127.0.0.1:4318)',
    )
    .optional(),
);

/** `key=value,key=value`, percent-encoded. */
const pairs = (read: (text: string) => Readonly<Record<string, string>> | null, expected: string) =>
  optional(
    z
      .string()
      .default('')
      .transform((value, context) => {
        const found = read(value);
        if (found === null) context.addIssue({ code: 'custom', message: `${expected} expected` });
        return found ?? {};
      }),
  );

/** Invalid payments per minute from one address: far more than a client under development sends. */
const DEFAULT_ADDRESS_LIMIT = 120;

const Environment = z.object({
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

/** Environment variables that hold secrets, which are masked wherever the configuration is shown. */
export const SECRET_VARIABLES: ReadonlySet<string> = new Set([
  'FEE_PAYER_KEY',
  'MASTER_KEY',
  'EVENTSTORE_URL',
  'MONGODB_URL',
  'SOLANA_RPC_URL',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'COURTLISTENER_TOKEN',
  'COURTLISTENER_WEBHOOK_SECRET',
]);

/** URLs are refused with a secret in them, so no fault may repeat them either. */
const UNREPEATED_VARIABLES: ReadonlySet<string> = new Set([
  ...SECRET_VARIABLES,
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'COURTLISTENER_URL',
  'RSS_URL',
  'SCOTUS_URL',
]);

/**
 * Reads the secrets that are in files, as containers and systemd pass them: `MASTER_KEY_FILE` names the file that holds
 * `MASTER_KEY`, whose line break at the end is not part of it.
 */
function withSecretFiles(environment: NodeJS.ProcessEnv, faults: ConfigurationFault[]): NodeJS.ProcessEnv {
  const read: NodeJS.ProcessEnv = { ...environment };
  for (const variable of SECRET_VARIABLES) {
    const named = fileVariable(variable);
    const path = environment[named];
    if (!path) continue;
    if (environment[variable]) {
      faults.push({ variable: named, problem: `${variable} is set as well; set only one of them` });
      continue;
    }
    const text = readSecretFile(path);
    if (typeof text === 'string') read[variable] = text;
    // Its value is not repeated: somebody may have put the secret itself there.
    else faults.push({ variable: named, problem: `${text.problem}; the path of a file is expected (not shown here)` });
  }
  return read;
}

/** One variable that may hold a secret, from itself or from its file. @throws ConfigurationError */
export function readSecretVariable(environment: NodeJS.ProcessEnv, variable: string): string | undefined {
  const faults: ConfigurationFault[] = [];
  const own = { [variable]: environment[variable], [fileVariable(variable)]: environment[fileVariable(variable)] };
  const value = withSecretFiles(own, faults)[variable];
  if (faults.length > 0) throw new ConfigurationError(faults);
  return value;
}

/** The variable that names the file of a secret. */
export const fileVariable = (variable: string): string => `${variable}_FILE`;

/** The URLs of the distributed engines. Set both, or neither to use SQLite in the data folder for all three stores. */
export interface EngineUrls {
  readonly eventStore: string;
  readonly mongo: string;
}

export interface Config {
  readonly production: boolean;
  readonly host: string;
  readonly port: number;
  /** Where the admin port listens. It has no login, so its default differs from the public port's. */
  readonly adminHost: string;
  readonly adminPort: number;
  /** Without a trailing slash; null: derived from the listening port. */
  readonly publicUrl: string | null;
  readonly dataDirectory: string;
  /** Null: the embedded engine, one machine. */
  readonly engines: EngineUrls | null;
  readonly logLevel: string;
  readonly audit: {
    /** Whether heads of the log are recorded. */
    readonly heads: boolean;
    /** How often the newest head is put on the chain; null: never by itself. */
    readonly anchor: 'hourly' | 'daily' | null;
  };
  /** The cost of failed sponsored payments to the fee payer at which sponsorship pauses. */
  readonly sponsorLimits: SponsorLimits;
  /** How long the generation of a read model before a swap is kept for a rollback. */
  readonly projectionGraceHours: number;
  /** Most requests with an invalid payment per minute from one client address; null: no limit. */
  readonly addressLimitPerMinute: number | null;
  /** Ranges of the proxies whose `X-Forwarded-For` names the client. */
  readonly trustedProxies: readonly string[];
  /** Origins of web pages that may call the MCP endpoint; `*`: all. Outside production, also origins on this machine. */
  readonly mcpAllowedOrigins: readonly string[];
  /** Non-public `host:port` pairs that callbacks may reach; empty in production. */
  readonly callbackAllowPrivate: readonly string[];
  /** NAT64 prefixes of the network. Callbacks never use them, since they could lead to private IPv4 addresses. */
  readonly callbackNat64Prefixes: readonly string[];
  /**
   * `version:hex[,older version:hex…]`, which derives the secrets of wallets' signing keys; null: one in the data
   * folder.
   */
  readonly masterKey: string | null;
  /** Where dockets are asked for, besides what is imported and pushed. */
  readonly sources: SourceSettings;
  /** Null: no traces. */
  readonly tracing: TracingSettings | null;
  readonly solana: {
    readonly network: SolanaNetwork;
    /** Endpoints to use; empty if the service starts its own local chain. */
    readonly rpcUrls: readonly string[];
    /** Calls per second to one endpoint; null: no limit. */
    readonly callsPerSecond: number | null;
    /** Lookups per second, over all nodes, of blockhashes that this service did not offer. */
    readonly unknownBlockhashesPerSecond: number;
    readonly localPort: number;
    readonly localSlotMs: number;
    /** The address that owns the receiving token account; null: a key in the data folder. */
    readonly payTo: string | null;
    /** Secret key that pays network fees; null: a key in the data folder. */
    readonly feePayerKey: string | null;
  };
}

/** @throws ConfigurationError that lists every error */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
  const faults: ConfigurationFault[] = [];
  const parsed = Environment.safeParse(withSecretFiles(environment, faults));
  if (!parsed.success) {
    for (const issue of parsed.error.issues) {
      const variable = String(issue.path[0]);
      const received = UNREPEATED_VARIABLES.has(variable) ? '(a secret)' : JSON.stringify(environment[variable]);
      faults.push({ variable, problem: `${issue.message}; received ${received}` });
    }
    throw new ConfigurationError(faults);
  }
  const values = parsed.data;
  const production = values.NODE_ENV === 'production';
  const network = values.SOLANA_NETWORK ?? (production ? undefined : 'local');
  const rpcUrls = values.SOLANA_RPC_URL ?? [];
  faults.push(...engineFaults(production, values), ...productionFaults(production, values, network));
  if (network && network !== 'local') {
    if (!rpcUrls.length)
      faults.push({ variable: 'SOLANA_RPC_URL', problem: `required with SOLANA_NETWORK=${network}` });
    if (!values.FEE_PAYER_KEY)
      faults.push({ variable: 'FEE_PAYER_KEY', problem: `required with SOLANA_NETWORK=${network}` });
    if (!values.PAY_TO) faults.push({ variable: 'PAY_TO', problem: `required with SOLANA_NETWORK=${network}` });
  }
  if (values.AUDIT_HEADS === 'off' && values.AUDIT_ANCHOR !== 'off') {
    faults.push({ variable: 'AUDIT_ANCHOR', problem: 'requires AUDIT_HEADS=on: an anchor holds the root of a head' });
  }
  if (faults.length || !network) throw new ConfigurationError(faults);
  return {
    production,
    host: values.HOST,
    port: values.PORT,
    adminHost: values.ADMIN_HOST,
    adminPort: values.ADMIN_PORT,
    publicUrl: values.PUBLIC_URL === undefined ? null : normalUrl(values.PUBLIC_URL),
    dataDirectory: values.DATA_DIR,
    engines:
      values.EVENTSTORE_URL && values.MONGODB_URL
        ? { eventStore: values.EVENTSTORE_URL, mongo: values.MONGODB_URL }
        : null,
    logLevel: values.LOG_LEVEL,
    audit: {
      heads: values.AUDIT_HEADS === 'on',
      anchor: values.AUDIT_ANCHOR === 'off' ? null : values.AUDIT_ANCHOR,
    },
    sponsorLimits: {
      lamportsPerHour: values.SPONSOR_LOSS_LAMPORTS_PER_HOUR,
      lamportsPerDay: values.SPONSOR_LOSS_LAMPORTS_PER_DAY,
    },
    projectionGraceHours: values.PROJECTION_GRACE_HOURS,
    addressLimitPerMinute: values.ADDRESS_LIMIT_PER_MINUTE || null,
    trustedProxies: values.TRUSTED_PROXIES,
    mcpAllowedOrigins: values.MCP_ALLOWED_ORIGINS,
    callbackAllowPrivate: values.CALLBACK_ALLOW_PRIVATE,
    callbackNat64Prefixes: values.CALLBACK_NAT64_PREFIXES,
    masterKey: values.MASTER_KEY ?? null,
    sources: sourcesOf(values),
    tracing: tracingOf(values),
    solana: {
      network,
      rpcUrls,
      callsPerSecond: values.SOLANA_RPC_CALLS_PER_SECOND === 0 ? null : Math.max(2, values.SOLANA_RPC_CALLS_PER_SECOND),
      unknownBlockhashesPerSecond: values.UNKNOWN_BLOCKHASHES_PER_SECOND,
      localPort: values.SOLANA_LOCAL_PORT,
      localSlotMs: values.SOLANA_LOCAL_SLOT_MS,
      payTo: values.PAY_TO ?? null,
      feePayerKey: values.FEE_PAYER_KEY ?? null,
    },
  };
}

const sourcesOf = (values: z.infer<typeof Environment>): SourceSettings => ({
  courtListener: {
    token: values.COURTLISTENER_TOKEN ?? null,
    url: `${normalUrl(values.COURTLISTENER_URL)}/`,
    rates: values.COURTLISTENER_RATES,
    webhookSecret: values.COURTLISTENER_WEBHOOK_SECRET ?? null,
    alerts: values.COURTLISTENER_ALERTS,
  },
  rss: { courts: values.RSS_COURTS, url: values.RSS_URL ?? null, keepsAll: values.RSS_KEEP === 'all' },
  scotus: { isOn: values.SCOTUS === 'on', url: values.SCOTUS_URL ?? null },
  allowPrivate: values.SOURCES_ALLOW_PRIVATE,
  watchDays: values.WATCH_DAYS,
});

/** Both engines are set or none: events on many machines need read models that all of them can reach. */
function engineFaults(production: boolean, values: z.infer<typeof Environment>): readonly ConfigurationFault[] {
  const engines = ['EVENTSTORE_URL', 'MONGODB_URL'] as const;
  const missing = engines.filter((variable) => !values[variable]);
  if (missing.length === 0 || (missing.length === engines.length && !production)) return [];
  const problem = production
    ? 'required in production: the embedded engine is lost with its single machine'
    : `required with ${engines.find((variable) => values[variable])}; set both, or neither for SQLite in DATA_DIR`;
  return missing.map((variable) => ({ variable, problem }));
}

/** The requirements of `NODE_ENV=production`: a start must never take real money on default settings. */
function productionFaults(
  production: boolean,
  values: z.infer<typeof Environment>,
  network: SolanaNetwork | undefined,
): readonly ConfigurationFault[] {
  if (!production) return [];
  const faults: ConfigurationFault[] = [];
  if (network === undefined) {
    faults.push({ variable: 'SOLANA_NETWORK', problem: 'required in production: mainnet or devnet' });
  }
  if (network === 'local') {
    faults.push({
      variable: 'SOLANA_NETWORK',
      problem: 'the local chain holds test money and is rejected in production',
    });
  }
  if (!values.MASTER_KEY) {
    const problem =
      'required in production: a generated key is lost with its data folder, and with it every secret that was handed ' +
      'out; docket keys new-master generates one';
    faults.push({ variable: 'MASTER_KEY', problem });
  }
  if (values.CALLBACK_ALLOW_PRIVATE.length > 0) {
    faults.push({
      variable: 'CALLBACK_ALLOW_PRIVATE',
      problem:
        'rejected in production: any caller chooses the URL of a callback, and so could reach these private addresses',
    });
  }
  if (values.SOURCES_ALLOW_PRIVATE.length > 0) {
    faults.push({
      variable: 'SOURCES_ALLOW_PRIVATE',
      problem: 'rejected in production: no real source has a private address',
    });
  }
  if (values.COURTLISTENER_TOKEN && new URL(values.COURTLISTENER_URL).protocol !== 'https:') {
    faults.push({
      variable: 'COURTLISTENER_URL',
      problem: 'https is required in production: the token is sent with every request',
    });
  }
  if (!values.PUBLIC_URL) {
    faults.push({ variable: 'PUBLIC_URL', problem: 'required in production: the URL that callers use' });
  }
  return faults;
}
