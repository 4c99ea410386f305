import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { handle } from '../../src/commands/handle.ts';
import { payment, type RecordedAnswer } from '../../src/commands/payment/payment.ts';
import { deliveryStream } from '../../src/events/delivery.ts';
import type { DomainEvent } from '../../src/events/event.ts';
import {
  PaymentAuthorized,
  PaymentRolledBack,
  PaymentSettled,
  PaymentSettledLate,
  PaymentSubmitted,
  paymentStream,
  QueryAnswered,
} from '../../src/events/payment.ts';
import { type AfterSettlementPorts, createAfterSettlement } from '../../src/processes/after-settlement.ts';
import { NO_STREAM } from '../../src/storage/event-log.ts';
import { headAfter, prepareAppend } from '../../src/storage/prepare-append.ts';
import { StorageFailure } from '../../src/storage/storage-failure.ts';
import { authorization, rolledBack, settled, submission } from '../commands/payment/payment.fixtures.ts';
import { silent } from '../http/serving.ts';
import { context, type DeliveryWorld, openDeliveryWorld, status } from './delivery-world.ts';

let world: DeliveryWorld;
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  await world.close();
});

const until = (condition: () => Promise<void> | void) => vi.waitFor(condition, { timeout: 8_000, interval: 10 });

function follow(over: Partial<AfterSettlementPorts> = {}) {
  const stopping = new AbortController();
  const keysEnsured: string[] = [];
  const keyCalls: unknown[] = [];
  const running = createAfterSettlement({
    ...world.storage,
    clock: world.clock,
    logger: silent,
    owner: randomUUID(),
    ensureKey: async (wallet) => keysEnsured.push(wallet),
    applyKeyCall: async ({ answer }) => keyCalls.push(answer.keyCall),
    ...over,
  }).run(stopping.signal);
  const stop = async () => {
    stopping.abort();
    await running;
  };
  stops.push(stop);
  return { keysEnsured, keyCalls, stop };
}

const CASE = { case_id: '3:24-cv-42', court_code: 'CAND', case: { case_number: '3:24-cv-00042' } };

const KEY_CALLS = { show: { endpoint: 'GET /v2/wallet/keys' }, rotate: { endpoint: 'POST /v2/wallet/keys' } };

/** A payment as its request records it, up to its submission or further. */
async function pay(
  over: Partial<RecordedAnswer> = {},
  outcomes: readonly ('settled' | 'late' | 'undone')[] = ['settled'],
  body: object = { meta: {}, ...CASE },
) {
  const bytes = Buffer.from(JSON.stringify(body));
  const requestId = randomUUID();
  const deliveryId = randomUUID();
  const { payloads, log } = world.storage;
  const answer: RecordedAnswer = {
    requestId,
    answer: await payloads.put('answer', bytes),
    keepUntil: '2026-07-01T12:00:00.000000Z',
    answeredCases: 1,
    keyCall: null,
    callbacks: [
      {
        deliveryId,
        target: await payloads.put('target', Buffer.from('https://r.example/x')),
        origin: 'https://r.example',
        result: null,
      },
    ],
    ...over,
  };
  const owes =
    answer.callbacks.length === 0 && !answer.keyCall
      ? null
      : { deliveries: answer.callbacks.map((one) => one.deliveryId), keyCall: answer.keyCall };
  const charge = { ...settled.data, requestId, owes };
  const events: DomainEvent[] = [
    PaymentAuthorized.of({ ...authorization, requestId, ...(answer.keyCall && KEY_CALLS[answer.keyCall.does]) }),
    QueryAnswered.of(answer),
    PaymentSubmitted.of(submission),
    ...outcomes.map((outcome) => {
      if (outcome === 'undone') return PaymentRolledBack.of({ ...rolledBack.data, requestId });
      return outcome === 'settled' ? PaymentSettled.of(charge) : PaymentSettledLate.of(charge);
    }),
  ];
  const hash = randomUUID().replaceAll('-', '').padEnd(64, '0');
  let head = NO_STREAM;
  for (const event of events) {
    const append = prepareAppend({
      stream: paymentStream(hash),
      head,
      events: [event],
      context: context(),
      recordedAt: '2026-06-01T12:00:00.000000Z',
    });
    await log.append(append);
    head = headAfter(append);
  }
  return { deliveryId, answer, bytes, hash, requestId };
}

