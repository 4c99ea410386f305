/** `docket deliveries`: shows the outcome of callbacks, and requests another attempt once a receiver is fixed. */
import { Option } from 'commander';
import { delivery, type ScheduledDelivery } from '../../commands/delivery/delivery.ts';
import { load } from '../../commands/handle.ts';
import { deliveryStream } from '../../events/delivery.ts';
import { hintOf } from '../../events/failure-class.ts';
import { courtKey, type DeliveryRecord, deliveries } from '../../projections/deliveries.ts';
import { type DeliveryFilter, type DeliveryPlace, findDeliveries } from '../../queries/delivery-history.ts';
import { pausedAmong } from '../../queries/operator-acts.ts';
import type { RecordedEvent } from '../../storage/event-log.ts';
import { resolveIntact } from '../../storage/intact-payloads.ts';
import type { PayloadStore } from '../../storage/payload-store.ts';
import type { Storage } from '../../storage/storage.ts';
import { type AddCommand, type CliContext, CliError, EXIT, print, printJson } from '../command.ts';
import { noteIfIncomplete } from '../list-completeness.ts';
import { readLimit } from '../list-limit.ts';
import { openServiceStorage, withStorage } from '../service-storage.ts';
import { addCancel, addRetry } from './act.ts';

const PAGE = 200;
const DEFAULT_LIMIT = 50;
const STATUSES = ['pending', 'retrying', 'succeeded', 'failed', 'cancelled'] as const;

const HELP = `
Reads the state in DATA_DIR, or in the configured engines. The service may be running or stopped.
A redelivery sends the same bytes with the same Idempotency-Key. It does not count as one of the seven attempts. The
running service makes it at once; if none is running, the next start makes it.

Examples:
  $ docket deliveries list --status failed
  $ docket deliveries show 6f9d2c1e-5a34-4b8e-9c3d-2f1a7b6c5d4e
  $ docket deliveries retry 6f9d2c1e-5a34-4b8e-9c3d-2f1a7b6c5d4e --reason "the receiver is fixed"
  $ docket deliveries retry --host receiver.example --failure-class http_5xx --reason "ticket 4711"
  $ docket deliveries cancel --host gone.example --reason "the receiver is gone for good"`;

interface ListOptions {
  readonly status?: (typeof STATUSES)[number];
  readonly wallet?: string;
  readonly court?: string;
  readonly limit: string;
  readonly json?: true;
}

/** Opens the storage that the service uses. */
export type OpenDeliveryStorage = (environment: NodeJS.ProcessEnv) => Promise<Storage>;

export const createDeliveriesCommand =
  (open: OpenDeliveryStorage): AddCommand =>
  (program, context) => {
    const group = program
      .command('deliveries')
      .description('List callbacks with their outcome; show one; deliver some again, or end them.')
      .addHelpText('after', HELP);
    group
      .command('list')
      .description('List deliveries, newest first.')
      .addOption(new Option('--status <status>', 'filter by status').choices(STATUSES))
      .option('--wallet <address>', 'filter by wallet')
      .option('--court <code>', 'filter by court')
      .option('--limit <count>', 'maximum number to list; 0 for all', String(DEFAULT_LIMIT))
      .option('--json', 'one JSON object per line')
      .addHelpText(
        'after',
        '\nExamples:\n  $ docket deliveries list --status retrying\n  $ docket deliveries list --wallet ADDRESS --limit 0 --json',
      )
      .action((options: ListOptions) => withStorage(open, context, (storage) => list(storage, context, options)));
    group
      .command('show')
      .description('Show one delivery with all its attempts, read from the event log.')
      .argument('<delivery>', 'delivery id, which is also its Idempotency-Key')
      .option('--json', 'one JSON object')
      .addHelpText('after', '\nExample:\n  $ docket deliveries show 6f9d2c1e-5a34-4b8e-9c3d-2f1a7b6c5d4e --json')
      .action((id: string, options: { readonly json?: true }) =>
        withStorage(open, context, (storage) => show(storage, context, id, options)),
      );
    addRetry(group, context, open);
    addCancel(group, context, open);
  };

/** The command on the storage that the service uses. */
export const addDeliveriesCommand: AddCommand = createDeliveriesCommand((environment) =>
  openServiceStorage(environment, 'Set DATA_DIR to the data folder of the service.'),
);

async function list(storage: Storage, context: CliContext, options: ListOptions): Promise<void> {
  const limit = readLimit(options.limit) || Number.POSITIVE_INFINITY;
  const filter: DeliveryFilter = {
    wallet: options.wallet ?? null,
    status: options.status ?? null,
    court: options.court === undefined ? null : courtKey(options.court),
    caseNumber: null,
    attemptedAfter: null,
  };
  let count = 0;
  let after: DeliveryPlace | null = null;
  do {
    const size = Math.min(PAGE, limit - count);
    const page: Awaited<ReturnType<typeof findDeliveries>> = await findDeliveries(storage.readStore, filter, {
      limit: size,
      after,
    });
    for (const record of page.deliveries) {
      if (options.json) printJson(context, record);
      else print(context, lineOf(record));
    }
    count += page.deliveries.length;
    after = page.next;
  } while (after && count < limit);
  if (!options.json) {
    if (after) print(context, `The first ${count}; --limit 0 shows all.`);
    else print(context, `${count} ${count === 1 ? 'delivery' : 'deliveries'}`);
  }
  await noteIfIncomplete(context, storage, deliveries);
}

