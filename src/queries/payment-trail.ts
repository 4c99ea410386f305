/** The trail of one payment, from its own stream: who asked, what was answered, what became of it, what followed. */
import { type Payment, payment as paymentDecider } from '../commands/payment/payment.ts';
import { decodeEvent } from '../events/codec.ts';
import { isOwnEvent } from '../events/own-event.ts';
import { type PaymentEvent, paymentStream } from '../events/payment.ts';
import { DELIVERIES, type DeliveryRecord } from '../projections/deliveries.ts';
import type { Instant } from '../runtime/instant.ts';
import type { EventLog } from '../storage/event-log.ts';
import type { ReadStore } from '../storage/read-store.ts';

export interface TrailPorts {
  readonly log: Pick<EventLog, 'read'>;
  readonly readStore: Pick<ReadStore, 'load'>;
}

export interface PaymentTrail {
  /** SHA-256 of the transaction's message. */
  readonly payment: string;
  readonly status: Payment['status'];
  readonly wallet: string;
  readonly endpoint: string;
  /** Base units of USDC, decimal. */
  readonly amount: string;
  readonly dialect: string;
  /** Every request that presented it, oldest first; the error code if its query failed. */
  readonly requests: readonly { readonly requestId: string; readonly at: Instant; readonly error: string | null }[];
  readonly transaction: string | null;
  readonly answer: {
    readonly cases: number;
    readonly courts: readonly { readonly court: string; readonly cases: number }[];
    readonly keepUntil: Instant;
  } | null;
  /** Oldest first. */
  readonly steps: readonly TrailStep[];
  readonly deliveries: readonly TrailDelivery[];
  /** A key of the wallet that the payment showed or made. */
  readonly key: { readonly does: 'show' | 'rotate'; readonly keyId: string } | null;
}

export interface TrailStep {
  readonly at: Instant;
  readonly type: string;
  readonly eventId: string;
  readonly reason: string | null;
}

export interface TrailDelivery {
  readonly deliveryId: string;
  readonly origin: string;
  /** Null: promised, and not scheduled yet. */
  readonly status: DeliveryRecord['status'] | null;
}

/** Null if there is no such payment. */
export async function paymentTrail({ log, readStore }: TrailPorts, hash: string): Promise<PaymentTrail | null> {
  const stream = paymentStream(hash);
  const recorded = (await log.read(stream)).filter(({ type }) => isOwnEvent(stream, type));
  let state = paymentDecider.initialState;
  let trail: PaymentTrail | null = null;
  const promised: { readonly deliveryId: string; readonly origin: string }[] = [];
  for (const one of recorded) {
    const event = decodeEvent(one) as PaymentEvent;
    const at = one.metadata.recordedAt;
    state = paymentDecider.evolve(state, event);
    if (event.type === 'PaymentAuthorized') trail = presented(trail, hash, event, at);
    if (event.type === 'QueryAnswered') promised.push(...event.data.callbacks);
    if (trail !== null) {
      const step = { at, type: event.type, eventId: one.id, reason: reasonOf(event) };
      trail = { ...continued(trail, event), steps: [...trail.steps, step] };
    }
  }
  return trail && { ...trail, status: state.status, deliveries: await deliveriesOf(readStore, promised) };
}

function presented(
  before: PaymentTrail | null,
  payment: string,
  { data }: Extract<PaymentEvent, { type: 'PaymentAuthorized' }>,
  at: Instant,
): PaymentTrail {
  const { requestId, wallet, endpoint, amount, dialect } = data;
  return {
    payment,
    status: 'authorized',
    wallet,
    endpoint,
    amount,
    dialect,
    requests: [...(before?.requests ?? []), { requestId, at, error: null }],
    transaction: null,
    answer: null,
    steps: before?.steps ?? [],
    deliveries: [],
    key: null,
  };
}

function continued(trail: PaymentTrail, event: PaymentEvent): PaymentTrail {
  switch (event.type) {
    case 'QueryFailed': {
      const last = trail.requests.at(-1);
      if (!last) return trail;
      return { ...trail, requests: trail.requests.with(-1, { ...last, error: event.data.code }) };
    }
    case 'QueryAnswered': {
      const { answeredCases: cases, courts = [], keepUntil, keyCall } = event.data;
      const key = keyCall && { does: keyCall.does, keyId: keyCall.keyId };
      return { ...trail, answer: { cases, courts, keepUntil }, key };
    }
    case 'PaymentSubmitted':
      return { ...trail, transaction: event.data.transaction };
    default:
      return trail;
  }
}

function reasonOf({ type, data }: PaymentEvent): string | null {
  if (type === 'QueryFailed') return data.code;
  return type === 'PaymentFailed' || type === 'PaymentRolledBack' || type === 'PaymentReleased' ? data.reason : null;
}

async function deliveriesOf(
  readStore: TrailPorts['readStore'],
  promised: readonly { readonly deliveryId: string; readonly origin: string }[],
): Promise<readonly TrailDelivery[]> {
  if (promised.length === 0) return [];
  const records = await readStore.load<DeliveryRecord>(
    DELIVERIES,
    promised.map(({ deliveryId }) => deliveryId),
  );
  return promised.map(({ deliveryId, origin }) => ({
    deliveryId,
    origin,
    status: records.get(deliveryId)?.document.status ?? null,
  }));
}
