import type { Command } from 'commander';
import { type Config, readConfig } from '../config.ts';
import { maskConnectionString } from '../storage/eventstoredb/connection-string.ts';
import { maskMongoUrl } from '../storage/mongodb/connection-string.ts';
import { type AddCommand, print, printJson } from './command.ts';

/** The effective configuration as it may be shown: secrets, and credentials in URLs, are masked. */
export function shownConfig(config: Config): Record<string, unknown> {
  return {
    ...config,
    engines: config.engines && {
      eventStore: maskConnectionString(config.engines.eventStore),
      mongo: maskMongoUrl(config.engines.mongo),
    },
    masterKey: config.masterKey === null ? null : '(set, masked)',
    solana: {
      ...config.solana,
      rpcUrls: config.solana.rpcUrls.map(maskUrl),
      feePayerKey: config.solana.feePayerKey === null ? null : '(set, masked)',
    },
  };
}

/** Keeps where a URL leads and hides what may be a key: user, password, path and query. */
export function maskUrl(text: string): string {
  const url = new URL(text);
  const hidden = url.username || url.password || url.search || url.pathname.length > 1;
  return hidden ? `${url.protocol}//${url.host}/(masked)` : `${url.protocol}//${url.host}`;
}

export const addConfigCommand: AddCommand = (program: Command, context) => {
  program
    .command('config')
    .description('Print the effective configuration, secrets masked.')
    .option('--json', 'one JSON object')
    .addHelpText(
      'after',
      `
Variables:
  NODE_ENV              production: refuses the local chain and the embedded engines, wants MASTER_KEY, PUBLIC_URL
  HOST, PORT            where HTTP listens (127.0.0.1, 8402)
  ADMIN_HOST, ADMIN_PORT
                        where /healthz, /readyz and /metrics listen (127.0.0.1, 8403); they ask for no login
  PUBLIC_URL            the address that callers use, without a path (http://HOST:PORT)
  DATA_DIR              where state is kept (./data)
  EVENTSTORE_URL        the event log in EventStoreDB, with MONGODB_URL (SQLite in DATA_DIR)
  MONGODB_URL           read models and payloads in MongoDB, with EVENTSTORE_URL
  LOG_LEVEL             fatal, error, warn, info, debug, silent (info)
  SOLANA_NETWORK        local, devnet, mainnet (local)
  SOLANA_RPC_URL        endpoints, comma-separated; needed but on the local chain
  SOLANA_LOCAL_PORT     where the local chain listens (8899)
  SOLANA_LOCAL_SLOT_MS  milliseconds of a slot of the local chain (400)
  PAY_TO                the address that is paid; on the local chain a key in DATA_DIR
  FEE_PAYER_KEY         secret key that pays network fees, JSON array or base58; on the local chain a key in DATA_DIR
  MASTER_KEY            version:hex[,older version:hex…], from which the secrets that sign callbacks are derived; needed in
                        production, else a key in DATA_DIR (see docket keys rotate-master)
  ADDRESS_LIMIT_PER_MINUTE
                        most requests with an invalid payment a minute from one client address (0: any number); it goes
                        by the connection, so leave it off behind a proxy
  MCP_ALLOWED_ORIGINS   web pages that may call /v2/mcp: origins, comma-separated, or * (outside production those of
                        this machine, else none); clients that are no web pages are not asked
  CALLBACK_ALLOW_PRIVATE
                        addresses with a port (127.0.0.1:9000,…) that callbacks may reach although they are not public,
                        for tests; refused in production
  CALLBACK_NAT64_PREFIXES
                        the network's NAT64 prefixes (2001:db8:64::/96,…): callbacks do not go through them

Examples:
  $ docket config
  $ PORT=9000 docket config --json`,
    )
    .action((options: { json?: boolean }) => {
      const shown = shownConfig(readConfig(context.environment));
      if (options.json) return printJson(context, shown);
      const { solana, engines, ...rest } = shown as { solana: object; engines: object | null };
      const lines = {
        ...rest,
        ...Object.fromEntries(Object.entries(engines ?? {}).map(([key, value]) => [`engines.${key}`, value])),
        ...Object.fromEntries(Object.entries(solana).map(([key, value]) => [`solana.${key}`, value])),
      };
      for (const [key, value] of Object.entries(lines)) {
        print(context, `${key.padEnd(20)} ${Array.isArray(value) ? value.join(', ') || '-' : (value ?? '-')}`);
      }
    });
};
