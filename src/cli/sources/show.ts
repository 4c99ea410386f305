/** `docket sources show NAME [COURT]`: everything about one source, or about one court of it. */
import type { Command } from 'commander';
import { type Config, readConfig } from '../../config.ts';
import type { LiveSourceName } from '../../events/source.ts';
import { isTroubled, type SourceCourt, sourceRecords } from '../../projections/source-records.ts';
import { alertsOfSource, courtsOfSource } from '../../queries/live-sources.ts';
import { MICROS_PER_SECOND, toInstant } from '../../runtime/instant.ts';
import { readMemory } from '../../sources/rss/feed-memory.ts';
import { writtenRates } from '../../sources/settings.ts';
import type { Storage } from '../../storage/storage.ts';
import { type CliContext, CliError, EXIT, print, printJson } from '../command.ts';
import { freshnessLines, freshnessOf } from '../freshness-lines.ts';
import { noteIfIncomplete } from '../list-completeness.ts';
import { courtNamed } from '../named-court.ts';
import { withStorage } from '../service-storage.ts';
import {
  budgetRows,
  heldUntil,
  type LiveSource,
  liveSources,
  looksText,
  minute,
  shownLive,
  standingText,
  successOf,
} from './live-sources.ts';
import { liveSourceNamed } from './pause.ts';

type OpenStorage = (environment: NodeJS.ProcessEnv) => Promise<Storage>;

const HELP = `
Of a source: its settings, its budget, its faults, looks by outcome, alerts, and courts in trouble.
Of a court of rss: which events its feed has, how far back it goes, and when it was last read and built.

Examples:
  $ docket sources show courtlistener
  $ docket sources show rss cand
  $ docket sources show rss --json | jq '.courts_in_trouble'`;

/** Courts named without --json; all are in it. */
const MOST_SHOWN = 20;

export function addShow(group: Command, context: CliContext, open: OpenStorage): void {
  group
    .command('show')
    .description('Show one live source, or one court of it.')
    .argument('<name>', 'courtlistener, rss, scotus')
    .argument('[court]', 'code of a court')
    .option('--json', 'one JSON object')
    .addHelpText('after', HELP)
    .action((name: string, code: string | undefined, { json }: { readonly json?: true }) =>
      withStorage(open, context, async (storage) => {
        const config = readConfig(context.environment);
        const source = await oneSource(storage, config, liveSourceNamed(name));
        if (code === undefined) await showSource(storage, context, config, source, json === true);
        else await showCourt(storage, context, source, code, json === true);
        await noteIfIncomplete(context, storage, sourceRecords);
      }),
    );
}

async function oneSource(storage: Storage, config: Config, name: LiveSourceName): Promise<LiveSource> {
  const all = await liveSources(storage, config);
  const found = all.find((source) => source.name === name);
  if (found) return found;
  const hint = `Set ${VARIABLES[name]} for the service and for this command; docs/sources.md says how.`;
  throw new CliError(`${name} is not configured here, and was never used.`, hint, EXIT.found);
}

const VARIABLES: Readonly<Record<LiveSourceName, string>> = {
  courtlistener: 'COURTLISTENER_TOKEN',
  rss: 'RSS_COURTS',
  scotus: 'SCOTUS=on',
};

const SET_COURT: Readonly<Record<LiveSourceName, (court: string) => string>> = {
  courtlistener: () => 'docket sources show courtlistener --json lists its courts (court_codes).',
  rss: (court) =>
    `Add ${court} to RSS_COURTS if that court has a feed. docket sources show rss --json lists the courts that are read.`,
  scotus: () => 'It has the court scotus only.',
};

async function showSource(
  { readStore }: Storage,
  context: CliContext,
  { sources }: Config,
  source: LiveSource,
  json: boolean,
): Promise<void> {
  const { name, record, budget } = source;
  const troubled = [...(await courtsOfSource(readStore, name)).values()].filter(({ trouble }) => trouble);
  // A court that is configured no longer keeps its last standing for ever, so it is no trouble of this source.
  const inTrouble = troubled.filter(({ court }) => source.courts.includes(court));
  const alerts = await alertsOfSource(readStore, name);
  const settings = settingsOf(name, sources);
  const fresh = await freshnessOf(readStore, sources, name);
  if (json) {
    printJson(context, {
      ...shownLive(source),
      settings,
      court_codes: source.courts,
      courts_in_trouble: inTrouble.map(shownCourt),
      webhooks: record?.webhooks ?? null,
      alerts: { in_force: alerts.length, limit: name === 'courtlistener' ? sources.courtListener.alerts : null },
      alerts_lost: record?.alertsLost ?? [],
      freshness: fresh,
    });
    return;
  }
  const line = (label: string, text: string) => print(context, `${label.padEnd(14)} ${text}`);
  line(name, standingText(source));
  line('courts', `${source.courts.length}${inTrouble.length ? `, ${inTrouble.length} of them in trouble` : ''}`);
  for (const [label, text] of Object.entries(settings)) line(label, String(text));
  for (const { window, left, limit } of budgetRows(budget)) line(`this ${window}`, `${left} of ${limit} requests left`);
  const held = heldUntil(budget);
  if (held !== null) line('held', `the source said to wait until ${minute(held)}`);
  line(`last ${successOf(name)}`, minute(record?.lastSuccessAt));
  if (record) line('looks', looksText(record.looks));
  if (name === 'courtlistener') {
    const { received = 0, applied, lastReceivedAt } = record?.webhooks ?? {};
    const outcomes = Object.entries(applied ?? {}).filter(([, count]) => count > 0);
    const became = outcomes.map(([outcome, count]) => `${count} ${outcome}`).join(', ');
    line(
      'webhooks',
      received === 0 ? 'none received' : `${received} received, the last ${minute(lastReceivedAt)}; ${became}`,
    );
    line('alerts', `${alerts.length} of ${sources.courtListener.alerts}`);
    for (const { sourceCaseId, why, at } of record?.alertsLost ?? []) {
      line('alert lost', `of docket ${sourceCaseId}, ${minute(at)}: ${why}`);
    }
  }
  if (fresh) for (const [label, text] of freshnessLines(fresh)) line(label, text);
  for (const court of inTrouble.slice(0, MOST_SHOWN)) line(court.court, courtText(court));
  if (inTrouble.length > MOST_SHOWN) line('', `and ${inTrouble.length - MOST_SHOWN} more courts: --json has all`);
}

