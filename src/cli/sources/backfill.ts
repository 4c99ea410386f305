/** `docket sources backfill`: has known cases looked at from their beginning; follows it, lists orders, cancels one. */
import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { isRejection } from '../../commands/decider.ts';
import { handleWithRetry } from '../../commands/handle.ts';
import { backfill } from '../../commands/source/backfill.ts';
import { type Config, readConfig } from '../../config.ts';
import type { Court } from '../../courts/court.ts';
import { courts } from '../../courts/registry.ts';
import { sourceStream } from '../../events/source.ts';
import { BACKFILL_LEASE, type BackfillProgress, backfillProgress } from '../../processes/sources/backfill.ts';
import { watchedCases } from '../../projections/watched-cases.ts';
import { systemClock } from '../../runtime/instant.ts';
import { pause } from '../../runtime/pause.ts';
import { askableCoverage } from '../../sources/coverage.ts';
import type { Storage } from '../../storage/storage.ts';
import { type CliContext, CliError, EXIT, FoundWrong, note, print, printJson } from '../command.ts';
import { CATCH_UP_HINT, noteIfIncomplete, showsEverything } from '../list-completeness.ts';
import { courtNamed } from '../named-court.ts';
import { actContext, type OperatorAct, readAct } from '../operator-act.ts';
import { withStorage } from '../service-storage.ts';
import { whenStopped } from '../when-stopped.ts';

type OpenStorage = (environment: NodeJS.ProcessEnv) => Promise<Storage>;

interface BackfillOptions {
  readonly courts?: string;
  readonly since?: string;
  readonly reason?: string;
  readonly by?: string;
  readonly list?: true;
  readonly cancel?: string;
  readonly follow?: string;
  readonly detach?: true;
  readonly json?: true;
}

const HELP = `
Without --since: each known case of these courts that no live source has shown whole. With it: each known case with a filing or change
since that day. The running service does it with the budget that paid queries and watched cases leave, one order after the other, and
continues after a restart. The command shows its progress; Ctrl-C ends only that. Unknown cases are found by queries,
feeds and imports: no source lists them.

Examples:
  $ docket sources backfill --courts cand,ca9 --reason "imported from files in March"
  $ docket sources backfill --since 2026-03-01 --reason "the source was down" --detach
  $ docket sources backfill --list
  $ docket sources backfill --follow 3f6c0a4b --json
  $ docket sources backfill --cancel 3f6c0a4b --reason "too expensive"`;

export function addBackfill(group: Command, context: CliContext, open: OpenStorage): void {
  group
    .command('backfill')
    .description('Look at known cases from their beginning; follow, list or cancel backfills.')
    .option('--courts <list>', 'court codes, separated by commas (default: every court of a source)')
    .option('--since <day>', 'only cases with a filing or change since this day, e.g. 2026-03-01')
    .option('--reason <text>', 'why; recorded in the log. Needed to order and to cancel')
    .option('--by <name>', 'who decided it; recorded (default: the current user)')
    .option('--detach', 'return once it is ordered')
    .option('--follow <id>', 'follow an order that was given before')
    .option('--cancel <id>', 'end an order; what was looked at stays')
    .option('--list', 'show all orders with their progress')
    .option('--json', 'one JSON object per line')
    .addHelpText('after', HELP)
    .action((options: BackfillOptions) =>
      withStorage(open, context, (storage) => run(storage, context, readConfig(context.environment), options)),
    );
}

async function run(storage: Storage, context: CliContext, config: Config, options: BackfillOptions): Promise<void> {
  assertOneMode(options);
  const desk = { sourcesFor: askableCoverage(config.sources) };
  const orders = () => backfillProgress(storage.readStore, desk);
  if (options.list) {
    list(await orders(), context, options.json === true);
    await noteIfIncomplete(context, storage, watchedCases);
    return;
  }
  if (options.cancel !== undefined) {
    await cancel(storage, context, await orderNamed(storage, options.cancel, orders), options);
    return;
  }
  const id =
    options.follow === undefined
      ? await order(storage, context, desk.sourcesFor, options)
      : (await orderNamed(storage, options.follow, orders)).backfillId;
  if (!options.detach) await follow(storage, context, id, orders, options.json === true);
}

