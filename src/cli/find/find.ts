/** `docket find`: what an id is, whatever it is, and everything that belongs to it. */
import { cases } from '../../projections/cases.ts';
import { deliveries } from '../../projections/deliveries.ts';
import { operatorActs } from '../../projections/operator-acts.ts';
import { payments } from '../../projections/payments.ts';
import type { Projection } from '../../projections/projection.ts';
import { wallets } from '../../projections/wallets.ts';
import { type FoundThing, findThing, scanForEvent } from '../../queries/find-thing.ts';
import { type NamedThing, namedThing } from '../../queries/named-thing.ts';
import { systemClock } from '../../runtime/instant.ts';
import type { Storage } from '../../storage/storage.ts';
import { findNamedCase } from '../cases/cases.ts';
import { type AddCommand, type CliContext, CliError, EXIT, note, print, printJson } from '../command.ts';
import { noteIfIncomplete } from '../list-completeness.ts';
import { startReadingProgress } from '../reading-progress.ts';
import { openServiceStorage, withStorage } from '../service-storage.ts';
import { caseJson, caseLines, thingJson, thingLines } from './lines.ts';

const FORMS =
  'Give the id of a request, payment (64 hex digits), transaction, delivery, result, event or wallet; a host; or a court and a case number.';
/** How many events of a request a scan lists. */
const MOST_EVENTS = 50;

const HELP = `
Finds by index, so it is quick on a log of any size. Only ids of events have no index: with --scan, what is not found
otherwise is searched in the whole log, which takes about a second for each 100,000 events. The secret part of a
result's id is neither checked nor shown, and queries of callback URLs are never shown.

Reads the state in DATA_DIR, or in the configured engines. The service may be running or stopped.

Examples:
  $ docket find 6f9d2c1e-5a34-4b8e-9c3d-2f1a7b6c5d4e
  $ docket find 7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU
  $ docket find cand 3:24-cv-00042
  $ docket find hooks.example.com --json
  $ docket find 0b0f4f6e-0a5c-5f0e-8c9e-6a6f0d1c2b3a --scan`;

interface FindOptions {
  readonly scan?: true;
  readonly json?: true;
}

export const createFindCommand =
  (open: (environment: NodeJS.ProcessEnv) => Promise<Storage>): AddCommand =>
  (program, context) => {
    program
      .command('find')
      .description('Find anything by its id: a request, payment, transaction, delivery, event, case, wallet, host.')
      .argument('<id...>', 'an id or a host; or a court and a case number')
      .option('--scan', 'read the whole log for the id of an event')
      .option('--json', 'one JSON object per line')
      .addHelpText('after', HELP)
      .action((words: string[], options: FindOptions) => {
        const named = namedThing(words);
        if (named === null)
          throw new CliError(
            `${JSON.stringify(words.join(' ').slice(0, 128))} is not an id that the service uses.`,
            FORMS,
          );
        if (options.scan && named.kind !== 'uuid')
          throw new CliError('--scan works only with ids of events.', 'Leave --scan out: this is found by index.');
        return withStorage(open, context, (storage) => find(storage, context, named, options));
      });
  };

/** The command on the storage that the service uses. */
export const addFindCommand: AddCommand = createFindCommand((environment) =>
  openServiceStorage(environment, 'Set DATA_DIR to the data folder of the service.'),
);

async function find(storage: Storage, context: CliContext, named: NamedThing, options: FindOptions): Promise<void> {
  if (named.kind === 'case') {
    const found = await findNamedCase(storage, named.court, named.number);
    if (options.json) printJson(context, caseJson(found));
    else for (const line of caseLines(found)) print(context, line);
    return noteIfIncomplete(context, storage, cases);
  }
  let found = await findThing(storage, named, systemClock.now());
  if (found.length === 0 && named.kind === 'uuid' && options.scan) found = await scanned(storage, context, named.id);
  for (const [index, thing] of found.entries()) {
    if (options.json) printJson(context, await thingJson(storage, thing));
    else {
      if (index > 0) print(context, '');
      for (const line of await thingLines(storage, thing)) print(context, line);
    }
  }
  if (found.length === MOST_EVENTS && found[0]?.kind === 'event')
    note(context, `The first ${MOST_EVENTS} events of this request are listed.`);
  for (const projection of READ_BY[named.kind]) await noteIfIncomplete(context, storage, projection);
  if (found.length === 0) throw nothing(named, options);
}

/** The read models that know of such a thing. */
const READ_BY: Readonly<Record<Exclude<NamedThing['kind'], 'case'>, readonly Projection<never>[]>> = {
  uuid: [payments, deliveries],
  payment: [],
  transaction: [payments],
  result: [payments],
  delivery: [deliveries],
  wallet: [wallets],
  host: [deliveries, operatorActs],
};

async function scanned({ log }: Storage, context: CliContext, id: string): Promise<readonly FoundThing[]> {
  const progress = startReadingProgress(context, log);
  try {
    return await scanForEvent(progress.log, id, MOST_EVENTS);
  } finally {
    progress.end();
  }
}

function nothing(named: Exclude<NamedThing, { kind: 'case' }>, { scan }: FindOptions): CliError {
  const what = {
    uuid: `No request${scan ? ', delivery or event' : ' or delivery'} has this id.`,
    payment: 'There is no payment with this hash.',
    transaction: 'No payment was made with this transaction.',
    delivery: 'There is no such delivery.',
    result: 'No answer was sold with this id.',
    wallet: 'This wallet has never presented a payment.',
    host: 'No callback was ever scheduled for this host.',
  }[named.kind];
  const hint =
    named.kind === 'uuid' && !scan
      ? 'If it is the id of an event, or of a request whose payment another request used later, add --scan: that reads the whole log.'
      : 'Requests that were refused before their payment was recorded leave no record. docket deliveries list and docket wallets list show what there is.';
  return new CliError(what, hint, EXIT.found);
}
