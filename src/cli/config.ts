import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { fileVariable, SECRET_VARIABLES } from '../config/secrets.ts';
import { type Config, readConfig } from '../config.ts';
import { reachableHost } from '../runtime/listen.ts';
import { masterKeyFile } from '../service/open-master-keys.ts';
import { parseKey } from '../solana/keys.ts';
import { writtenRates } from '../sources/settings.ts';
import { maskConnectionString } from '../storage/eventstoredb/connection-string.ts';
import { maskMongoUrl } from '../storage/mongodb/connection-string.ts';
import { type AddCommand, print, printJson } from './command.ts';

/** The effective configuration, with secrets and credentials in URLs masked. */
export function shownConfig(config: Config): Record<string, unknown> {
  return {
    ...config,
    engines: config.engines && {
      eventStore: maskConnectionString(config.engines.eventStore),
      mongo: maskMongoUrl(config.engines.mongo),
    },
    masterKey: config.masterKey === null ? null : '(set, masked)',
    sources: shownSources(config.sources),
    tracing: config.tracing && {
      ...config.tracing,
      url: maskUrl(config.tracing.url),
      headers: Object.keys(config.tracing.headers).map((name) => `${name}: (masked)`),
      resource: Object.entries(config.tracing.resource).map((pair) => pair.join('=')),
    },
    solana: {
      ...config.solana,
      rpcUrls: config.solana.rpcUrls.map(maskUrl),
      feePayerKey: config.solana.feePayerKey === null ? null : '(set, masked)',
    },
  };
}

/** In the form in which an operator writes them. */
function shownSources({ courtListener, rss, scotus, ...rest }: Config['sources']): Record<string, unknown> {
  const masked = (secret: string | null) => (secret === null ? null : '(set, masked)');
  return {
    'courtListener.token': masked(courtListener.token),
    'courtListener.url': courtListener.url,
    'courtListener.rates': writtenRates(courtListener.rates),
    'courtListener.webhookSecret': masked(courtListener.webhookSecret),
    'courtListener.alerts': courtListener.alerts,
    'rss.courts': rss.courts,
    'rss.url': rss.url,
    'rss.keeps': rss.keepsAll ? 'all' : 'watched',
    scotus: scotus.isOn ? 'on' : 'off',
    'scotus.url': scotus.url,
    ...rest,
  };
}

const VARIABLES: Readonly<Record<string, string>> = {
  production: 'NODE_ENV',
  host: 'HOST',
  port: 'PORT',
  adminHost: 'ADMIN_HOST',
  adminPort: 'ADMIN_PORT',
  publicUrl: 'PUBLIC_URL',
  dataDirectory: 'DATA_DIR',
  'engines.eventStore': 'EVENTSTORE_URL',
  'engines.mongo': 'MONGODB_URL',
  logLevel: 'LOG_LEVEL',
  'audit.heads': 'AUDIT_HEADS',
  'audit.anchor': 'AUDIT_ANCHOR',
  'sponsorLimits.lamportsPerHour': 'SPONSOR_LOSS_LAMPORTS_PER_HOUR',
  'sponsorLimits.lamportsPerDay': 'SPONSOR_LOSS_LAMPORTS_PER_DAY',
  projectionGraceHours: 'PROJECTION_GRACE_HOURS',
  addressLimitPerMinute: 'ADDRESS_LIMIT_PER_MINUTE',
  trustedProxies: 'TRUSTED_PROXIES',
  mcpAllowedOrigins: 'MCP_ALLOWED_ORIGINS',
  callbackAllowPrivate: 'CALLBACK_ALLOW_PRIVATE',
  callbackNat64Prefixes: 'CALLBACK_NAT64_PREFIXES',
  masterKey: 'MASTER_KEY',
  'sources.courtListener.token': 'COURTLISTENER_TOKEN',
  'sources.courtListener.url': 'COURTLISTENER_URL',
  'sources.courtListener.rates': 'COURTLISTENER_RATES',
  'sources.courtListener.webhookSecret': 'COURTLISTENER_WEBHOOK_SECRET',
  'sources.courtListener.alerts': 'COURTLISTENER_ALERTS',
  'sources.rss.courts': 'RSS_COURTS',
  'sources.rss.url': 'RSS_URL',
  'sources.rss.keeps': 'RSS_KEEP',
  'sources.scotus': 'SCOTUS',
  'sources.scotus.url': 'SCOTUS_URL',
  'sources.allowPrivate': 'SOURCES_ALLOW_PRIVATE',
  'sources.watchDays': 'WATCH_DAYS',
  'tracing.headers': 'OTEL_EXPORTER_OTLP_HEADERS',
  'tracing.serviceName': 'OTEL_SERVICE_NAME',
  'tracing.resource': 'OTEL_RESOURCE_ATTRIBUTES',
  'tracing.sampler': 'OTEL_TRACES_SAMPLER',
  'tracing.ratio': 'OTEL_TRACES_SAMPLER_ARG',
  'solana.network': 'SOLANA_NETWORK',
  'solana.rpcUrls': 'SOLANA_RPC_URL',
  'solana.callsPerSecond': 'SOLANA_RPC_CALLS_PER_SECOND',
  'solana.unknownBlockhashesPerSecond': 'UNKNOWN_BLOCKHASHES_PER_SECOND',
  'solana.localPort': 'SOLANA_LOCAL_PORT',
  'solana.localSlotMs': 'SOLANA_LOCAL_SLOT_MS',
  'solana.payTo': 'PAY_TO',
  'solana.feePayerKey': 'FEE_PAYER_KEY',
};