function assertOneMode({
  courts: list,
  since,
  detach,
  list: isList,
  cancel: id,
  follow: followed,
}: BackfillOptions): void {
  const modes = [isList && '--list', id !== undefined && '--cancel', followed !== undefined && '--follow'].filter(
    Boolean,
  );
  const isOrder = list !== undefined || since !== undefined || detach === true;
  if (modes.length + Number(isOrder) <= 1) return;
  throw new CliError(
    `${modes.join(' and ')} cannot be combined${isOrder ? ' with --courts, --since and --detach' : ''}.`,
    'See docket sources backfill --help.',
  );
}

const readReason = ({ reason, by }: BackfillOptions): OperatorAct => {
  if (reason !== undefined) return readAct({ reason, ...(by !== undefined && { by }) });
  throw new CliError('--reason is missing.', 'Say why, e.g. --reason "imported from files in March": it is recorded.');
};

async function order(
  { log }: Storage,
  context: CliContext,
  sourcesFor: (court: Court) => readonly string[],
  options: BackfillOptions,
): Promise<string> {
  const act = readReason(options);
  const chosen = readCourts(options.courts);
  const without = (chosen ?? courts).filter((court) => sourcesFor(court).length === 0);
  if (without.length === (chosen ?? courts).length || (chosen !== null && without.length > 0)) {
    const named = chosen === null ? 'any court' : without.map(({ code }) => code).join(', ');
    throw new CliError(
      `No source that can be asked is configured for ${named}.`,
      'Set COURTLISTENER_TOKEN or SCOTUS=on for the service and for this command; feeds cannot be asked about a case.',
    );
  }
  const since = readSince(options.since);
  const backfillId = randomUUID();
  const codes = chosen?.map(({ code }) => code) ?? null;
  const outcome = await handleWithRetry(
    { log, clock: systemClock },
    backfill,
    sourceStream.backfill(backfillId),
    { type: 'Order', order: { backfillId, courts: codes, since, ...act } },
    actContext(),
  );
  if (isRejection(outcome)) throw new Error('no rule rejects it');
  if (options.json) printJson(context, { backfill_id: backfillId, status: 'ordered', courts: codes, since });
  else print(context, `Ordered as ${backfillId}.`);
  return backfillId;
}

function readCourts(text: string | undefined): readonly Court[] | null {
  if (text === undefined) return null;
  const codes = text.split(',').flatMap((code) => code.trim() || []);
  if (codes.length === 0)
    throw new CliError('--courts names no court.', 'Give codes such as ca9,cand, or leave it out.');
  return [...new Set(codes.map(courtNamed))];
}

function readSince(text: string | undefined): string | null {
  if (text === undefined) return null;
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.slice(0, 10) === text;
  if (isDay) return text;
  throw new CliError(`--since ${text.slice(0, 40)} is not a day.`, 'Give one such as 2026-03-01.');
}

type Orders = () => Promise<readonly BackfillProgress[]>;

async function orderNamed(storage: Storage, id: string, orders: Orders): Promise<BackfillProgress> {
  const hint = 'See docket sources backfill --list; the first eight characters of an id will do.';
  if (!/^[0-9a-f-]{8,36}$/.test(id)) throw new CliError('This is not the id of a backfill.', hint);
  const found = (await orders()).filter(({ backfillId }) => backfillId.startsWith(id));
  const [only] = found;
  if (only && found.length === 1) return only;
  if (found.length === 0 && !(await showsEverything(storage, watchedCases))) {
    const why = `the read model ${watchedCases.name} is behind the log`;
    throw new CliError(`Cannot tell yet whether a backfill has the id ${id}: ${why}.`, CATCH_UP_HINT, EXIT.unavailable);
  }
  throw new CliError(`${found.length === 0 ? 'No' : 'More than one'} backfill has the id ${id}.`, hint, EXIT.found);
}

