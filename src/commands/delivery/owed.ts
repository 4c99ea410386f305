/** Schedules the deliveries of a settled payment: each once, with its bytes stored first. */
import { envelopeOf } from '../../callbacks/envelope.ts';
import { contentStream } from '../../events/content.ts';
import { deliveryStream } from '../../events/delivery.ts';
import type { JsonObject } from '../../events/event.ts';
import { type Clock, MICROS_PER_SECOND, type Micros, toInstant } from '../../runtime/instant.ts';
import type { CommandContext, EventLog } from '../../storage/event-log.ts';
import { resolveIntact } from '../../storage/intact-payloads.ts';
import { CorruptPayload, type PayloadStore } from '../../storage/payload-store.ts';
import { removeByRecord } from '../docket/redaction.ts';
import { envelopeOf as envelopeIn } from '../forget/forgettable.ts';
import { handleWithRetry } from '../handle.ts';
import type { Purchase } from '../payment/payment.ts';
import { delivery } from './delivery.ts';

/** What a delivery names is kept for 30 days after its end; the schedule with all delays takes days. */
export const DELIVERY_RETENTION: Micros = 40 * 86_400 * MICROS_PER_SECOND;

export interface SchedulePorts {
  readonly log: EventLog;
  readonly payloads: PayloadStore;
  readonly clock: Clock;
}

type OwedCallback = Purchase['answer']['callbacks'][number];

/**
 * Schedules every callback of a settled purchase. Safe to repeat.
 * @param payment message hash
 * @throws StorageFailure; nothing or a part was scheduled, so repeat it
 */
export async function scheduleOwed(
  ports: SchedulePorts,
  payment: string,
  { authorization, answer }: Purchase,
  context: CommandContext,
): Promise<void> {
  const { log, payloads, clock } = ports;
  const targets = answer.callbacks.map(({ target }) => target);
  let read: Promise<StoredAnswer> | null = null;
  const schedule = async (callback: OwedCallback): Promise<void> => {
    const stream = deliveryStream(callback.deliveryId);
    // Checked first, so that a repetition does not store bytes that no event names.
    if ((await log.read(stream, { limit: 1 })).length > 0) return;
    read ??= readAnswer(ports, answer.answer, targets);
    const pushed = (await read).pushed(callback);
    const createdAt = toInstant(clock.now());
    const envelope = pushed && (await payloads.put('envelope', envelopeOf(pushed.payload, { ...callback, createdAt })));
    const facts = {
      deliveryId: callback.deliveryId,
      wallet: authorization.wallet,
      requestId: authorization.requestId,
      payment,
      caseId: pushed?.caseId ?? null,
      courtCode: pushed?.courtCode ?? null,
      caseNumber: pushed?.caseNumber ?? null,
      target: callback.target,
      origin: callback.origin,
      envelope,
      keepUntil: toInstant(clock.now() + DELIVERY_RETENTION),
      createdAt,
    };
    await handleWithRetry(ports, delivery, stream, { type: 'Schedule', facts }, context);
  };
  await Promise.all(answer.callbacks.map(schedule));
  await withdrawForgotten(ports, answer, context);
}

/**
 * An order to forget that was carried out meanwhile may have looked for a callback before it was scheduled. It records
 * what it removes before it looks, so one of the two always sees the other.
 */
