/** `docket sources courtlistener`: alerts of single cases, and those in force. */
import type { Command } from 'commander';
import { load } from '../../commands/handle.ts';
import { alert } from '../../commands/source/alert.ts';
import { partOfSource, source as sourceRules } from '../../commands/source/source.ts';
import { type Config, readConfig } from '../../config.ts';
import type { CaseNumber, Court } from '../../courts/court.ts';
import { sourceStream } from '../../events/source.ts';
import { createSourceCases } from '../../processes/sources/source-cases.ts';
import { decideAlert, type SubscribeOutcome, subscribeTo } from '../../processes/sources/subscribe.ts';
import { sourceRecords } from '../../projections/source-records.ts';
import { alertsOfSource } from '../../queries/live-sources.ts';
import { systemClock } from '../../runtime/instant.ts';
import { outgoingOf } from '../../service/outgoing.ts';
import { createDocketAlerts } from '../../sources/courtlistener/alerts.ts';
import { type CourtListenerClient, createCourtListenerClient, isFault } from '../../sources/courtlistener/client.ts';
import { isOnCourtListener } from '../../sources/courtlistener/courts.ts';
import { lookUp } from '../../sources/courtlistener/lookup.ts';
import { createSourceHttp } from '../../sources/http/create-source-http.ts';
import { createSharedBudget } from '../../sources/shared-budget.ts';
import type { Fault } from '../../sources/source.ts';
import type { Storage } from '../../storage/storage.ts';
import { type CliContext, CliError, EXIT, print, printJson } from '../command.ts';
import { noteIfIncomplete } from '../list-completeness.ts';
import { caseNumberOf, courtNamed } from '../named-court.ts';
import { readBy } from '../operator-act.ts';
import { withStorage } from '../service-storage.ts';
import { assertNotForgotten } from './not-forgotten.ts';

type OpenStorage = (environment: NodeJS.ProcessEnv) => Promise<Storage>;

interface Options {
  readonly by?: string;
  readonly json?: true;
}

const NAME = 'courtlistener';

const HELP = {
  group: `
CourtListener pushes what is new in a docket only if the account has an alert for it. The service keeps alerts for watched cases by
itself, as far as COURTLISTENER_ALERTS goes; these commands are for cases that must have one.

Examples:
  $ docket sources courtlistener subscribe cand 4:25-cv-00100
  $ docket sources courtlistener alerts list`,
  subscribe: `
Costs one request of the budget, and up to three more for a case whose docket at CourtListener is not known yet. The alert stays until
you end it, also when nobody asks for the case any more, and is asked for again if CourtListener ends it.

Examples:
  $ docket sources courtlistener subscribe cand 4:25-cv-00100
  $ docket sources courtlistener subscribe nysb 26-70412 --by "Ann Lee" --json`,
  unsubscribe: `
The service does not subscribe to the case by itself again, even if it is watched.

Examples:
  $ docket sources courtlistener unsubscribe cand 4:25-cv-00100
  $ docket sources courtlistener unsubscribe nysb 26-70412 --by "Ann Lee" --json`,
  list: `
Works without a request: the list is what the log says. Once a day the service compares it with the account.

Examples:
  $ docket sources courtlistener alerts list
  $ docket sources courtlistener alerts list --json | jq .case_number`,
} as const;

export function addCourtListener(parent: Command, context: CliContext, open: OpenStorage): void {
  const group = parent
    .command(NAME)
    .description('Alerts at CourtListener, which pushes what is new in a docket.')
    .addHelpText('after', HELP.group);
  for (const type of ['subscribe', 'unsubscribe'] as const) {
    group
      .command(type)
      .description(type === 'subscribe' ? 'Subscribe to alerts for a case.' : 'End the alerts for a case.')
      .argument('<court>', 'court code')
      .argument('<case>', 'case number')
      .option('--by <name>', 'who decided it; recorded (default: the current user)')
      .option('--json', 'one JSON object')
      .addHelpText('after', HELP[type])
      .action((court: string, number: string, options: Options) =>
        withStorage(open, context, (storage) => change(storage, context, type, { court, number }, options)),
      );
  }
  group
    .command('alerts')
    .description('Alerts in force.')
    .addHelpText('after', '\nExample:\n  $ docket sources courtlistener alerts list')
    .command('list')
    .description('Alerts in force, with their case, since when, and who subscribed.')
    .option('--json', 'one JSON object per line')
    .addHelpText('after', HELP.list)
    .action((options: Options) => withStorage(open, context, (storage) => list(storage, context, options)));
}

