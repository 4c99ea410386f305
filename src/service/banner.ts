/** The lines shown at the start: what is real, what is local, what to try. */
import type { Config } from '../config.ts';
import { maskConnectionString } from '../storage/eventstoredb/connection-string.ts';
import { maskMongoUrl } from '../storage/mongodb/connection-string.ts';

export function bannerOf(facts: {
  readonly url: string;
  readonly adminUrl: string;
  readonly rpcUrl: string | null;
  readonly config: Config;
  readonly payTo: string;
}): readonly string[] {
  const { url, adminUrl, rpcUrl, config, payTo } = facts;
  const chain = rpcUrl
    ? `local chain at ${rpcUrl}: real token program, test money`
    : `${config.solana.network}: real payments to ${payTo}`;
  return [
    `Docket Monitor answers at ${url} (health at ${adminUrl}/readyz)`,
    `  payments  ${chain}`,
    `  storage   ${storageLine(config)}`,
    `  dockets   ${docketsLine(config)}`,
    `Try next:   docket wallet new --out wallet.json, docket demo, or read ${url}/docs`,
  ];
}

function docketsLine({ sources: { courtListener, rss, scotus } }: Config): string {
  const live = [
    ...(courtListener.token === null ? [] : ['courtlistener']),
    ...(rss.courts.length === 0 ? [] : ['rss']),
    ...(scotus.isOn ? ['scotus'] : []),
  ];
  const files = 'from files: docket import FILE…';
  return live.length === 0 ? files : `live from ${live.join(', ')}; ${files}`;
}

function storageLine({ engines, dataDirectory }: Config): string {
  if (!engines) return `SQLite in ${dataDirectory}: one machine`;
  return `events in EventStoreDB at ${maskConnectionString(engines.eventStore)}, the rest in MongoDB at ${maskMongoUrl(engines.mongo)}`;
}
