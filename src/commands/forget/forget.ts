/**
 * Carries out an order to forget. Everything that it removes is recorded before it goes. Each step may be repeated: after
 * a kill, the next process does what is left, and several processes at once do no harm.
 */

import { ContentRedacted } from '../../events/content.ts';
import type { ForgetOrder, RemovedCounts } from '../../events/forget.ts';
import { FORGET_STREAM } from '../../events/forget.ts';
import { type Clock, toInstant } from '../../runtime/instant.ts';
import { createLookStore } from '../../sources/courtlistener/look-store.ts';
import type { CommandContext, EventLog, Position } from '../../storage/event-log.ts';
import { resolveIntact } from '../../storage/intact-payloads.ts';
import type { BlobName, PayloadStore, SealedPayload } from '../../storage/payload-store.ts';
import type { ReadStore } from '../../storage/read-store.ts';
import { isRejection } from '../decider.ts';
import { docket } from '../docket/docket.ts';
import { removeByRecord, replaceByRecord } from '../docket/redaction.ts';
import { handledOf, handleWithRetry, load, record } from '../handle.ts';
import { contentsOfDocket, type DocketToForget, docketToForget, salesOfDocket } from './docket-contents.ts';
import { contentsOfUrl, contentsOfWallet, type Forgettable } from './forgettable.ts';
import { forgetOrders, type KnownOrder } from './order.ts';

export interface ForgettingPorts {
  readonly log: EventLog;
  readonly payloads: PayloadStore;
  readonly readStore: Pick<ReadStore, 'cell' | 'compareAndSet'>;
  readonly clock: Clock;
  /** Resolves once answers no longer show the log before this position, and every query that began earlier has ended. */
  untilQueriesEnded(upTo: Position): Promise<void>;
  /** Ends the work; the next run does what is left. */
  readonly signal?: AbortSignal | undefined;
  /** Called after each content that was removed. */
  readonly onRemoved?: (kind: Forgettable['kind']) => void;
}

/** Content that an order removed, as a list for `docket restore --redactions` names it. */
export interface Removed {
  readonly name: BlobName;
  readonly kind: Forgettable['kind'];
  readonly replaced: boolean;
}

/** The orders that are not completed, oldest first. */
export async function openOrders(log: EventLog): Promise<readonly KnownOrder[]> {
  const { state } = await load(log, forgetOrders, FORGET_STREAM);
  return [...state.values()].filter(({ removed }) => removed === null);
}

/**
 * Records an order before anything is removed for it.
 * @param url the URL that the order names: stored with the order or not at all, so that a kill leaves no copy of it
 */
export async function giveOrder(
  { log, clock }: Pick<ForgettingPorts, 'log' | 'clock'>,
  order: ForgetOrder,
  url?: SealedPayload,
): Promise<void> {
  const command = { type: 'Order', order } as const;
  const recording = { decider: forgetOrders, stream: FORGET_STREAM, command, context: contextOf(order), decisions: 10 };
  const outcome = await record({ log, clock }, { ...recording, ...(url ? { payloads: [url] } : {}) });
  if (isRejection(handledOf(outcome))) throw new Error(`the order ${order.forgetId} was not recorded`);
}

/**
 * Removes everything that a recorded order concerns, and records its completion.
 * @throws the errors of the storage; carry the order out again after any of them
 */
export async function carryOut(ports: ForgettingPorts, order: ForgetOrder): Promise<RemovedCounts> {
  const { log } = ports;
  const given = (await log.read(FORGET_STREAM)).find(
    ({ type, data }) => type === 'ForgetOrdered' && data.forgetId === order.forgetId,
  );
  if (!given) throw new Error(`the order ${order.forgetId} is not recorded`);
  const { subject } = order;
  switch (subject.kind) {
    case 'wallet':
      await untilNothingIsLeft(ports, order, () => contentsOfWallet(ports, subject.wallet, given.position));
      break;
    case 'callback_url': {
      const stored = (await resolveIntact(ports.payloads, [subject.target])).found.get(subject.target);
      // The URL goes last, so without it everything else is gone.
      if (!stored) break;
      const wanted = { url: stored.content.toString(), origin: subject.origin };
      await untilNothingIsLeft(ports, order, () => contentsOfUrl(ports, wanted, given.position));
      break;
    }
    case 'docket':
      await forgetDocket(ports, order, subject.docket);
  }
  if (subject.kind === 'callback_url') {
    await remove(ports, order, { name: subject.target, kind: 'target', source: given, filingIds: [] });
  }
  const removed = countsOf(await removedBy(log, order, given.position));
  const command = { type: 'Complete', forgetId: order.forgetId, removed } as const;
  const completed = await handleWithRetry(ports, forgetOrders, FORGET_STREAM, command, contextOf(order));
  if (isRejection(completed)) throw new Error(`the order ${order.forgetId} is not recorded`);
  return completed.state.get(order.forgetId)?.removed ?? removed;
}

