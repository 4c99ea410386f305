/** The recorded answer of a payment: the names of its bytes, and what must happen after its settlement. */

import { type Problem, problem } from '../../errors.ts';
import { type Clock, type Instant, MICROS_PER_SECOND, toInstant, toMicros } from '../../runtime/instant.ts';
import { parseUrl } from '../../runtime/parse-url.ts';
import {
  type BlobName,
  CorruptPayload,
  type EncodedPayload,
  type PayloadStore,
  type SealedPayload,
} from '../../storage/payload-store.ts';
import type { QueryAnswer } from '../purchase/query-run.ts';
import type { Purchase, RecordedAnswer } from './payment.ts';
import type { NamedResult, ResultIds } from './result-id.ts';

/** How long a paid answer is kept. */
export const ANSWER_RETENTION_DAYS = 30;
/** The same in microseconds. */
export const ANSWER_RETENTION = ANSWER_RETENTION_DAYS * 86_400 * MICROS_PER_SECOND;

interface AnswerPorts {
  readonly payloads: PayloadStore;
  readonly clock: Clock;
  /** A new UUIDv4: the delivery's id, which is also its Idempotency-Key. */
  newDeliveryId(): string;
  /** A new id for a key. */
  newKeyId(): string;
  readonly resultIds: Pick<ResultIds, 'newest'>;
}

export interface SealedAnswer {
  readonly recorded: RecordedAnswer;
  /** The contents that it names, stored together with it. */
  readonly payloads: readonly SealedPayload[];
}

/** Prepares an answer for recording: the data of its event, and the contents that the event names. */
export async function sealAnswer(
  { payloads, clock, newDeliveryId, newKeyId, resultIds }: AnswerPorts,
  requestId: string,
  answer: QueryAnswer,
): Promise<SealedAnswer> {
  const common = { requestId, answeredCases: answer.answeredCases, resultKey: resultIds.newest };
  if ('keyCall' in answer) {
    const demands = answer.requireSignIn ? ({ requireSignIn: true } as const) : {};
    const keyCall = { does: answer.keyCall, keyId: newKeyId(), ...demands };
    return {
      recorded: { ...common, courts: [], cases: [], answer: null, keepUntil: keepUntil(clock), keyCall, callbacks: [] },
      payloads: [],
    };
  }
  const asked = answer.callbacks ?? [];
  const [body, ...targets] = await Promise.all([
    payloads.seal('answer', answer.body),
    ...asked.map(({ url }) => payloads.seal('target', Buffer.from(url))),
  ]);
  const callbacks = asked.flatMap(({ url, result }, i) => {
    const target = targets[i];
    return target === undefined
      ? []
      : [{ deliveryId: newDeliveryId(), target: target.name, origin: originOf(url), result }];
  });
  return {
    recorded: {
      ...common,
      courts: courtsOf(answer.courts ?? []),
      cases: [...new Set(answer.cases ?? [])],
      answer: body.name,
      keepUntil: keepUntil(clock),
      keyCall: null,
      callbacks,
    },
    payloads: [body, ...targets],
  };
}

/** How many cases of each court, in the order of the first of each. */
function courtsOf(codes: readonly string[]): NonNullable<RecordedAnswer['courts']> {
  const counts = new Map<string, number>();
  for (const code of codes) counts.set(code, (counts.get(code) ?? 0) + 1);
  return [...counts].map(([court, cases]) => ({ court, cases }));
}

const keepUntil = (clock: Clock): Instant => toInstant(clock.now() + ANSWER_RETENTION);

/** The result id's parts: what the caller needs to fetch the answer again. */
export const resultOf = ({ requestId, resultKey }: RecordedAnswer): NamedResult => ({
  requestId,
  resultKey: resultKey ?? null,
});

/** When an answer was recorded. */
export const answeredAt = ({ keepUntil: until }: Pick<RecordedAnswer, 'keepUntil'>): Instant =>
  toInstant(toMicros(until) - ANSWER_RETENTION);

/** A callback that was promised with an answer. */
export interface Promised {
  readonly deliveries: readonly {
    readonly id: string;
    /** Which result of a batch, from 0; null for the whole answer. */
    readonly result: number | null;
  }[];
  /** When it was promised. */
  readonly at: Instant;
}

export const promisedBy = ({ answer }: Pick<Purchase, 'answer'>): Promised => ({
  deliveries: answer.callbacks.map(({ deliveryId: id, result }) => ({ id, result })),
  at: answeredAt(answer),
});

/** The origin of a callback's URL. Events hold nothing else of it, because paths and queries contain secrets. */
export function originOf(url: string): string {
  const parsed = parseUrl(url);
  return parsed?.protocol === 'https:' || parsed?.protocol === 'http:' ? parsed.origin : 'unusable';
}

/** Whether the answer of a payment can still be fetched. */
export const isKept = (clock: Clock, { answer: { keepUntil: until } }: Pick<Purchase, 'answer'>): boolean =>
  toInstant(clock.now()) < until;

/**
 * The bytes that a payment bought; null if they have expired or were never stored (a key is handed out once); a problem
 * if they are damaged.
 */
export const keptAnswer = (
  { payloads, clock }: { readonly payloads: Pick<PayloadStore, 'get'>; readonly clock: Clock },
  purchase: Pick<Purchase, 'answer' | 'submission'>,
): Promise<Buffer | Problem | null> => kept((name) => payloads.get(name), clock, purchase);

/** As {@link keptAnswer}, but encoded as stored. */
export const keptEncodedAnswer = (
  { payloads, clock }: { readonly payloads: Pick<PayloadStore, 'getEncoded'>; readonly clock: Clock },
  purchase: Pick<Purchase, 'answer' | 'submission'>,
): Promise<EncodedPayload | Problem | null> => kept((name) => payloads.getEncoded(name), clock, purchase);

async function kept<Content>(
  read: (name: BlobName) => Promise<Content | null>,
  clock: Clock,
  purchase: Pick<Purchase, 'answer' | 'submission'>,
): Promise<Content | Problem | null> {
  const { answer } = purchase.answer;
  if (answer === null || !isKept(clock, purchase)) return null;
  try {
    return await read(answer);
  } catch (error) {
    if (!(error instanceof CorruptPayload)) throw error;
    return problem('result_damaged', { transaction: purchase.submission.transaction });
  }
}
