/** `docket hosts`: the receivers of callbacks; pauses one that is down, and resumes it. */
import { isRejection } from '../../commands/decider.ts';
import { handleWithRetry } from '../../commands/handle.ts';
import { type HostCommand, host } from '../../commands/host/host.ts';
import { hostSubject, operatorStream } from '../../events/operator.ts';
import { deliveries } from '../../projections/deliveries.ts';
import { operatorActs } from '../../projections/operator-acts.ts';
import { type CallbackHost, callbackHost, callbackHosts, MOST_COUNTED } from '../../queries/callback-hosts.ts';
import { systemClock } from '../../runtime/instant.ts';
import type { Storage } from '../../storage/storage.ts';
import { type AddCommand, type CliContext, CliError, note, print, printJson } from '../command.ts';
import { noteIfIncomplete } from '../list-completeness.ts';
import { type ActOptions, actContext, readAct, withActOptions } from '../operator-act.ts';
import { openServiceStorage, withStorage } from '../service-storage.ts';
import { counted, second } from '../status/text.ts';
import { textTable } from '../text-table.ts';
import { oneOrigin, unseenOrigin } from './callback-hosts.ts';

const DEFAULT_TOP = '20';

const HELP = `
Reads the state in DATA_DIR, or in the configured engines. The service may be running or stopped.
A host is scheme, host and port, such as https://receiver.example:8443; the host alone will do if it is unambiguous.
With its scheme, a host can be paused before its first callback.
No callback to a paused host is attempted, and none of the seven attempts is used up. Running nodes know within a second.
When the host is resumed, each callback that was due meanwhile is attempted, one after the other.

Examples:
  $ docket hosts list
  $ docket hosts pause receiver.example --reason "its owner is moving it"
  $ docket hosts resume receiver.example --reason "it is up again"`;

/** Opens the storage that the service uses. */
export type OpenHostStorage = (environment: NodeJS.ProcessEnv) => Promise<Storage>;

interface ListOptions {
  readonly top: string;
  readonly json?: true;
}
interface ActingOptions extends ActOptions {
  readonly json?: true;
}

export const createHostsCommand =
  (open: OpenHostStorage): AddCommand =>
  (program, context) => {
    const group = program
      .command('hosts')
      .description('The receivers of callbacks: list them; pause one that is down; resume it.')
      .addHelpText('after', HELP);
    group
      .command('list')
      .description('List paused hosts, then those with the most open callbacks.')
      .option('--top <count>', 'how many hosts that are not paused', DEFAULT_TOP)
      .option('--json', 'one JSON object per line')
      .addHelpText('after', '\nExamples:\n  $ docket hosts list --top 5\n  $ docket hosts list --json')
      .action((options: ListOptions) => withStorage(open, context, (storage) => list(storage, context, options)));
    for (const type of ['Pause', 'Resume'] as const) {
      const name = type.toLowerCase();
      withActOptions(group.command(name))
        .description(type === 'Pause' ? 'Attempt no callback to a host.' : 'Attempt callbacks to a paused host again.')
        .argument('<host>', 'scheme, host and port, or the host alone')
        .option('--json', 'one JSON object')
        .addHelpText('after', `\nExample:\n  $ docket hosts ${name} https://receiver.example --reason "ticket 4711"`)
        .action((named: string, options: ActingOptions) =>
          withStorage(open, context, (storage) => change(storage, context, type, named, options)),
        );
    }
  };

/** The command on the storage that the service uses. */
export const addHostsCommand: AddCommand = createHostsCommand((environment) =>
  openServiceStorage(environment, 'Set DATA_DIR to the data folder of the service.'),
);

async function list(storage: Storage, context: CliContext, { top, json }: ListOptions): Promise<void> {
  if (!/^[1-9]\d{0,3}$/.test(top)) throw new CliError(`--top ${top} is not a number.`, 'Give 1 to 9999.');
  const { hosts, more } = await callbackHosts(storage.readStore, systemClock.now(), Number(top));
  if (json) for (const one of hosts) printJson(context, { ...one, success_rate: rateOf(one) });
  else if (hosts.length === 0) print(context, 'No callback is open, and no host is paused.');
  else {
    const head = ['HOST', 'OPEN', 'DUE', 'OVERDUE', 'OLDEST DUE', 'LAST OUTCOME', '7 DAYS', 'PAUSED'];
    for (const line of textTable(head, hosts.map(cellsOf))) print(context, line);
    for (const { origin, paused } of hosts) {
      if (paused) print(context, `${origin} was paused ${second(paused.since)} by ${paused.by}: ${paused.reason}`);
    }
    if (more) print(context, `More hosts have open callbacks; --top shows more.`);
  }
  for (const projection of [deliveries, operatorActs]) await noteIfIncomplete(context, storage, projection);
}

const atMost = (count: number): string => (count >= MOST_COUNTED ? `${MOST_COUNTED}+` : String(count));

/** Between 0 and 1; null if no callback of the last days was attempted. */
const rateOf = ({ acknowledged, unsuccessful }: CallbackHost): number | null =>
  acknowledged + unsuccessful === 0 ? null : acknowledged / (acknowledged + unsuccessful);

function cellsOf(one: CallbackHost): readonly string[] {
  const { origin, open, due, overdue, oldestDueAt, lastOutcome, paused } = one;
  const rate = rateOf(one);
  return [
    origin,
    String(open),
    atMost(due),
    atMost(overdue),
    oldestDueAt === null ? '-' : second(oldestDueAt),
    lastOutcome === null ? '-' : (lastOutcome.failureClass ?? 'acknowledged'),
    rate === null ? '-' : `${Math.round(rate * 100)}%`,
    paused ? 'yes' : 'no',
  ];
}

async function change(
  { log, readStore }: Storage,
  context: CliContext,
  type: HostCommand['type'],
  named: string,
  { json, ...options }: ActingOptions,
): Promise<void> {
  const act = readAct(options);
  // Maintenance of a new receiver may be announced before its first callback.
  const unseen = type === 'Pause' ? await unseenOrigin(readStore, named) : null;
  const origin = unseen ?? (await oneOrigin(readStore, named));
  if (unseen !== null) note(context, `No callback was ever sent to ${origin}; check its spelling.`);
  const outcome = await handleWithRetry(
    { log, clock: systemClock },
    host,
    operatorStream(hostSubject(origin)),
    { type, origin, ...act },
    actContext(),
  );
  if (isRejection(outcome)) throw new Error('no rule rejects it');
  const isChanged = outcome.events.length > 0;
  const { paused } = outcome.state;
  const { open } = await callbackHost(readStore, systemClock.now(), origin, {});
  if (json) printJson(context, { origin, changed: isChanged, paused, open });
  else if (paused) {
    const already = `${origin} was paused already, by ${paused.by}: ${paused.reason}`;
    print(context, isChanged ? `${origin} is paused, with ${counted(open, 'open callback')} waiting.` : already);
  } else
    print(
      context,
      isChanged ? `${origin} is resumed, with ${counted(open, 'open callback')}.` : `${origin} is not paused.`,
    );
}