function lineOf({
  deliveryId,
  createdAt,
  status,
  attempts,
  nextAttemptAt,
  origin,
  attemptLog,
}: DeliveryRecord): string {
  const failure = attemptLog.at(-1)?.failureClass ?? '';
  const next = nextAttemptAt === null ? '' : `next ${nextAttemptAt.slice(0, 19)}Z`;
  return `${createdAt.slice(0, 19)}Z  ${deliveryId}  ${status.padEnd(9)} ${attempts} of 7  ${failure.padEnd(18)} ${origin}  ${next}`.trimEnd();
}

async function show(
  { log, payloads, readStore }: Storage,
  context: CliContext,
  id: string,
  { json }: { readonly json?: true },
): Promise<void> {
  const state = await stateOf(log, id);
  const events = await log.read(deliveryStream(id));
  const attempts = events.filter(({ type }) => type === 'DeliveryAttemptFinished');
  const redeliveries = events.filter(({ type }) => type === 'DeliveryRedeliveryRequested').map(({ data }) => data);
  const cancellations = events.filter(({ type }) => type === 'DeliveryCancelled').map(({ data }) => data);
  const { facts, status, nextAttemptAt, underway, redelivery } = state;
  const url = await urlWithoutQuery(payloads, facts.target);
  const paused = (await pausedAmong(readStore, [facts.origin])).get(facts.origin);
  if (json) {
    printJson(context, {
      ...facts,
      url,
      status,
      attempts: state.attempts,
      nextAttemptAt,
      underway,
      redeliveryAskedAt: redelivery?.requestedAt ?? null,
      redeliveries,
      cancellations,
      pausedSince: paused?.since ?? null,
      attemptLog: attempts.map(({ data }) => data),
    });
    return;
  }
  print(context, `${id}  ${status}, ${state.attempts} of 7 attempts`);
  print(context, `  wallet   ${facts.wallet}`);
  print(context, `  request  ${facts.requestId}  (${facts.courtCode ?? '?'} ${facts.caseId ?? '?'})`);
  print(context, `  to       ${url ?? `${facts.origin} (the URL is no longer stored)`}`);
  print(context, `  created  ${facts.createdAt}`);
  if (underway) print(context, `  an attempt has been running since ${underway.startedAt}`);
  if (redelivery) print(context, `  a redelivery was requested at ${redelivery.requestedAt}`);
  if (nextAttemptAt) print(context, `  next     ${nextAttemptAt}`);
  if (paused) print(context, `  waiting  its host was paused ${paused.since} by ${paused.by}: ${paused.reason}`);
  for (const { redelivery: number, requestedAt, by, reason } of redeliveries) {
    // Earlier versions did not record who requested it.
    const act = by ? ` by ${by}: ${reason}` : '';
    print(context, `  ${requestedAt}  redelivery ${number} requested${act}`);
  }
  for (const { cancelledAt, by, reason } of cancellations)
    print(context, `  ${cancelledAt}  cancelled by ${by}: ${reason}`);
  for (const attempt of attempts) print(context, attemptLine(attempt));
  const last = attempts.at(-1)?.data.failureClass;
  if (typeof last === 'string') print(context, `  ${hintOf(last as Parameters<typeof hintOf>[0])}`);
}

function attemptLine({ data }: RecordedEvent): string {
  const { attempt, redelivery, startedAt, outcome, responseCode, failureClass, durationMs, keyId } = data;
  const number = `${redelivery ? 'redelivery' : 'attempt'} ${attempt}`;
  return `  ${String(startedAt)}  ${number.padEnd(13)} ${String(outcome).padEnd(12)} ${responseCode ?? '-'}  ${failureClass ?? ''}  ${durationMs ?? '?'} ms  key ${keyId}`;
}

/** The URL without its query, which may hold a secret of the receiver: only the wallet that sent it may see it. */
export async function urlWithoutQuery(payloads: Pick<PayloadStore, 'resolve'>, name: string): Promise<string | null> {
  const stored = (await resolveIntact(payloads, [name])).found.get(name);
  if (!stored || stored.replaced) return null;
  const [address = '', query] = stored.content.toString().split(/[?#]/, 2);
  return `${address.replace(/\/\/[^/@]*@/, '//…@')}${query === undefined ? '' : '?…'}`;
}

async function stateOf(log: Storage['log'], id: string): Promise<ScheduledDelivery> {
  const { state } = await load(log, delivery, deliveryStream(id));
  if (state.status === 'none') {
    throw new CliError(`Delivery ${id} not found.`, 'Find ids with docket deliveries list.', EXIT.found);
  }
  return state;
}
