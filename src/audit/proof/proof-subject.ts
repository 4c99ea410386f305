/** What a proof is about: one event, or a whole payment up to its outcome (docs/design/audit.md#proofs). */
import {
  PaymentAuthorized,
  PaymentFailed,
  PaymentFinalized,
  PaymentReleased,
  PaymentRolledBack,
  PaymentSettled,
  PaymentSettledLate,
  PaymentSubmitted,
  paymentStream,
} from '../../events/payment.ts';
import type { RecordedEvent } from '../../storage/event-log.ts';
import type { ReadableLog } from '../readable-log.ts';

/** What a caller named. */
export type AskedProof =
  | { readonly by: 'place'; readonly stream: string; readonly revision: number }
  | { readonly by: 'uuid'; readonly id: string }
  | { readonly by: 'payment'; readonly stream: string }
  | { readonly by: 'transaction'; readonly transaction: string };

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const MESSAGE_HASH = /^(?:payment-)?([0-9a-f]{64})$/;
const TRANSACTION = /^[1-9A-HJ-NP-Za-km-z]{64,90}$/;
/** A name with a dollar sign is a stream of the event store itself. */
const PLACE = /^([^$].*)@(0|[1-9]\d{0,14})$/s;

/** Reads `STREAM@REVISION`, an event id, a request id, the hash of a payment's message or a signature; null for others. */
export function askedProofOf(text: string): AskedProof | null {
  const [, stream, revision] = PLACE.exec(text) ?? [];
  if (stream !== undefined) return { by: 'place', stream, revision: Number(revision) };
  const id = text.toLowerCase();
  if (UUID.test(id)) return { by: 'uuid', id };
  const [, hash] = MESSAGE_HASH.exec(text) ?? [];
  if (hash) return { by: 'payment', stream: paymentStream(hash) };
  return TRANSACTION.test(text) ? { by: 'transaction', transaction: text } : null;
}

export type ProofSubject =
  | { readonly kind: 'event'; readonly events: readonly [RecordedEvent] }
  /** Every event of the payment's stream from the first to its last outcome. */
  | { readonly kind: 'request'; readonly events: readonly RecordedEvent[] };

/** An outcome of a payment: what comes after the last one only repeats what was answered. */
const OUTCOMES: ReadonlySet<string> = new Set(
  [PaymentSettled, PaymentSettledLate, PaymentFailed, PaymentRolledBack, PaymentFinalized, PaymentReleased].map(
    ({ type }) => type,
  ),
);

/** `missing`: the log has no such event. `open`: the payment has no outcome yet. */
export async function findSubject(log: ReadableLog, asked: AskedProof): Promise<ProofSubject | 'missing' | 'open'> {
  switch (asked.by) {
    case 'place': {
      const [event] = await log.read(asked.stream, { from: asked.revision, limit: 1 });
      return event?.revision === asked.revision ? { kind: 'event', events: [event] } : 'missing';
    }
    case 'payment':
      return paymentIn(log, asked.stream);
    case 'transaction':
      return paymentNaming(log, PaymentSubmitted.type, ({ transaction }) => transaction === asked.transaction);
    case 'uuid': {
      const payment = await paymentNaming(log, PaymentAuthorized.type, ({ requestId }) => requestId === asked.id);
      return payment === 'missing' ? eventOf(log, asked.id) : payment;
    }
  }
}

async function paymentNaming(
  log: ReadableLog,
  type: string,
  isNamed: (data: RecordedEvent['data']) => boolean,
): Promise<ProofSubject | 'missing' | 'open'> {
  for await (const { events } of log.readAll(null, { by: 'types', types: [type] })) {
    const found = events.find(({ data }) => isNamed(data));
    if (found) return paymentIn(log, found.stream);
  }
  return 'missing';
}

async function paymentIn(log: ReadableLog, stream: string): Promise<ProofSubject | 'missing' | 'open'> {
  const events = await log.read(stream);
  if (events.length === 0) return 'missing';
  const last = events.findLastIndex(({ type }) => OUTCOMES.has(type));
  return last === -1 ? 'open' : { kind: 'request', events: events.slice(0, last + 1) };
}

async function eventOf(log: ReadableLog, id: string): Promise<ProofSubject | 'missing'> {
  for await (const { events } of log.readAll(null, { by: 'all' })) {
    const found = events.find((event) => event.id.toLowerCase() === id);
    if (found) return { kind: 'event', events: [found] };
  }
  return 'missing';
}
