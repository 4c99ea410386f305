/** Deliveries on real storage, through the real guard, to a real receiver; the test controls only the time. */

import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { envelopeOf } from '../../src/callbacks/envelope.ts';
import { readMasterKeys } from '../../src/callbacks/master-keys.ts';
import { createOutbound } from '../../src/callbacks/outbound/guarded-outbound.ts';
import { type Delivery, delivery, type ScheduledDelivery } from '../../src/commands/delivery/delivery.ts';
import { DELIVERY_RETENTION } from '../../src/commands/delivery/owed.ts';
import { handle, load } from '../../src/commands/handle.ts';
import { originOf } from '../../src/commands/payment/answer.ts';
import { type DeliveryEvent, deliveryStream } from '../../src/events/delivery.ts';
import { type CallbackDeliveryOptions, createCallbackDeliveries } from '../../src/processes/callbacks/deliveries.ts';
import { DELIVERIES, type DeliveryRecord, deliveries } from '../../src/projections/deliveries.ts';
import type { Projection } from '../../src/projections/projection.ts';
import { createProjectionRunner } from '../../src/projections/runner.ts';
import { type Clock, type Micros, toInstant, toMicros } from '../../src/runtime/instant.ts';
import { steadyClock } from '../../src/runtime/steady-clock.ts';
import type { CommandContext } from '../../src/storage/event-log.ts';
import { allOf, judge } from '../audit/rules/judge.ts';
import { silent } from '../http/serving.ts';
import { openTestStorage } from '../support/storage.ts';

/**
 * What only the whole service keeps: here deliveries are scheduled by the test, some wallets are no addresses, and a
 * test may end in the middle.
 */
const NOT_HERE: ReadonlySet<string> = new Set([
  'delivery_promised',
  'attempt_key_valid',
  'attempt_in_time',
  'key_paid',
  'master_key_introduced',
  'paid_to_the_receiver',
  'transaction_used_once',
  'wire_is_the_payment',
]);

export const START: Micros = toMicros('2026-06-01T12:00:00.000000Z');

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** By the world's clock. */
  readonly at: Micros;
}

/** Answers a request; a request that it does not end hangs. */
export type Behaviour = (request: IncomingMessage, response: ServerResponse, count: number) => void;

export const status =
  (code: number, headers: Record<string, string> = {}): Behaviour =>
  (_, response) =>
    response.writeHead(code, headers).end();

export type DeliveryWorld = Awaited<ReturnType<typeof openDeliveryWorld>>;

export const context = (): CommandContext => {
  const commandId = randomUUID();
  return { commandId, requestId: null, correlationId: commandId, causationId: null, actor: 'test' };
};

export async function openDeliveryWorld({ realTime = false, projections = [deliveries] as Projection<never>[] } = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'deliveries-'));
  let now = START;
  /** The total by which the wall clock was set back: the steady clock ignores it. */
  let setBack = 0;
  const clock: Clock = realTime ? { now: () => Date.now() * 1000 } : { now: () => now };
  const steady: Clock = realTime ? steadyClock : { now: () => now + setBack };
  const storage = await openTestStorage(directory, clock);
  const runner = createProjectionRunner({
    ...storage,
    projections: projections as never,
    clock,
    logger: silent,
    owner: `test-${randomUUID()}`,
  });
  await runner.start();

  const received: Received[] = [];
  let behaviour: Behaviour = status(200);
  const receiver = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const path = request.url ?? '';
      received.push({ path, headers: request.headers, body: Buffer.concat(parts), at: clock.now() });
      behaviour(request, response, received.filter((one) => one.path === path).length);
    });
  });
  await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done));
  const { port } = receiver.address() as AddressInfo;
  const base = `http://127.0.0.1:${port}`;
  const outbound = createOutbound({ trustedPairs: [`127.0.0.1:${port}`] });
  const masterKeys = readMasterKeys(`1:${'5a'.repeat(32)}`);
  const running = new Set<ReturnType<typeof createCallbackDeliveries>>();

  /** One node's process; `pace` is fast, so that a test need not wait where only polling decides. */
  function node(owner: string = randomUUID(), over: Partial<CallbackDeliveryOptions> = {}) {
    const process = createCallbackDeliveries({
      ...storage,
      clock,
      steady,
      outbound,
      masterKeys,
      newKeyId: randomUUID,
      random: () => 0,
      owner,
      userAgent: 'DocketMonitor/test',
      logger: silent,
      ...over,
      pace: { rearmMs: 20, rescanMs: 20, drainMs: 300, leaseMs: 600, ...over.pace },
    });
    process.start();
    running.add(process);
    return {
      ...process,
      load: () => process.load(),
      async stop() {
        running.delete(process);
        await process.stop();
      },
    };
  }

  async function schedule({
    wallet = 'wallet-a',
    path = '/ok',
    url = `${base}${path}`,
    payload = '{"answer":1}',
  }: {
    readonly wallet?: string;
    readonly path?: string;
    readonly url?: string;
    readonly payload?: string;
  } = {}): Promise<string> {
    const deliveryId = randomUUID();
    const createdAt = toInstant(clock.now());
    const [target, envelope] = await Promise.all([
      storage.payloads.put('target', Buffer.from(url)),
      storage.payloads.put('envelope', envelopeOf(Buffer.from(payload), { deliveryId, createdAt })),
    ]);
    const facts = {
      deliveryId,
      wallet,
      requestId: randomUUID(),
      payment: 'c'.repeat(64),
      caseId: '3:24-cv-00042',
      courtCode: 'cand',
      caseNumber: '3:24-cv-00042',
      target,
      origin: originOf(url),
      envelope,
      keepUntil: toInstant(clock.now() + DELIVERY_RETENTION),
      createdAt,
    };
    await handle({ ...storage, clock }, delivery, deliveryStream(deliveryId), { type: 'Schedule', facts }, context());
    return deliveryId;
  }

  const stateOf = async (deliveryId: string): Promise<ScheduledDelivery> => {
    const { state } = await load<Delivery, never, DeliveryEvent, never>(
      storage.log,
      delivery as never,
      deliveryStream(deliveryId),
    );
    if (state.status === 'none') throw new Error(`${deliveryId} was never scheduled`);
    return state;
  };

  return {
    directory,
    base,
    clock,
    storage,
    runner,
    received,
    outbound,
    masterKeys,
    node,
    schedule,
    stateOf,
    eventsOf: (deliveryId: string) => storage.log.read(deliveryStream(deliveryId)),
    recordOf: async (deliveryId: string) =>
      (await storage.readStore.load<DeliveryRecord>(DELIVERIES, [deliveryId])).get(deliveryId)?.document,
    answer(next: Behaviour) {
      behaviour = next;
    },
    /** Time passes, or the wall clock is set forward: the two cannot be distinguished. */
    forward(micros: Micros) {
      now += micros;
    },
    /** Only the wall clock is set forward. */
    setForward(micros: Micros) {
      now += micros;
      setBack -= micros;
    },
    /** Only the wall clock is set back. */
    setBack(micros: Micros) {
      now -= micros;
      setBack += micros;
    },
    async close() {
      await Promise.all([...running].map((process) => process.stop()));
      await outbound.close();
      receiver.closeAllConnections();
      await new Promise((done) => receiver.close(done));
      await runner.stop();
      const breaches = judge(await allOf(storage.log)).breaches.filter(({ rule }) => !NOT_HERE.has(rule));
      await storage.close();
      if (breaches.length > 0) throw new Error(JSON.stringify(breaches, null, 2));
      await rm(directory, { recursive: true, force: true });
    },
  };
}
