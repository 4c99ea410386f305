/** `docket deliveries retry` and `cancel`: one more attempt, or none, of deliveries named by id or by filter. */
import { type Command, Option } from 'commander';
import { isRejection } from '../../commands/decider.ts';
import {
  type DeliveryCommand,
  type DeliveryRejection,
  type DeliveryStatus,
  delivery,
  type ScheduledDelivery,
} from '../../commands/delivery/delivery.ts';
import { handleWithRetry } from '../../commands/handle.ts';
import { deliveryStream } from '../../events/delivery.ts';
import { FailureClass } from '../../events/failure-class.ts';
import { deliveries } from '../../projections/deliveries.ts';
import { type Instant, parseTimestamp, systemClock, toInstant } from '../../runtime/instant.ts';
import { pause } from '../../runtime/pause.ts';
import type { CommandContext } from '../../storage/event-log.ts';
import type { Storage } from '../../storage/storage.ts';
import { type CliContext, CliError, EXIT, FoundWrong, note, print, printJson } from '../command.ts';
import { isConfirmed } from '../confirmation.ts';
import { startCopyProgress } from '../copies/copy-progress.ts';
import { noteIfIncomplete } from '../list-completeness.ts';
import { type ActOptions, actContext, type OperatorAct, readAct, withActOptions } from '../operator-act.ts';
import { withStorage } from '../service-storage.ts';
import type { OpenDeliveryStorage } from './deliveries.ts';
import { type FilterOptions, filterText, isFiltered, PackedIds, selected } from './selection.ts';

interface BulkOptions extends ActOptions, FilterOptions {
  readonly notSince?: string;
  readonly yes?: true;
  readonly dryRun?: true;
  readonly json?: true;
}

interface Act {
  readonly name: 'retry' | 'cancel';
  /** Which statuses can be chosen, and which are meant if none is. */
  readonly statuses: readonly DeliveryStatus[];
  readonly meant: readonly DeliveryStatus[];
  readonly question: (count: string) => string;
  /** What was done, and what was not because there was nothing to do. */
  readonly done: string;
  readonly idle: string;
  command(act: OperatorAct, options: BulkOptions): DeliveryCommand;
}

const RETRY: Act = {
  name: 'retry',
  statuses: ['failed', 'cancelled', 'retrying', 'succeeded'],
  meant: ['failed'],
  question: (count) => `Request one more attempt of ${count}?`,
  done: 'requested',
  idle: 'requested already',
  command: (act, { notSince }) => ({
    type: 'RequestRedelivery',
    now: systemClock.now(),
    ...act,
    ...(notSince !== undefined && { unlessSince: readTime(notSince) }),
  }),
};

const CANCEL: Act = {
  name: 'cancel',
  statuses: ['pending', 'retrying'],
  meant: ['pending', 'retrying'],
  question: (count) => `Cancel ${count}, so that no attempt follows?`,
  done: 'cancelled',
  idle: 'over already',
  command: (act) => ({ type: 'Cancel', now: systemClock.now(), ...act }),
};

const AT_ONCE = 16;
/** Longer than an attempt may take. */
const UNDER_WAY_MS = 12_000;
const LOOK_AGAIN_MS = 250;

const FILTER_HELP = `
Without ids, the filters select deliveries. Their number is shown first; on a terminal you are asked, elsewhere add --yes.
A run that was interrupted can be repeated: what is done already stays as it is.`;

export function addRetry(group: Command, context: CliContext, open: OpenDeliveryStorage): void {
  withFilters(group.command('retry'), RETRY, context, open)
    .description('Request one more attempt of deliveries, by id or by filter; without --status, of failed ones.')
    .option('--not-since <time>', 'leave out what was requested at this time or later: to repeat an interrupted run')
    .addHelpText(
      'after',
      `${FILTER_HELP}

Examples:
  $ docket deliveries retry 6f9d2c1e-5a34-4b8e-9c3d-2f1a7b6c5d4e --reason "the receiver is fixed"
  $ docket deliveries retry --host receiver.example --failure-class http_5xx --dry-run --reason "ticket 4711"
  $ docket deliveries retry --host receiver.example --from 2026-03-01T00:00:00Z --yes --reason "ticket 4711"`,
    );
}

