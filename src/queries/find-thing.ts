/** Finds what an id names by indexed look-ups, with its trail. Events have no index by id, so `scanForEvent` reads them all. */
import { deliveryStream } from '../events/delivery.ts';
import { DELIVERIES, type DeliveryRecord } from '../projections/deliveries.ts';
import type { PausedHost } from '../projections/operator-acts.ts';
import { PAYMENTS, type PaymentRecord } from '../projections/payments.ts';
import { WALLETS, type WalletRecord } from '../projections/wallets.ts';
import type { Micros } from '../runtime/instant.ts';
import type { EventLog, RecordedEvent } from '../storage/event-log.ts';
import type { ReadStore } from '../storage/read-store.ts';
import { type CallbackHost, callbackHost } from './callback-hosts.ts';
import { originsOfHost } from './known-origins.ts';
import type { NamedThing } from './named-thing.ts';
import { pausedAmong } from './operator-acts.ts';
import { type PaymentTrail, paymentTrail } from './payment-trail.ts';

export interface FindPorts {
  readonly log: EventLog;
  readonly readStore: ReadStore;
}

export type FoundThing =
  | {
      readonly kind: 'request' | 'payment' | 'transaction' | 'result';
      readonly id: string;
      readonly trail: PaymentTrail;
    }
  | { readonly kind: 'delivery'; readonly record: DeliveryRecord; readonly trail: PaymentTrail | null }
  | { readonly kind: 'wallet'; readonly record: WalletRecord }
  | { readonly kind: 'host'; readonly host: CallbackHost }
  | { readonly kind: 'event'; readonly event: RecordedEvent };

/** Everything that has this name; a case is found by its own look-up. */
export async function findThing(
  ports: FindPorts,
  named: Exclude<NamedThing, { readonly kind: 'case' }>,
  now: Micros,
): Promise<readonly FoundThing[]> {
  switch (named.kind) {
    case 'uuid': {
      const [requests, delivery] = await Promise.all([
        byRequest(ports, named.id, 'request'),
        byDelivery(ports, named.id),
      ]);
      return [...requests, ...delivery];
    }
    case 'result':
      return byRequest(ports, named.id, 'result');
    case 'payment':
      return withTrail(ports, named.id, 'payment', named.id);
    case 'transaction': {
      const [found] = await paymentsWhere(ports, { transaction: named.id });
      return found ? withTrail(ports, found.payment, 'transaction', named.id) : [];
    }
    case 'delivery':
      return byDelivery(ports, named.id);
    case 'wallet': {
      const record = (await ports.readStore.load<WalletRecord>(WALLETS, [named.id])).get(named.id)?.document;
      return record ? [{ kind: 'wallet', record }] : [];
    }
    case 'host':
      return byHost(
        ports,
        named.origin === null ? await originsOfHost(ports.readStore, named.host) : [named.origin],
        now,
      );
  }
}

const MOST_PAYMENTS = 20;

async function paymentsWhere(
  { readStore }: FindPorts,
  equals: Partial<Pick<PaymentRecord, 'requestId' | 'transaction'>>,
) {
  const found = await readStore.find<PaymentRecord>({ collection: PAYMENTS, equals, limit: MOST_PAYMENTS });
  return found.map(({ document }) => document);
}

/** A request normally presented one payment. */
async function byRequest(ports: FindPorts, id: string, kind: 'request' | 'result'): Promise<readonly FoundThing[]> {
  const found = await paymentsWhere(ports, { requestId: id });
  return (await Promise.all(found.map(({ payment }) => withTrail(ports, payment, kind, id)))).flat();
}

async function withTrail(
  ports: FindPorts,
  payment: string,
  kind: 'request' | 'payment' | 'transaction' | 'result',
  id: string,
): Promise<readonly FoundThing[]> {
  const trail = await paymentTrail(ports, payment);
  return trail ? [{ kind, id, trail }] : [];
}

async function byDelivery(ports: FindPorts, id: string): Promise<readonly FoundThing[]> {
  const record = (await ports.readStore.load<DeliveryRecord>(DELIVERIES, [id])).get(id)?.document;
  if (!record) return [];
  const [scheduled] = await ports.log.read(deliveryStream(id), { limit: 1 });
  const payment = scheduled?.data.payment;
  const trail = typeof payment === 'string' ? await paymentTrail(ports, payment) : null;
  return [{ kind: 'delivery', record, trail }];
}

async function byHost(
  { readStore }: FindPorts,
  origins: readonly string[],
  now: Micros,
): Promise<readonly FoundThing[]> {
  const paused = await pausedAmong(readStore, origins);
  const hosts = await Promise.all(
    origins.map((origin) =>
      callbackHost(readStore, now, origin, { paused: paused.get(origin) as PausedHost | undefined }),
    ),
  );
  return hosts
    .filter((host) => host.open > 0 || host.lastOutcome !== null || host.paused !== null)
    .map((host) => ({ kind: 'host', host }) as const);
}

/** Reads the whole log for the event with this id, and for those of a request with it. Takes as long as the log is. */
export async function scanForEvent(
  log: Pick<EventLog, 'readAll'>,
  id: string,
  most: number,
): Promise<readonly FoundThing[]> {
  const ofRequest: FoundThing[] = [];
  for await (const { events } of log.readAll(null, { by: 'all' })) {
    for (const event of events) {
      if (event.id === id) return [{ kind: 'event', event }];
      if (event.metadata.requestId === id && ofRequest.length < most) ofRequest.push({ kind: 'event', event });
    }
  }
  return ofRequest;
}