async function forgetDocket(ports: ForgettingPorts, order: ForgetOrder, stream: string): Promise<void> {
  const { log, clock } = ports;
  const { forgetId, by, reason } = order;
  const subject = await docketToForget(log, stream);
  const forgotten = { forgetId, numbers: [...subject.numbers], by, reason };
  // No import records anything after this, and no answer shows the docket once the read model has it.
  await handleWithRetry({ log, clock }, docket, stream, { type: 'Forget', forgotten }, contextOf(order));
  await untilNothingIsLeft(ports, order, () => contentsOfDocket(ports, subject));
  await forgetLooks(ports, subject);
  const upTo = await log.head();
  const sales = () => salesOfDocket(ports, subject, toInstant(clock.now()));
  await untilNothingIsLeft(ports, order, sales);
  // Answers that are composed from the old docket still contain it, so wait until those queries have ended.
  if (upTo !== null) await ports.untilQueriesEnded(upTo);
  await untilNothingIsLeft(ports, order, sales);
}

/** No event names what an unfinished look has kept, and none of it was ever served, so no record is needed. */
async function forgetLooks(ports: ForgettingPorts, { court, numbers, forgotten }: DocketToForget): Promise<void> {
  const looks = createLookStore(ports);
  for (const number of new Set([...numbers, ...forgotten.numbers])) await looks.forget(court, number);
}

/** A callback may be scheduled while others are removed, so a pass is repeated until it finds nothing more. */
async function untilNothingIsLeft(
  ports: ForgettingPorts,
  order: ForgetOrder,
  contents: () => AsyncIterable<Forgettable>,
): Promise<void> {
  for (let removed = 1; removed > 0; ) {
    removed = 0;
    for await (const content of contents()) if (await remove(ports, order, content)) removed++;
  }
}

/** @returns whether anything of it was stored */
async function remove(ports: ForgettingPorts, order: ForgetOrder, content: Forgettable): Promise<boolean> {
  const { name, kind, source, filingIds, redact } = content;
  const { found, damaged } = await resolveIntact(ports.payloads, [name]);
  if (!found.has(name) && !damaged.has(name)) return false;
  const { forgetId, by, reason } = order;
  const redaction = {
    name,
    stream: source.stream,
    revision: source.revision,
    filingIds: [...filingIds],
    reason,
    by,
    forget: { forgetId, kind },
  };
  const context = (replacement: BlobName | null): CommandContext => ({
    ...contextOf(order),
    commandId: `forget-${forgetId}-${name}-${replacement ?? 'none'}`,
    causationId: source.id,
  });
  if (redact === undefined) await removeByRecord(ports, redaction, context(null));
  else if (!(await replaceByRecord(ports, redaction, { kind, redact }, context))) return false;
  ports.onRemoved?.(kind);
  return true;
}

/** What an order has removed so far, by the log alone. */
export async function removedBy(
  log: EventLog,
  { forgetId }: ForgetOrder,
  since: Position | null = null,
): Promise<readonly Removed[]> {
  const removed: Removed[] = [];
  for await (const { events } of log.readAll(since, { by: 'types', types: [ContentRedacted.type] })) {
    for (const { data } of events) {
      const { name, replacement, forget } = data as unknown as ReturnType<typeof ContentRedacted.of>['data'];
      if (forget?.forgetId === forgetId) removed.push({ name, kind: forget.kind, replaced: replacement !== null });
    }
  }
  return removed;
}

export function countsOf(removed: Iterable<Pick<Removed, 'kind'>>): RemovedCounts {
  const counts = { docket: 0, answer: 0, target: 0, envelope: 0 };
  for (const { kind } of removed) counts[kind]++;
  return counts;
}

const contextOf = ({ forgetId }: ForgetOrder): CommandContext => ({
  commandId: `forget-${forgetId}`,
  requestId: null,
  correlationId: forgetId,
  causationId: null,
  actor: 'operator',
});