/** A setting in effect; `source` is a variable, `default`, or the file in DATA_DIR that holds the generated value. */
export interface SourcedValue {
  readonly value: unknown;
  readonly source: string;
}

/** Every setting with its source, including values that a start would derive or generate. */
export function sourcedConfig(config: Config, environment: NodeJS.ProcessEnv): Readonly<Record<string, SourcedValue>> {
  const { engines, solana, audit, sponsorLimits, sources, tracing, ...rest } = shownConfig(config) as Record<
    'engines' | 'solana' | 'audit' | 'sponsorLimits' | 'sources' | 'tracing',
    object
  >;
  const flat: Record<string, unknown> = {
    ...rest,
    'engines.eventStore': null,
    'engines.mongo': null,
    ...prefixed('engines', engines ?? {}),
    ...prefixed('solana', solana),
    ...prefixed('audit', audit),
    ...prefixed('sponsorLimits', sponsorLimits),
    ...prefixed('sources', sources),
    'tracing.url': null,
    ...prefixed('tracing', tracing ?? {}),
  };
  const inUse = unsetInUse(config);
  return Object.fromEntries(
    Object.entries(flat).map(([key, value]) => {
      const variable = VARIABLES[key] ?? (key === 'tracing.url' ? collectorVariable(environment) : undefined);
      if (variable !== undefined && environment[variable]) return [key, { value, source: variable }];
      if (variable !== undefined && SECRET_VARIABLES.has(variable) && environment[fileVariable(variable)]) {
        return [key, { value, source: fileVariable(variable) }];
      }
      return [key, inUse[key] ?? { value, source: 'default' }];
    }),
  );
}

/** The variable that says where traces go: the own one of traces, if both are set. */
const collectorVariable = (environment: NodeJS.ProcessEnv): string =>
  environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ? 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT' : 'OTEL_EXPORTER_OTLP_ENDPOINT';

/** The values used for settings that are not set. */
function unsetInUse({ host, port, dataDirectory, solana }: Config): Readonly<Record<string, SourcedValue>> {
  const keyFile = (name: string) => join(dataDirectory, 'keys', name);
  const generated = (file: string, read: (file: string) => string): SourcedValue => ({
    value: existsSync(file) ? read(file) : '(generated at the first start)',
    source: file,
  });
  const masked = () => '(set, masked)';
  return {
    publicUrl: {
      value: port === 0 ? '(the port is chosen at the start)' : `http://${reachableHost(host)}:${port}`,
      source: 'default',
    },
    masterKey: generated(masterKeyFile(dataDirectory), masked),
    'solana.rpcUrls': { value: [`http://127.0.0.1:${solana.localPort}`], source: 'default' },
    'solana.payTo': generated(keyFile('receiver.json'), addressIn),
    'solana.feePayerKey': generated(keyFile('fee-payer.json'), masked),
  };
}

function addressIn(file: string): string {
  try {
    return parseKey(readFileSync(file, 'utf8')).address;
  } catch {
    return '(the file cannot be read)';
  }
}

const prefixed = (prefix: string, values: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [`${prefix}.${key}`, value]));

/** Keeps the host of a URL and hides what may contain a key: user, password, path and query. */
export function maskUrl(text: string): string {
  const url = new URL(text);
  const hidden = url.username || url.password || url.search || url.pathname.length > 1;
  return hidden ? `${url.protocol}//${url.host}/(masked)` : `${url.protocol}//${url.host}`;
}