const scheduled = async (id: string) => (await world.storage.log.read(deliveryStream(id)))[0]?.data;
const eventually = (id: string) => until(async () => expect(await scheduled(id)).toBeDefined());

describe('a settlement', () => {
  it('schedules the callbacks that it owes: the exact bytes of the answer, wrapped once', async () => {
    world = await openDeliveryWorld();
    const { keysEnsured } = follow();
    const { deliveryId, bytes, answer, hash, requestId } = await pay();
    await eventually(deliveryId);
    const facts = (await scheduled(deliveryId))!;
    expect(facts).toMatchObject({
      deliveryId,
      requestId,
      payment: hash,
      wallet: authorization.wallet,
      caseId: '3:24-cv-42',
      courtCode: 'CAND',
      caseNumber: '3:24-cv-00042',
      target: answer.callbacks[0]!.target,
      origin: 'https://r.example',
    });
    const envelope = (await world.storage.payloads.get(String(facts.envelope)))!;
    expect(envelope.toString().startsWith(`{"payload":${bytes},"webhook":{`)).toBe(true);
    expect(keysEnsured).toEqual([authorization.wallet]);
    expect(JSON.stringify(facts)).not.toContain('r.example/x');
  });

  it('of a batch pushes each callback its own result', async () => {
    world = await openDeliveryWorld();
    follow();
    const target = await world.storage.payloads.put('target', Buffer.from('https://r.example/x'));
    const callbacks = [0, 2].map((result) => ({
      deliveryId: randomUUID(),
      target,
      origin: 'https://r.example',
      result,
    }));
    const results = [
      { status: 'success', response: { ...CASE, case_id: 'first' } },
      { status: 'error', error: {} },
      { status: 'success', response: { ...CASE, case_id: 'third', text: 'é"\u2028' } },
    ];
    await pay({ callbacks }, ['settled'], { meta: {}, results });
    for (const [index, { deliveryId, result }] of callbacks.entries()) {
      await eventually(deliveryId);
      const facts = (await scheduled(deliveryId))!;
      expect(facts.caseId).toBe(['first', 'third'][index]);
      const envelope = (await world.storage.payloads.get(String(facts.envelope)))!.toString();
      expect(envelope).toContain(`{"payload":${JSON.stringify(results[result]!.response)},`);
    }
  });

  it('performs a call on keys, and owes nothing if it was undone', async () => {
    world = await openDeliveryWorld();
    const undone = await pay({}, ['settled', 'undone']);
    await pay({ callbacks: [], answer: null, keyCall: { does: 'rotate', keyId: 'k2' } });
    const { keyCalls } = follow();
    await until(() => expect(keyCalls).toEqual([{ does: 'rotate', keyId: 'k2' }]));
    expect(await scheduled(undone.deliveryId)).toBeUndefined();
  });

  it('that is undone later does not stop the callbacks that were scheduled for it', async () => {
    world = await openDeliveryWorld({ realTime: true });
    world.answer(status(204));
    follow();
    const deliveryId = randomUUID();
    const target = await world.storage.payloads.put('target', Buffer.from(`${world.base}/undone`));
    const { hash, requestId } = await pay({ callbacks: [{ deliveryId, target, origin: world.base, result: null }] });
    await eventually(deliveryId);
    const command = { type: 'RollBack', reason: 'not_on_the_finalized_chain' } as const;
    const undone = await handle(
      { ...world.storage, clock: world.clock },
      payment,
      paymentStream(hash),
      command,
      context(),
    );
    expect(undone).toMatchObject({ state: { status: 'rolled_back' } });
    world.node();
    await until(async () => expect(await world.stateOf(deliveryId)).toMatchObject({ status: 'succeeded' }));
    expect(world.received.map(({ path }) => path)).toEqual(['/undone']);
    expect(world.received[0]?.body.toString()).toContain(CASE.case_id);
    expect(requestId).toBe((await scheduled(deliveryId))?.requestId);
  });

  it('that came late is completed too, once', async () => {
    world = await openDeliveryWorld();
    follow();
    const { deliveryId } = await pay({}, ['settled', 'undone', 'late']);
    await eventually(deliveryId);
    await sleep(100);
    expect(await world.storage.log.read(deliveryStream(deliveryId))).toHaveLength(1);
  });

  it('whose answer was withdrawn before is scheduled with nothing to send', async () => {
    world = await openDeliveryWorld();
    const { deliveryId, answer } = await pay();
    await world.storage.payloads.remove(answer.answer!);
    follow();
    await eventually(deliveryId);
    expect(await scheduled(deliveryId)).toMatchObject({ envelope: null, caseId: null });
  });
});

