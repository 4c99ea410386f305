/** Schedules the deliveries of a settled payment: each once, with its bytes stored first. */
import { envelopeOf } from '../../callbacks/envelope.ts';
import { deliveryStream } from '../../events/delivery.ts';
import { type Clock, MICROS_PER_SECOND, type Micros, toInstant } from '../../runtime/instant.ts';
import type { CommandContext, EventLog } from '../../storage/event-log.ts';
import { resolveIntact } from '../../storage/intact-payloads.ts';
import { CorruptPayload, type PayloadStore } from '../../storage/payload-store.ts';
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
  let read: Promise<StoredAnswer> | null = null;
  const schedule = async (callback: OwedCallback): Promise<void> => {
    const stream = deliveryStream(callback.deliveryId);
    // Checked first, so that a repetition does not store bytes that no event names.
    if ((await log.read(stream, { limit: 1 })).length > 0) return;
    read ??= readAnswer(
      payloads,
      answer.answer,
      answer.callbacks.map(({ target }) => target),
    );
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
}

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
  payloads: PayloadStore,
  name: string | null,
  targets: readonly string[],
): Promise<StoredAnswer> {
  const { found, damaged } = await resolveIntact(payloads, name === null ? targets : [name, ...targets]);
  if (name !== null && damaged.has(name)) throw new CorruptPayload(name);
  const stored = name === null ? undefined : found.get(name);
  // If an answer was withdrawn before it was pushed, neither it nor its replacement is pushed.
  if (!stored || stored.replaced) return { pushed: () => null };
  const paid = paidAnswer(stored.content);
  // Nothing is stored for a URL that was forgotten since the sale.
  const isKept = (target: string): boolean => damaged.has(target) || found.get(target)?.replaced === false;
  return { pushed: (callback) => (isKept(callback.target) ? paid.pushed(callback) : null) };
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