export function addCancel(group: Command, context: CliContext, open: OpenDeliveryStorage): void {
  withFilters(group.command('cancel'), CANCEL, context, open)
    .description('End deliveries that still have an attempt to come, by id or by filter.')
    .addHelpText(
      'after',
      `${FILTER_HELP}
An attempt under way ends first. By id, a requested redelivery is cancelled as well.

Examples:
  $ docket deliveries cancel 6f9d2c1e-5a34-4b8e-9c3d-2f1a7b6c5d4e --reason "its owner asked"
  $ docket deliveries cancel --host gone.example --yes --reason "the receiver is gone for good"`,
    );
}

const withFilters = (command: Command, act: Act, context: CliContext, open: OpenDeliveryStorage): Command =>
  withActOptions(command)
    .argument('[delivery...]', 'delivery ids')
    .addOption(new Option('--status <status>', 'filter by status').choices(act.statuses))
    .option('--host <host>', 'filter by receiver: scheme, host and port, or the host alone')
    .option('--wallet <address>', 'filter by wallet')
    .option('--court <code>', 'filter by court')
    .option('--from <time>', 'created at this time or later, e.g. 2026-03-01T00:00:00Z')
    .option('--to <time>', 'created at this time or earlier')
    .addOption(
      new Option('--failure-class <class>', 'filter by how the last attempt failed').choices(FailureClass.options),
    )
    .option('--yes', 'do not ask')
    .option('--dry-run', 'only show how many match')
    .option('--json', 'JSON: one object per id, or one for a filter')
    .action((ids: readonly string[], options: BulkOptions) =>
      withStorage(open, context, (storage) => run(storage, context, act, ids, options)),
    );

async function run(
  storage: Storage,
  context: CliContext,
  act: Act,
  ids: readonly string[],
  options: BulkOptions,
): Promise<void> {
  const command = () => act.command(readAct(options), options);
  command();
  if (ids.length > 0 && isFiltered(options)) {
    throw new CliError('Ids and filters cannot be combined.', 'Give the ids alone, or only filters.');
  }
  if (ids.length > 0) await eachById(storage, context, act, ids, { command, ...options });
  else if (isFiltered(options)) await allSelected(storage, context, act, options, command);
  else
    throw new CliError(
      'No delivery is named.',
      `Give ids, or a filter such as --status ${act.meant[0]} or --host HOST.`,
    );
}

type Done =
  | { readonly state: ScheduledDelivery; readonly isChanged: boolean }
  | { readonly rejected: DeliveryRejection };

async function perform(log: Storage['log'], id: string, command: DeliveryCommand, run: CommandContext): Promise<Done> {
  const outcome = await handleWithRetry({ log, clock: systemClock }, delivery, deliveryStream(id), command, run);
  if (isRejection(outcome)) return outcome as { readonly rejected: DeliveryRejection };
  if (outcome.state.status === 'none') return { rejected: 'not_scheduled' };
  return { state: outcome.state, isChanged: outcome.events.length > 0 };
}

/** As `perform`, but waits for an attempt under way, which ends within seconds. */
async function performAfterAttempt(
  log: Storage['log'],
  id: string,
  command: () => DeliveryCommand,
  run: CommandContext,
) {
  const until = performance.now() + UNDER_WAY_MS;
  for (;;) {
    const done = await perform(log, id, command(), run);
    if (!('rejected' in done) || done.rejected !== 'attempt_under_way' || performance.now() > until) return done;
    await pause(LOOK_AGAIN_MS, new AbortController().signal);
  }
}

async function eachById(
  { log }: Storage,
  context: CliContext,
  act: Act,
  ids: readonly string[],
  { command, json, dryRun }: Pick<BulkOptions, 'json' | 'dryRun'> & { readonly command: () => DeliveryCommand },
): Promise<void> {
  if (dryRun)
    throw new CliError('--dry-run works only with filters.', 'Look at deliveries with docket deliveries show ID.');
  const context_ = actContext();
  let [unknown, underWay] = [0, 0];
  for (const id of new Set(ids)) {
    const done = await performAfterAttempt(log, id, command, context_);
    const found = !('rejected' in done) || done.rejected !== 'not_scheduled';
    if (!found) unknown++;
    else if ('rejected' in done) underWay++;
    if (json) printJson(context, { deliveryId: id, found, ...factsOf(act, done) });
    else print(context, `${id}: ${found ? lineOf(act, done) : 'not found'}`);
  }
  if (unknown > 0)
    throw new FoundWrong(`${unknown} of ${ids.length} deliveries not found.`, 'Find ids with docket deliveries list.');
  if (underWay > 0) throw stillUnderWay(underWay);
}

