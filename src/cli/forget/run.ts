/** Runs an order to forget: shows what goes, records the order, carries it out, reports. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { carryOut, giveOrder, openOrders, removedBy } from '../../commands/forget/forget.ts';
import { isSameUrl } from '../../commands/forget/forgettable.ts';
import { forgetOrders, type KnownOrder } from '../../commands/forget/order.ts';
import { type Preview, previewOf, type Wanted } from '../../commands/forget/preview.ts';
import { load } from '../../commands/handle.ts';
import { FORGET_STREAM, type ForgetOrder, type ForgetSubject, type RemovedCounts } from '../../events/forget.ts';
import { QUERIES_END_WITHIN_MS } from '../../processes/forgetting.ts';
import { systemClock } from '../../runtime/instant.ts';
import { resolveIntact } from '../../storage/intact-payloads.ts';
import type { Storage } from '../../storage/storage.ts';
import { untilShown } from '../cases/withdraw.ts';
import { type CliContext, CliError, EXIT, note, print, printJson } from '../command.ts';
import { confirm } from '../confirm.ts';
import { type ActOptions, type OperatorAct, readAct } from '../operator-act.ts';
import { writeOutput } from '../output-file.ts';

export interface ForgetOptions {
  readonly reason?: string;
  readonly by?: string;
  readonly dryRun?: true;
  readonly yes?: true;
  readonly redactions?: string;
  readonly json?: true;
}

/** Milliseconds. */
export interface ForgetWaits {
  readonly queriesMs?: number;
  readonly shownWithinMs?: number;
  readonly scrubWithinMs?: number;
}

const SHOWN_WITHIN_MS = 60_000;
const SCRUB_WITHIN_MS = 10_000;
const NOTE_EVERY = 1_000;
const MOST_SHOWN = 20;

export const ordersOf = async ({ log }: Pick<Storage, 'log'>): Promise<readonly KnownOrder[]> => [
  ...(await load(log, forgetOrders, FORGET_STREAM)).state.values(),
];

export async function forget(
  storage: Storage,
  context: CliContext,
  wanted: Wanted,
  options: ForgetOptions,
  waits: ForgetWaits = {},
): Promise<void> {
  const { dryRun, yes, json, redactions } = options;
  const open = await openOrderOf(storage, wanted);
  const act = dryRun ? null : readAct(actOf(options, open));
  if (redactions !== undefined && existsSync(redactions)) {
    throw new CliError(`${redactions} exists already.`, 'Nothing was removed. Give another name.');
  }
  note(context, 'Looking for what goes…');
  const preview = await previewOf({ ...storage, clock: systemClock }, wanted);
  if (act === null) return showPreview(context, wanted, preview, json === true);
  if (preview.contents.length === 0 && open === null && wanted.kind !== 'docket') {
    throw new CliError(
      `Nothing of this ${wanted.kind === 'wallet' ? 'wallet' : 'URL'} is stored.`,
      'No order was recorded. Give the URL as the caller sent it, with its query.',
      EXIT.found,
    );
  }
  if (!json) showPreview(context, wanted, preview, false);
  if (open) note(context, `Continuing the order ${open.forgetId} by ${open.by}: ${open.reason}`);
  else if (!yes) await confirm(context, 'This cannot be undone.');
  const order = open ?? (await newOrder(storage, wanted, act));
  const removed = await complete(storage, context, order, waits);
  if (redactions !== undefined) await writeRedactions(storage, context, order, redactions);
  const { forgetId, by, reason } = order;
  if (json) {
    const { openDeliveries: open_deliveries } = preview;
    return printJson(context, { forget_id: forgetId, kind: wanted.kind, by, reason, removed, open_deliveries });
  }
  print(context, `forgotten by ${by}: ${reason}`);
  for (const line of countLines(removed)) print(context, line);
  print(context, `order ${forgetId}; what it removed: docket audit replay all --type ContentRedacted`);
}

/** An order that is continued keeps its own reason. */
function actOf({ reason = '', by }: ForgetOptions, open: ForgetOrder | null): ActOptions {
  return open ?? { reason, ...(by === undefined ? {} : { by }) };
}

/** Completes orders that were interrupted. */
export async function continueOrders(
  storage: Storage,
  context: CliContext,
  { json }: { readonly json?: true },
  waits: ForgetWaits = {},
): Promise<void> {
  const orders = await openOrders(storage.log);
  for (const { order } of orders) {
    const removed = await complete(storage, context, order, waits);
    if (json) printJson(context, { forget_id: order.forgetId, removed });
    else print(context, `${order.forgetId}  completed`);
  }
  if (orders.length === 0 && !json) print(context, 'no order is open');
}

export async function listOrders(
  storage: Storage,
  context: CliContext,
  { json }: { readonly json?: true },
): Promise<void> {
  const orders = await ordersOf(storage);
  for (const { order, removed } of orders) {
    const { forgetId, subject, by, reason } = order;
    if (json) printJson(context, { forget_id: forgetId, subject, by, reason, completed: removed !== null, removed });
    else print(context, `${forgetId}  ${removed ? 'completed' : 'open     '}  ${nameOf(subject)}  by ${by}: ${reason}`);
  }
  if (!json) print(context, `${orders.length} ${orders.length === 1 ? 'order' : 'orders'}`);
}