function settingsOf(name: LiveSourceName, { courtListener, rss, scotus }: Config['sources']): Record<string, unknown> {
  if (name === 'courtlistener') {
    const webhookSecret = courtListener.webhookSecret === null ? 'not set: no webhooks are accepted' : 'set';
    return { url: courtListener.url, rates: writtenRates(courtListener.rates), 'webhook secret': webhookSecret };
  }
  if (name === 'rss') return { url: rss.url ?? "the courts' own addresses", keeps: rss.keepsAll ? 'all' : 'watched' };
  return { url: scotus.url ?? "the Court's own address" };
}

const courtText = ({ paused, standing }: SourceCourt): string => {
  if (paused) return `PAUSED since ${minute(paused.since)} by ${paused.by}: ${paused.reason}`;
  return standing
    ? `${standing.standing} since ${minute(standing.since)}${standing.why ? `: ${standing.why}` : ''}`
    : 'working';
};

const shownCourt = ({ court, paused, standing, looks, lastSuccessAt, lastLookAt }: SourceCourt) => ({
  court,
  standing: standing?.standing ?? 'working',
  why: standing?.why ?? null,
  since: standing?.since ?? null,
  paused,
  looks,
  last_success_at: lastSuccessAt,
  last_look_at: lastLookAt,
});

async function showCourt(
  { readStore }: Storage,
  context: CliContext,
  source: LiveSource,
  code: string,
  json: boolean,
): Promise<void> {
  const { name } = source;
  const court = courtNamed(code);
  const record = (await courtsOfSource(readStore, name)).get(court.code) ?? null;
  const isConfigured = source.courts.includes(court.code);
  if (record === null && !isConfigured) {
    const hint = SET_COURT[name](court.code);
    throw new CliError(`${name} has no ${court.code} here.`, hint, EXIT.found);
  }
  const feed = name === 'rss' ? await feedOf(readStore, court.code) : null;
  if (json) {
    printJson(context, {
      source: name,
      configured: isConfigured,
      ...(record ? shownCourt(record) : { court: court.code, standing: 'working', looks: null }),
      ...(name === 'rss' && { feed }),
    });
    return;
  }
  const line = (label: string, text: string) => print(context, `${label.padEnd(14)} ${text}`);
  const text = record ? courtText(record) : 'working';
  line(`${name} ${court.code}`, isConfigured ? text : `not configured here; the last record: ${text}`);
  // What holds for the source holds for each court of it.
  if (source.record && isTroubled(source.record)) line(`all of ${name}`, standingText(source));
  line(`last ${successOf(name)}`, minute(record?.lastSuccessAt));
  if (record) line('looks', looksText(record.looks));
  if (name !== 'rss') return;
  if (feed === null) {
    line('feed', 'never read');
    return;
  }
  line('feed has', feed.event_types === '' ? 'the feed does not say' : feed.event_types);
  line('feed read', `${minute(feed.read_at)}, next ${minute(feed.next_at)}`);
  line('feed built', feed.built_at === null ? 'the feed does not say' : minute(feed.built_at));
  line('feed moved', minute(feed.moved_at));
  line('feed window', `${feed.items} items over ${(feed.window_seconds / 3600).toFixed(1)} hours`);
  line('not watched', `${feed.unknown_items} items of cases that nobody asked for, in two days`);
  if (feed.failures > 0) line('failures', `${feed.failures} in a row, the last: ${feed.fault ?? 'unknown'}`);
}

/** What the last reading of a feed has left. */
async function feedOf(readStore: Storage['readStore'], court: string) {
  const { version, memory } = await readMemory(readStore, court);
  if (version === 0) return null;
  const at = (micros: number | null) => (micros === null ? null : toInstant(micros));
  return {
    event_types: memory.types,
    read_at: at(memory.lookedAt),
    built_at: at(memory.builtAt),
    moved_at: at(memory.movedAt),
    next_at: at(memory.nextAt),
    window_seconds: Math.round(memory.window / MICROS_PER_SECOND),
    items: memory.count,
    unknown_items: memory.passed.size,
    failures: memory.failures,
    fault: memory.fault,
  };
}