const stillUnderWay = (count: number): CliError =>
  new FoundWrong(`${count} had an attempt under way all the time.`, 'Run the same command again in a minute.');

function factsOf({ name }: Act, done: Done) {
  if (name === 'cancel') return { cancelled: !('rejected' in done) && done.isChanged };
  return { askedAt: 'rejected' in done ? null : (done.state.redelivery?.requestedAt ?? null) };
}

function lineOf({ name, idle }: Act, done: Done): string {
  if ('rejected' in done) return 'an attempt is under way';
  if (name === 'cancel') return done.isChanged ? 'cancelled' : `${idle} (${done.state.status})`;
  const { redelivery } = done.state;
  return redelivery ? `requested at ${redelivery.requestedAt}` : 'requested before, and attempted since';
}

async function allSelected(
  storage: Storage,
  context: CliContext,
  act: Act,
  options: BulkOptions,
  command: () => DeliveryCommand,
): Promise<void> {
  const startedAt = toInstant(systemClock.now());
  const ids = new PackedIds();
  const finding = startCopyProgress(context);
  for await (const id of selected(storage.readStore, options, act.meant)) {
    ids.add(id);
    if (context.interactive && ids.size % 500 === 0) finding.onProgress('deliveries found', ids.size, null);
  }
  if (context.interactive && ids.size > 500) finding.end();
  const count = counted(ids.size);
  const text = `${count} match: ${filterText(options, options.status ? [options.status] : act.meant)}.`;
  await noteIfIncomplete(context, storage, deliveries);
  if (options.dryRun || ids.size === 0) {
    if (options.json) printJson(context, { matched: ids.size });
    else print(context, text);
    return;
  }
  note(context, text);
  if (!options.yes && !(await isConfirmed(context, act.question(count)))) {
    throw new CliError(
      'Nothing was done.',
      'Add --yes to act without being asked, or --dry-run to see only the number.',
    );
  }
  if (act.name === 'retry')
    note(context, `If this is interrupted, repeat it with --not-since ${options.notSince ?? startedAt}`);
  const { changed, idle, underWay, unknown } = await actOnAll(storage.log, context, act, ids, command);
  if (options.json) printJson(context, { matched: ids.size, [act.done]: changed, unchanged: idle, underWay, unknown });
  else print(context, `${changed.toLocaleString('en')} ${act.done}, ${idle.toLocaleString('en')} ${act.idle}.`);
  if (underWay > 0) throw stillUnderWay(underWay);
  if (unknown > 0) {
    const hint = 'The read model shows deliveries that the log does not have: run docket doctor.';
    throw new CliError(`${unknown} are not in the log.`, hint, EXIT.found);
  }
}

async function actOnAll(
  log: Storage['log'],
  context: CliContext,
  act: Act,
  ids: PackedIds,
  command: () => DeliveryCommand,
) {
  const run = actContext();
  const tally = { changed: 0, idle: 0, underWay: 0, unknown: 0 };
  const progress = startCopyProgress(context);
  const left = ids[Symbol.iterator]();
  const waiting: string[] = [];
  let seen = 0;
  const note = (done: Done): void => {
    if (!('rejected' in done)) tally[done.isChanged ? 'changed' : 'idle']++;
    else tally[done.rejected === 'not_scheduled' ? 'unknown' : 'underWay']++;
  };
  const work = async (): Promise<void> => {
    for (let next = left.next(); !next.done; next = left.next()) {
      const done = await perform(log, next.value, command(), run);
      if ('rejected' in done && done.rejected === 'attempt_under_way') waiting.push(next.value);
      else note(done);
      progress.onProgress(act.done, ++seen, ids.size);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  progress.end();
  // Attempts that were under way have ended by now, or end within seconds.
  for (const id of waiting) note(await performAfterAttempt(log, id, command, run));
  return tally;
}

const counted = (count: number): string => `${count.toLocaleString('en')} ${count === 1 ? 'delivery' : 'deliveries'}`;

function readTime(text: string): Instant {
  const instant = parseTimestamp(text);
  if (instant) return instant;
  throw new CliError(`--not-since is not a timestamp: ${text}`, 'Give the time that the interrupted run has shown.');
}