function nameOf(subject: ForgetSubject): string {
  switch (subject.kind) {
    case 'callback_url':
      return `a callback URL of ${subject.origin}`;
    case 'wallet':
      return `wallet ${subject.wallet}`;
    case 'docket':
      return subject.docket;
  }
}

async function complete(
  storage: Storage,
  context: CliContext,
  order: ForgetOrder,
  { queriesMs = QUERIES_END_WITHIN_MS, shownWithinMs = SHOWN_WITHIN_MS, scrubWithinMs = SCRUB_WITHIN_MS }: ForgetWaits,
): Promise<RemovedCounts> {
  let count = 0;
  const draw = (): void => {
    count++;
    if (context.interactive) context.stderr.write(`\r\u001B[Kremoved ${count}`);
    else if (count % NOTE_EVERY === 0) note(context, `removed ${count}`);
  };
  const removed = await carryOut(
    {
      ...storage,
      clock: systemClock,
      onRemoved: draw,
      async untilQueriesEnded(upTo) {
        await untilShown(storage, upTo, shownWithinMs, 'order');
        note(context, `Waiting ${queriesMs / 1000} s for running queries to finish…`);
        await delay(queriesMs);
      },
    },
    order,
  );
  if (context.interactive && count > 0) context.stderr.write('\n');
  await scrub(storage, context, scrubWithinMs);
  return removed;
}

/** Another process may be reading at the moment; its next checkpoint does the same. */
async function scrub(storage: Storage, context: CliContext, withinMs: number): Promise<void> {
  if (!storage.scrub) return;
  for (const until = performance.now() + withinMs; ; ) {
    if (await storage.scrub()) return;
    if (performance.now() >= until) break;
    await delay(100);
  }
  note(
    context,
    'The write-ahead logs (*.sqlite-wal) could not be emptied because another process reads them. A restart of that process empties them.',
  );
}

/** The order to continue; null if there is none. */
async function openOrderOf(storage: Storage, wanted: Wanted): Promise<ForgetOrder | null> {
  for (const { order } of await openOrders(storage.log)) {
    const { subject } = order;
    switch (subject.kind) {
      case 'wallet':
        if (wanted.kind === 'wallet' && wanted.wallet === subject.wallet) return order;
        break;
      case 'docket':
        if (wanted.kind === 'docket' && wanted.docket === subject.docket) return order;
        break;
      case 'callback_url': {
        if (wanted.kind !== 'callback_url' || wanted.origin !== subject.origin) break;
        const stored = (await resolveIntact(storage.payloads, [subject.target])).found.get(subject.target);
        if (stored && isSameUrl(stored.content.toString(), wanted.url)) return order;
      }
    }
  }
  return null;
}

/** The URL is stored beside the log until the order is completed, so that the process that continues it knows the URL. */
async function newOrder(storage: Storage, wanted: Wanted, act: OperatorAct): Promise<ForgetOrder> {
  const forgetId = randomUUID();
  const ports = { ...storage, clock: systemClock };
  if (wanted.kind !== 'callback_url') {
    const order = { forgetId, subject: wanted, ...act };
    await giveOrder(ports, order);
    return order;
  }
  const { kind, origin } = wanted;
  const url = await storage.payloads.seal('target', Buffer.from(wanted.url));
  const order: ForgetOrder = { forgetId, subject: { kind, target: url.name, origin }, ...act };
  await giveOrder(ports, order, url);
  return order;
}

function showPreview(context: CliContext, wanted: Wanted, preview: Preview, json: boolean): void {
  const { counts, partly, openDeliveries, contents } = preview;
  if (json) {
    printJson(context, {
      dry_run: true,
      kind: wanted.kind,
      would_remove: counts,
      partly,
      open_deliveries: openDeliveries,
      contents,
    });
    return;
  }
  print(context, 'What goes:');
  for (const line of countLines(counts)) print(context, line);
  if (partly > 0) print(context, `  of the answers, batches that keep their results about other dockets: ${partly}`);
  print(context, `  open callbacks that end as content_withdrawn: ${openDeliveries.length}`);
  for (const id of openDeliveries.slice(0, MOST_SHOWN)) print(context, `    ${id}`);
  const more = openDeliveries.length - MOST_SHOWN;
  if (more > 0) print(context, `    and ${more} more; --json lists all`);
}

const countLines = ({ docket, answer, target, envelope }: RemovedCounts): readonly string[] => [
  `  contents of dockets: ${docket}`,
  `  stored answers: ${answer}`,
  `  callback URLs: ${target}`,
  `  bytes of callbacks: ${envelope}`,
];

async function writeRedactions(storage: Storage, context: CliContext, order: ForgetOrder, out: string): Promise<void> {
  const { by, reason } = order;
  const removed = await removedBy(storage.log, order);
  await writeOutput(
    context,
    { out, force: false },
    (async function* () {
      for (const { name } of removed) yield `${JSON.stringify({ name, reason, by })}\n`;
    })(),
  );
}