async function list(storage: Storage, context: CliContext, { json }: Options): Promise<void> {
  await noteIfIncomplete(context, storage, sourceRecords);
  const alerts = await alertsOfSource(storage.readStore, NAME);
  for (const { sourceCaseId, alertId, court, caseNumber, by, since, renewedAt } of alerts) {
    if (json) {
      printJson(context, {
        docket_id: sourceCaseId,
        alert_id: alertId,
        court,
        case_number: caseNumber,
        by,
        since,
        renewed_at: renewedAt,
      });
    } else {
      const renewed = renewedAt === null ? '' : `, renewed ${renewedAt.slice(0, 10)}`;
      print(context, `${court} ${caseNumber}  docket ${sourceCaseId}, since ${since.slice(0, 10)}${renewed}, by ${by}`);
    }
  }
  if (alerts.length === 0 && !json) print(context, 'No alert is in force.');
}

async function change(
  storage: Storage,
  context: CliContext,
  type: 'subscribe' | 'unsubscribe',
  asked: { readonly court: string; readonly number: string },
  { by, json }: Options,
): Promise<void> {
  const actor = readBy(by);
  const court = courtNamed(asked.court);
  const number = caseNumberOf(court, asked.number);
  await assertNotPaused(storage, court);
  const client = openClient(storage, readConfig(context.environment));
  try {
    const results =
      type === 'subscribe'
        ? await subscribe(storage, client.client, { court, number, by: actor })
        : await unsubscribe(storage, client.client, { court, number, by: actor });
    const isChanged = results.some(({ changed }) => changed);
    if (json) {
      const dockets = results.map(({ docketId, changed }) => ({ docket_id: docketId, changed }));
      printJson(context, { court: court.code, case_number: number.canonical, changed: isChanged, dockets });
    } else for (const { said } of results) print(context, said);
  } finally {
    await client.close();
  }
}

interface Changed {
  readonly docketId: string | null;
  readonly changed: boolean;
  readonly said: string;
}

interface About {
  readonly court: Court;
  readonly number: CaseNumber;
  readonly by: string;
}

async function subscribe(storage: Storage, client: CourtListenerClient, about: About): Promise<readonly Changed[]> {
  const { court, number, by } = about;
  if (!isOnCourtListener(court)) {
    throw new CliError(
      `CourtListener has no dockets of ${court.code}.`,
      'See docket sources list for the sources and their courts.',
    );
  }
  await assertNotForgotten(storage, court, number.canonical);
  const ports = { log: storage.log, clock: systemClock, alerts: createDocketAlerts(client), actor: 'cli' };
  const changed: Changed[] = [];
  for (const docketId of await docketIds(storage, client, about)) {
    const wanted = { sourceCaseId: docketId, court: court.code, caseNumber: number.canonical, by };
    const outcome = await subscribeTo(ports, wanted, asking);
    changed.push({ docketId, ...saidOf(outcome, docketId) });
  }
  return changed;
}

const SAID = {
  new: 'has an alert now',
  found: 'had an alert already, which is recorded now',
  renewed: 'had an alert that was switched off; it is on again',
  before: 'has an alert already',
} as const;

/** @throws CliError if there is no alert */
function saidOf(outcome: SubscribeOutcome, docketId: string): Omit<Changed, 'docketId'> {
  const docket = `docket ${docketId}`;
  if (isFault(outcome)) throw refusedBy(outcome);
  if ('full' in outcome) {
    throw new CliError(
      'CourtListener allows this account no more alerts.',
      'End one with docket sources courtlistener unsubscribe, or raise the number at CourtListener and COURTLISTENER_ALERTS.',
      EXIT.unavailable,
    );
  }
  if ('refused' in outcome) {
    throw new CliError(
      `CourtListener has no alert for ${docket}: ${outcome.refused}`,
      'New entries still come by the feed of its court, and by looks at the case.',
    );
  }
  if ('declined' in outcome) throw new Error("an operator's subscription cannot be declined");
  return { changed: outcome.subscribed !== 'before', said: `${docket} ${SAID[outcome.subscribed]}.` };
}