export const addConfigCommand: AddCommand = (program: Command, context) => {
  program
    .command('config')
    .description('Print the effective configuration, with secrets masked.')
    .option('--json', 'one JSON object: each setting with its value and source')
    .addHelpText(
      'after',
      `
Variables:
  NODE_ENV              production: rejects the local chain and the embedded engines, requires MASTER_KEY and PUBLIC_URL
  HOST, PORT            where HTTP listens (127.0.0.1, 8402)
  ADMIN_HOST, ADMIN_PORT
                        where /healthz, /readyz and /metrics listen, without a login (127.0.0.1, 8403)
  PUBLIC_URL            the URL that callers use, without a path (http://HOST:PORT)
  DATA_DIR              data folder (./data)
  EVENTSTORE_URL        EventStoreDB for the event log; requires MONGODB_URL (SQLite in DATA_DIR)
  MONGODB_URL           MongoDB for read models and payloads; requires EVENTSTORE_URL (SQLite in DATA_DIR)
  LOG_LEVEL             fatal, error, warn, info, debug, silent (info)
  SOLANA_NETWORK        local, devnet, mainnet (local)
  SOLANA_RPC_URL        RPC endpoints, comma-separated; required unless on the local chain
  SOLANA_RPC_CALLS_PER_SECOND
                        most calls per second to one endpoint, half of them reserved for settlement (0: no limit); with
                        several nodes, this node's share of the endpoint's limit
  UNKNOWN_BLOCKHASHES_PER_SECOND
                        most lookups per second of blockhashes that this service did not offer, all nodes together (10)
  SOLANA_LOCAL_PORT     where the local chain listens (8899)
  SOLANA_LOCAL_SLOT_MS  slot time of the local chain, milliseconds (400)
  PAY_TO                address that receives payments; on the local chain a generated key in DATA_DIR
  FEE_PAYER_KEY         secret key that pays network fees, JSON array or base58; on the local chain generated in DATA_DIR
  MASTER_KEY            version:hex[,older version:hex…], derives the secrets that sign callbacks; required in production,
                        otherwise generated in DATA_DIR (see docket keys rotate-master)
  AUDIT_HEADS           on: sign the root over the whole log each minute in which something was recorded; off (on)
  AUDIT_ANCHOR          hourly, daily: put the newest root into a memo on the chain, which costs the fee payer 5000
                        lamports each time; off (off)
  SPONSOR_LOSS_LAMPORTS_PER_HOUR, SPONSOR_LOSS_LAMPORTS_PER_DAY
                        what failed payments may cost the fee payer (3000000, 20000000). Above it, sponsored payments
                        pause for wallets that never paid; above twice as much, for all. Self-paid ones continue
  PROJECTION_GRACE_HOURS
                        how long the generation of a read model before a swap is kept for a rollback (24)
  ADDRESS_LIMIT_PER_MINUTE
                        most requests with an invalid payment per minute from one client address, IPv6 by /64 (120; 0: no
                        limit); behind a proxy, also set TRUSTED_PROXIES
  TRUSTED_PROXIES       ranges of the proxies in front (10.0.0.0/8,2001:db8::/32), comma-separated; in their requests
                        X-Forwarded-For names the client (none)
  MCP_ALLOWED_ORIGINS   origins of web pages that may call /v2/mcp, comma-separated, or * (outside production, origins on
                        this machine; in production, none); clients other than browsers are not checked
  CALLBACK_ALLOW_PRIVATE
                        non-public addresses with a port (127.0.0.1:9000,…) that callbacks may reach, for tests; rejected
                        in production
  CALLBACK_NAT64_PREFIXES
                        NAT64 prefixes of the network (2001:db8:64::/96,…); callbacks never use them
  COURTLISTENER_TOKEN   token of an account at CourtListener, whose REST API is then asked for dockets (no requests)
  COURTLISTENER_RATES   how many requests the account has: 5/min,50/hour,125/day, which is what a free one has
  COURTLISTENER_URL     another address of the API
  COURTLISTENER_WEBHOOK_SECRET
                        its webhooks are accepted at PUBLIC_URL/ingest/courtlistener/SECRET (none are accepted)
  COURTLISTENER_ALERTS  how many docket alerts the account may have (5)
  RSS_COURTS            courts whose feeds are read every five minutes: all, or codes, comma-separated (none)
  RSS_URL               another address of the feeds, with {court} in it
  RSS_KEEP              entries of cases that nobody has asked for: watched ignores them, all records them (watched)
  SCOTUS                on: the Supreme Court's docket files are read (off)
  SCOTUS_URL            another address of them, with {number} in it
  SOURCES_ALLOW_PRIVATE
                        non-public addresses with a port (127.0.0.1:9000,…) that sources may have, for tests; rejected in
                        production
  WATCH_DAYS            how long a case is kept fresh after it was asked for, days (30)
  OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT
                        where traces go, an OpenTelemetry collector (http://127.0.0.1:4318); the first is completed with
                        /v1/traces (no traces)
  OTEL_EXPORTER_OTLP_PROTOCOL
                        http/json, the only one
  OTEL_EXPORTER_OTLP_HEADERS
                        headers for the collector, such as a key: name=value,…
  OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES
                        how traces name this service (docket-monitor) and what else they say of it: name=value,…
  OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG
                        which traces are exported: always_on, always_off, traceidratio, or parentbased_ and one of these
                        (parentbased_always_on); for a ratio, 0 to 1 (1)
  OTEL_SDK_DISABLED     true: no traces (false)

Secrets from files, as Docker, Kubernetes and systemd pass them: instead of a variable, set the one that names its file.
${[...SECRET_VARIABLES].map((variable) => `  ${fileVariable(variable)}`).join('\n')}

Examples:
  $ docket config
  $ PORT=9000 docket config --json
  $ MASTER_KEY_FILE=/run/secrets/master-key docket config`,
    )
    .action((options: { json?: boolean }) => {
      const shown = sourcedConfig(readConfig(context.environment), context.environment);
      if (options.json) return printJson(context, shown);
      for (const [key, { value, source }] of Object.entries(shown)) {
        const text = Array.isArray(value) ? value.join(', ') : String(value ?? '');
        print(context, `${key.padEnd(24)} ${text || '-'}  (${source})`);
      }
    });
};