async function withdrawForgotten(
  ports: SchedulePorts,
  { answer, callbacks }: Purchase['answer'],
  context: CommandContext,
): Promise<void> {
  const { log, payloads } = ports;
  if (callbacks.length === 0) return;
  const names = [...new Set([...(answer === null ? [] : [answer]), ...callbacks.map(({ target }) => target)])];
  const looks = await Promise.all(names.map((name) => isForgotten(log, name)));
  const forgotten = new Set(names.filter((_, index) => looks[index]));
  for (const callback of callbacks) {
    const isTarget = forgotten.has(callback.target);
    if (!isTarget && !forgotten.has(answer ?? '')) continue;
    // A batch keeps its results about other dockets.
    if (!isTarget && (await readAnswer(ports, answer, [callback.target])).pushed(callback) !== null) continue;
    const envelope = await envelopeIn(log, callback.deliveryId);
    const { found, damaged } = await resolveIntact(payloads, envelope ? [envelope.name] : []);
    if (!envelope || found.size + damaged.size === 0) continue;
    const { name, source } = envelope;
    const { stream, revision } = source;
    const redaction = { name, stream, revision, filingIds: [], reason: FORGOTTEN, by: 'service' };
    await removeByRecord(ports, redaction, { ...context, commandId: `forgotten-${name}`, causationId: source.id });
  }
}

const FORGOTTEN = 'what it was made of was forgotten while it was scheduled';

async function isForgotten(log: EventLog, name: string): Promise<boolean> {
  return (await log.read(contentStream(name))).some(({ data }) => hasOrder(data));
}

const hasOrder = ({ forget }: JsonObject): boolean => forget !== undefined && forget !== null;

interface Pushed {
  readonly payload: Buffer;
  readonly caseId: string | null;
  readonly courtCode: string | null;
  readonly caseNumber: string | null;
}

interface PaidAnswer {
  /** Null if there is nothing to push. */
  pushed(callback: Pick<OwedCallback, 'result'>): Pushed | null;
}

interface StoredAnswer {
  pushed(callback: Pick<OwedCallback, 'result' | 'target'>): Pushed | null;
}

interface AnsweredCase {
  readonly case_id?: unknown;
  readonly court_code?: unknown;
  readonly case?: { readonly case_number?: unknown };
}

async function readAnswer(
  { log, payloads }: Pick<SchedulePorts, 'log' | 'payloads'>,
  name: string | null,
  targets: readonly string[],
): Promise<StoredAnswer> {
  const { found, damaged } = await resolveIntact(payloads, name === null ? targets : [name, ...targets]);
  if (name !== null && damaged.has(name)) throw new CorruptPayload(name);
  const stored = name === null ? undefined : found.get(name);
  // If an answer was withdrawn before it was pushed, neither it nor its replacement is pushed. A batch of which a docket
  // was forgotten keeps its other results as they were.
  if (!stored || (stored.replaced && !(await isLeftOver(log, name ?? '')))) return { pushed: () => null };
  const paid = paidAnswer(stored.content);
  // Nothing is stored for a URL that was forgotten since the sale.
  const isKept = (target: string): boolean => damaged.has(target) || found.get(target)?.replaced === false;
  const isWhole = ({ result }: Pick<OwedCallback, 'result'>): boolean => result !== null || !stored.replaced;
  return {
    pushed: (callback) => (isWhole(callback) && isKept(callback.target) ? paid.pushed(callback) : null),
  };
}

/** Whether nothing but orders to forget has changed an answer: they empty whole results. */
async function isLeftOver(log: EventLog, name: string): Promise<boolean> {
  const changes = await log.read(contentStream(name));
  return changes.length > 0 && changes.every(({ data }) => hasOrder(data));
}

/** What is pushed of a stored answer. @throws SyntaxError if it is no JSON */
export function paidAnswer(content: Buffer): PaidAnswer {
  const body = JSON.parse(content.toString()) as AnsweredCase & { results?: { response?: AnsweredCase }[] };
  return {
    pushed({ result }) {
      if (result === null) return { payload: content, ...idsOf(body) };
      const response = body.results?.[result]?.response;
      return response ? { payload: Buffer.from(JSON.stringify(response)), ...idsOf(response) } : null;
    },
  };
}

const idsOf = (answer: AnsweredCase): Omit<Pushed, 'payload'> => ({
  caseId: textOf(answer.case_id),
  courtCode: textOf(answer.court_code),
  caseNumber: textOf(answer.case?.case_number),
});

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