async function unsubscribe(storage: Storage, client: CourtListenerClient, about: About): Promise<readonly Changed[]> {
  const { court, number, by } = about;
  const ports = { log: storage.log, clock: systemClock, actor: 'cli' };
  const changed: Changed[] = [];
  for (const docketId of await createSourceCases({ ...storage, clock: systemClock }, NAME).idsOf(
    court,
    number.canonical,
  )) {
    const { state } = await load(storage.log, alert, sourceStream.alert(NAME, docketId));
    if (state.alert === null) continue;
    const because = await createDocketAlerts(client).end(state.alert.alertId, asking);
    if (because) throw refusedBy(because);
    await decideAlert(ports, docketId, { type: 'End', alertId: state.alert.alertId, why: 'unsubscribed', by });
    changed.push({ docketId, changed: true, said: `docket ${docketId} has no alert any more.` });
  }
  if (changed.length > 0) return changed;
  return [{ docketId: null, changed: false, said: `${court.code} ${number.canonical} has no alert.` }];
}

/** Those that are known, or else those that CourtListener finds. @throws CliError if it has none */
async function docketIds(
  storage: Storage,
  client: CourtListenerClient,
  { court, number }: Omit<About, 'by'>,
): Promise<readonly string[]> {
  const cases = createSourceCases({ ...storage, clock: systemClock }, NAME);
  const known = await cases.idsOf(court, number.canonical);
  if (known.length > 0) return known;
  const found = await lookUp(client, court, number, asking);
  if (isFault(found)) throw refusedBy(found);
  if ('ambiguous' in found) {
    const numbers = found.ambiguous.map(({ caseNumber }) => caseNumber).join(', ');
    throw new CliError(`${number.canonical} may be several cases.`, `Give one of ${numbers}.`);
  }
  for (const { id, caseNumber } of found.dockets) await cases.found(id, court, caseNumber);
  if (found.dockets.length > 0) return found.dockets.map(({ id }) => id);
  throw new CliError(
    `CourtListener has no docket ${number.canonical} of ${court.code}.`,
    'Check the number. CourtListener has no docket of a case that was never bought on PACER or published.',
    EXIT.unavailable,
  );
}

const asking = { priority: 'watched', signal: new AbortController().signal } as const;

async function assertNotPaused({ log }: Storage, court: Court): Promise<void> {
  const { state } = await load(log, sourceRules, sourceStream.itself(NAME));
  for (const part of [null, court.code]) {
    const paused = state.paused.get(partOfSource(part));
    if (!paused) continue;
    throw new CliError(
      `courtlistener is paused${part === null ? '' : ` for ${part}`}, by ${paused.by}: ${paused.reason}`,
      'Resume it first: docket sources resume courtlistener --reason "…".',
      EXIT.unavailable,
    );
  }
}

function openClient(storage: Storage, config: Config) {
  const { courtListener, allowPrivate } = config.sources;
  const { token, url, rates } = courtListener;
  if (token === null) {
    throw new CliError('COURTLISTENER_TOKEN is not set.', 'Set it to the token of the account, as for the service.');
  }
  const http = createSourceHttp({
    ...outgoingOf(config),
    allowPrivate,
    refusedRanges: config.callbackNat64Prefixes,
  });
  const budget = createSharedBudget({ readStore: storage.readStore, clock: systemClock, name: NAME, rates });
  const logger = { error: () => undefined };
  return {
    client: createCourtListenerClient({ http, budget, clock: systemClock, url, token, logger }),
    close: () => http.close(),
  };
}

function refusedBy({ fault, reason, retryAt }: Fault): CliError {
  const when = retryAt === null ? 'Try again later.' : `Try again after ${new Date(retryAt / 1000).toISOString()}.`;
  const hint = fault === 'unauthorised' ? 'Check COURTLISTENER_TOKEN.' : when;
  return new CliError(
    `CourtListener was not asked, or its answer could not be used (${fault}): ${reason}`,
    hint,
    EXIT.unavailable,
  );
}