describe('the process', () => {
  it('continues after what it has done, and stores nothing twice', async () => {
    world = await openDeliveryWorld();
    const first = follow();
    const done = await pay();
    await eventually(done.deliveryId);
    // It is past the one before once it has concluded this, which the stop may make it repeat.
    const last = await pay();
    await eventually(last.deliveryId);
    await first.stop();
    const meanwhile = await pay();
    const second = follow();
    await eventually(meanwhile.deliveryId);
    await second.stop();
    expect(second.keysEnsured.length).toBeLessThan(3);
    // Without its cursor it starts from the beginning, and finds everything done.
    const { version } = await world.storage.readStore.cell('after-settlement');
    await world.storage.readStore.compareAndSet('after-settlement', version, { position: null, left: [] });
    const puts = vi.spyOn(world.storage.payloads, 'put');
    const third = follow();
    await until(() => expect(third.keysEnsured).toHaveLength(3));
    await sleep(100);
    expect(puts).not.toHaveBeenCalled();
    for (const { deliveryId } of [done, last, meanwhile]) {
      expect(await world.storage.log.read(deliveryStream(deliveryId))).toHaveLength(1);
    }
  });

  it('retries while the storage fails, and loses nothing', async () => {
    world = await openDeliveryWorld();
    let failures = 3;
    const { payloads } = world.storage;
    follow({
      payloads: {
        ...payloads,
        resolve: (names) => payloads.resolve(names),
        put: (kind, content) => {
          if (failures-- > 0) return Promise.reject(new StorageFailure('storage_unavailable', 'not now'));
          return payloads.put(kind, content);
        },
      } as typeof payloads,
    });
    const { deliveryId } = await pay();
    await eventually(deliveryId);
  });

  it('skips one settlement that fails by itself, and retries it later', async () => {
    world = await openDeliveryWorld();
    let broken = true;
    const applyKeyCall = vi.fn(async () => {
      if (broken) throw new Error('this one cannot be done');
    });
    const first = follow({ applyKeyCall });
    const left = await pay({ keyCall: { does: 'show', keyId: 'k' } });
    const { deliveryId } = await pay();
    await eventually(deliveryId);
    await until(() => expect(applyKeyCall).toHaveBeenCalledTimes(4));
    const after = await pay();
    await eventually(after.deliveryId);
    await first.stop();
    expect(await scheduled(left.deliveryId)).toBeUndefined();
    broken = false;
    follow({ applyKeyCall });
    await eventually(left.deliveryId);
  });

  it('is run by one of several', async () => {
    world = await openDeliveryWorld();
    const nodes = [follow(), follow()];
    const payments = await Promise.all(Array.from({ length: 20 }, () => pay()));
    for (const { deliveryId } of payments) await eventually(deliveryId);
    expect(nodes.map(({ keysEnsured }) => keysEnsured.length).sort()).toEqual([0, 20]);
  });
});
