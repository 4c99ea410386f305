/**
 * Withdraws the text of a filing, e.g. by a court order: from the docket, from stored answers and from open callbacks.
 * Each replaced content is recorded (`ContentRedacted`) with actor and reason.
 * Safe to kill at any point and to repeat: finished steps are skipped, and recorded removals are completed.
 */
import { contentIn, decodeFilings, encodeBlob, filingsBlob, REDACTED_FILING } from '../../dockets/filing-content.ts';
import { withoutFilings } from '../../dockets/withdrawn-answer.ts';
import { decodeEvent } from '../../events/codec.ts';
import { type DeliveryEvent, deliveryStream } from '../../events/delivery.ts';
import { type DocketEvent, filingsIn } from '../../events/docket.ts';
import { type PaymentEvent, QueryAnswered } from '../../events/payment.ts';
import { type Clock, toInstant } from '../../runtime/instant.ts';
import type { CommandContext, EventLog, Position, RecordedEvent } from '../../storage/event-log.ts';
import { type BlobName, CorruptPayload, type PayloadKind, type PayloadStore } from '../../storage/payload-store.ts';
import { removeByRecord, replaceByRecord } from './redaction.ts';

export interface WithdrawalPorts {
  readonly log: EventLog;
  readonly payloads: PayloadStore;
  readonly clock: Clock;
  /**
   * Resolves once the read model shows the log up to this position and every query that began earlier has stored its
   * answer or been abandoned.
   */
  untilQueriesEnded(redactedUpTo: Position): Promise<void>;
}

export interface Withdrawal {
  /** The docket's stream. */
  readonly stream: string;
  readonly filingId: string;
  readonly by: string;
  readonly reason: string;
}

export interface WithdrawalReport {
  /** Whether the docket has or had such a filing. */
  readonly known: boolean;
  /** How many contents of the docket were replaced. */
  readonly contents: number;
  /** The requests whose stored answers were replaced. */
  readonly answers: readonly string[];
  /** Callbacks that will not be sent any more. */
  readonly callbacks: readonly string[];
}

/** @throws the errors of the storage; repeat the withdrawal after any of them */
export async function withdrawText(ports: WithdrawalPorts, order: Withdrawal): Promise<WithdrawalReport> {
  const recorded = await ports.log.read(order.stream);
  const events = recorded.map((event) => decodeEvent(event) as DocketEvent);
  const filingIds = idsOf(events, order.filingId);
  let [contents, known] = [0, false];
  for (const [index, event] of events.entries()) {
    const held = filingsIn(event).filter((id) => filingIds.has(id));
    const source = recorded[index];
    if (held.length === 0 || !source || !('content' in event.data)) continue;
    known = true;
    const redact = (bytes: Buffer): Buffer | null => withoutTexts(bytes, held);
    if (await replace(ports, order, { name: event.data.content, kind: 'docket', source, held, redact })) contents++;
  }
  const answers = new Set<string>();
  const callbacks = new Set<string>();
  if (known) {
    // Includes what an earlier run redacted.
    const redactedUpTo = await ports.log.head();
    await sweepAnswers(ports, order, filingIds, answers, callbacks);
    // Answers that are composed from the old docket still contain the text, so wait until those queries have ended.
    if (redactedUpTo !== null) await ports.untilQueriesEnded(redactedUpTo);
    await sweepAnswers(ports, order, filingIds, answers, callbacks);
  }
  return { known, contents, answers: [...answers], callbacks: [...callbacks] };
}

/** The ids of a filing and of those merged with it: earlier contents have its text under their ids. */
function idsOf(events: readonly DocketEvent[], filingId: string): ReadonlySet<string> {
  const ids = new Set([filingId]);
  for (const { type, data } of [...events].reverse()) {
    if (type === 'FilingsMerged' && ids.has(data.kept)) ids.add(data.merged);
  }
  return ids;
}

function withoutTexts(bytes: Buffer, filingIds: readonly string[]): Buffer | null {
  const filings = decodeFilings(bytes);
  if (filingIds.every((id) => contentIn(filings, id).redacted === true)) return null;
  const left = [...filings].map(([id, content]) => [id, filingIds.includes(id) ? REDACTED_FILING : content] as const);
  return encodeBlob(filingsBlob(new Map(left)));
}