async function cancel(
  { log }: Storage,
  context: CliContext,
  { backfillId, looked }: BackfillProgress,
  options: BackfillOptions,
): Promise<void> {
  const act = readReason(options);
  const outcome = await handleWithRetry(
    { log, clock: systemClock },
    backfill,
    sourceStream.backfill(backfillId),
    { type: 'End', ending: { backfillId, outcome: 'cancelled', looked, ...act } },
    actContext(),
  );
  const isChanged = !isRejection(outcome) && outcome.events.length > 0;
  if (options.json) printJson(context, { backfill_id: backfillId, changed: isChanged, looked });
  else print(context, isChanged ? `Cancelled after ${looked} looks.` : 'It had ended already.');
}

const shown = (one: BackfillProgress) => ({
  backfill_id: one.backfillId,
  status: one.status,
  courts: one.courts,
  since: one.since,
  passed: one.passed,
  cases: one.cases,
  looked: one.looked,
  ordered_at: one.orderedAt,
  ended_at: one.endedAt,
  by: one.by,
  reason: one.reason,
});

function progressText({ status, passed, cases, looked }: BackfillProgress): string {
  if (status !== 'open') return `${status} after ${looked} looks`;
  const percent = cases === 0 ? 100 : Math.min(100, Math.floor((100 * passed) / cases));
  return `${percent} %: ${passed} of ${cases} cases passed, ${looked} looked at`;
}

function list(orders: readonly BackfillProgress[], context: CliContext, json: boolean): void {
  for (const one of orders) {
    if (json) printJson(context, shown(one));
    else {
      const of = one.courts === null ? 'all courts' : one.courts.join(', ');
      const since = one.since === null ? '' : ` since ${one.since}`;
      const ordered = `ordered ${one.orderedAt.slice(0, 16)} by ${one.by} (${one.reason})`;
      print(context, `${one.backfillId}  ${progressText(one)}  ${of}${since}  ${ordered}`);
    }
  }
  if (!json && orders.length === 0) print(context, 'No backfill was ordered.');
}

const LOOK_MS = 1_000;
const LINE_MS = 5_000;

/** Until it has ended, or a signal comes. */
async function follow(
  { readStore }: Storage,
  context: CliContext,
  backfillId: string,
  orders: Orders,
  json: boolean,
): Promise<void> {
  const stopped = whenStopped();
  let [last, shownAt] = ['', Number.NEGATIVE_INFINITY];
  const show = (one: BackfillProgress | null, text: string): void => {
    if (json) {
      if (one && text !== last) printJson(context, shown(one));
    } else if (context.interactive) context.stderr.write(`\r\u001B[K${text}`);
    else if (text !== last && performance.now() - shownAt >= LINE_MS) {
      shownAt = performance.now();
      note(context, text);
    } else return;
    last = text;
  };
  try {
    while (!stopped.signal.aborted) {
      const one = (await orders()).find((each) => each.backfillId === backfillId) ?? null;
      const isHeld = (await readStore.leases(systemClock.now())).some(({ name }) => name === BACKFILL_LEASE);
      const waits = isHeld ? '' : ' (no service is running; it continues once one does)';
      show(one, `${one === null ? 'not begun yet' : progressText(one)}${waits}`);
      if (one !== null && one.status !== 'open') {
        if (context.interactive && !json) context.stderr.write('\n');
        if (!json) print(context, `${backfillId}: ${progressText(one)}.`);
        if (one.status === 'cancelled') throw new FoundWrong('The backfill was cancelled.', 'The log has who and why.');
        return;
      }
      await pause(LOOK_MS, stopped.signal);
    }
    note(context, `The service continues it. Follow it again: docket sources backfill --follow ${backfillId}`);
  } finally {
    stopped.end();
  }
}
