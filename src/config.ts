/**
 * The configuration: every environment variable in one schema (`config/environment.ts`). An invalid configuration reports
 * every error at once, with the variable, the value received and what is expected.
 */
import type { SponsorLimits } from './commands/purchase/sponsor-budget.ts';
import { ConfigurationError, type ConfigurationFault } from './config/configuration-error.ts';
import { Environment, type EnvironmentValues } from './config/environment.ts';
import { UNREPEATED_VARIABLES, withSecretFiles } from './config/secrets.ts';
import { normalUrl } from './config/values.ts';
import type { SolanaNetwork } from './solana/addresses.ts';
import type { SourceSettings } from './sources/settings.ts';
import { type TracingSettings, tracingOf } from './tracing/settings.ts';

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

const sourcesOf = (values: EnvironmentValues): SourceSettings => ({
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
function engineFaults(production: boolean, values: EnvironmentValues): readonly ConfigurationFault[] {
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
  values: EnvironmentValues,
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