/**
 * Checks every stored answer of the last 30 days: no event says which filings an answer holds. Nobody can read damaged
 * ones, but a backup may repair them, so those of the docket go as a whole.
 */
async function sweepAnswers(
  ports: WithdrawalPorts,
  order: Withdrawal,
  filingIds: ReadonlySet<string>,
  answers: Set<string>,
  callbacks: Set<string>,
): Promise<void> {
  const held = [...filingIds];
  for await (const { events } of ports.log.readAll(null, { by: 'types', types: [QueryAnswered.type] })) {
    for (const source of events) {
      const { data } = decodeEvent(source) as Extract<PaymentEvent, { readonly type: 'QueryAnswered' }>;
      // Events of earlier versions do not name their dockets.
      const isAbout = data.cases?.includes(order.stream) ?? data.answeredCases > 0;
      if (data.answer !== null && data.keepUntil > toInstant(ports.clock.now())) {
        const redact = (bytes: Buffer): Buffer | null => withoutFilings(bytes, filingIds);
        const place = { name: data.answer, kind: 'answer' as const, source, held, redact };
        const isGone = await evenDamaged(ports, order, place, isAbout, () => replace(ports, order, place));
        if (isGone) answers.add(data.requestId);
      }
      for (const { deliveryId } of data.callbacks) {
        const [scheduled] = await ports.log.read(deliveryStream(deliveryId), { limit: 1 });
        const event = scheduled && (decodeEvent(scheduled) as DeliveryEvent);
        if (!scheduled || event?.type !== 'DeliveryScheduled' || event.data.envelope === null) continue;
        const isHeld = (bytes: Buffer): boolean => held.some((id) => bytes.includes(id));
        const place = { name: event.data.envelope, source: scheduled, held, isHeld };
        const isGone = await evenDamaged(ports, order, place, isAbout, () => remove(ports, order, place));
        if (isGone) callbacks.add(deliveryId);
      }
    }
  }
}

interface ContentHolder {
  readonly name: BlobName;
  /** The event that names the content. */
  readonly source: RecordedEvent;
  readonly held: readonly string[];
}

/** Does the work on content, or removes it if it is damaged and of the docket; other damage stops no withdrawal. */
async function evenDamaged(
  ports: WithdrawalPorts,
  order: Withdrawal,
  place: ContentHolder,
  isAbout: boolean,
  work: () => Promise<boolean>,
): Promise<boolean> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CorruptPayload)) throw error;
    if (isAbout) await removeByRecord(ports, redactionOf(order, place), contextOf(place, null));
    return isAbout;
  }
}

/** @returns whether there was anything to replace */
const replace = (
  ports: WithdrawalPorts,
  order: Withdrawal,
  place: ContentHolder & { readonly kind: PayloadKind; redact(bytes: Buffer): Buffer | null },
): Promise<boolean> =>
  replaceByRecord(ports, redactionOf(order, place), place, (replacement) => contextOf(place, replacement));

/** @returns whether there was anything to remove */
async function remove(
  ports: WithdrawalPorts,
  order: Withdrawal,
  place: ContentHolder & { isHeld(bytes: Buffer): boolean },
): Promise<boolean> {
  const { name } = place;
  const found = await ports.payloads.get(name);
  if (!found || !place.isHeld(found)) return false;
  await removeByRecord(ports, redactionOf(order, place), contextOf(place, null));
  return true;
}

const redactionOf = ({ by, reason }: Withdrawal, { name, source, held }: ContentHolder) => ({
  name,
  stream: source.stream,
  revision: source.revision,
  filingIds: [...held],
  reason,
  by,
});

const contextOf = ({ name, source }: ContentHolder, replacement: BlobName | null): CommandContext => ({
  commandId: `withdrawal-${name}-${replacement ?? 'none'}`,
  requestId: null,
  correlationId: source.metadata.correlationId,
  causationId: source.id,
  actor: 'operator',
});
