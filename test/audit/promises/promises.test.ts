/** Promised callbacks. Given what was recorded, when they are counted, then each is acknowledged, failed, rolled back or open. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Counts, countsOf, NO_COUNTS, plusCounts } from '../../../src/audit/promises/counts.ts';
import { type CallbackPromise, standingOf, withDelivery } from '../../../src/audit/promises/promise.ts';
import { GROUPINGS, type PromisesAsked, readPromises } from '../../../src/audit/promises/promise-book.ts';
import { reportLines } from '../../../src/audit/promises/report.ts';
import { isRejection } from '../../../src/commands/decider.ts';
import { type DeliveryCommand, delivery } from '../../../src/commands/delivery/delivery.ts';
import { type PaymentCommand, payment as paymentDecider } from '../../../src/commands/payment/payment.ts';
import { decodeEvent } from '../../../src/events/codec.ts';
import { type DeliveryEvent, deliveryStream } from '../../../src/events/delivery.ts';
import { HostPaused, HostResumed, hostSubject, operatorStream } from '../../../src/events/operator.ts';
import {
  PaymentAuthorized,
  type PaymentEvent,
  PaymentSettled,
  PaymentSettledLate,
  paymentStream,
  QueryAnswered,
} from '../../../src/events/payment.ts';
import { toInstant } from '../../../src/runtime/instant.ts';
import * as callback from '../../commands/delivery/delivery.fixtures.ts';
import * as paid from '../../commands/payment/payment.fixtures.ts';
import { openWrittenLog, type WrittenLog } from '../written-log.ts';

const { START, minutes } = callback;
const OTHER = 'aaaaaaaa-5a34-4b8e-9c3d-2f1a7b6c5d4e';
const PAYMENT = paymentStream('c'.repeat(64));
const DELIVERY = deliveryStream(callback.DELIVERY);
const at = (minute: number): string => toInstant(START + minutes(minute));
const ALL: PromisesAsked = { by: 'host', from: null, to: null };

const owed = (deliveryId: string, origin = callback.ORIGIN) => ({
  deliveryId,
  target: 'a'.repeat(64),
  origin,
  result: null,
});
const owing = (...callbacks: ReturnType<typeof owed>[]) => QueryAnswered.of({ ...paid.answer, callbacks });
const settling = (type: typeof PaymentSettled | typeof PaymentSettledLate, ...deliveries: string[]) =>
  type.of({ ...paid.settled.data, owes: { deliveries, keyCall: null } });

let written: WrittenLog;
beforeEach(async () => {
  written = await openWrittenLog();
});
afterEach(() => written.close());

const report = (asked: Partial<PromisesAsked> = {}) => readPromises(written.log, { ...ALL, ...asked });
const submitted = (...callbacks: ReturnType<typeof owed>[]) => [paid.authorized, owing(...callbacks), paid.submitted];
const promise = async () => {
  await written.write(PAYMENT, at(0), ...submitted(owed(callback.DELIVERY)));
  await written.write(PAYMENT, at(1), settling(PaymentSettled, callback.DELIVERY));
};
const happened = (...events: readonly DeliveryEvent[]) => written.write(DELIVERY, at(2), ...events);
const open = async () => [...(await report()).open()].map((one) => standingOf(one));
const counts = async () => (await report()).total;

describe('a callback', () => {
  it('is not promised before its payment has settled, or if it never does', async () => {
    await written.write(PAYMENT, at(0), ...submitted(owed(callback.DELIVERY)));
    expect(await counts()).toEqual(NO_COUNTS);
    await written.write(PAYMENT, at(1), paid.expired);
    expect(await counts()).toEqual(NO_COUNTS);
    await written.write(PAYMENT, at(2), settling(PaymentSettledLate, callback.DELIVERY));
    expect(await counts()).toMatchObject({ promised: 1, scheduled: 0, open: 1 });
  });

  it('is open while it was not scheduled', async () => {
    await promise();
    expect(await open()).toEqual([{ state: 'open', why: 'not_scheduled', since: at(1) }]);
  });

  it('is open while it waits for its next attempt', async () => {
    await promise();
    await happened(callback.scheduled, callback.started(1, START), callback.finished(1, START, START + minutes(3)));
    expect(await open()).toEqual([{ state: 'open', why: 'waiting', attempt: 2, dueAt: at(3) }]);
    expect(await counts()).toMatchObject({ scheduled: 1, attempted: 1, attempts: 1, open: 1 });
  });

  it('is open while an attempt is under way', async () => {
    await promise();
    await happened(callback.scheduled, callback.started(1, START));
    expect(await open()).toEqual([{ state: 'open', why: 'under_way', attempt: 1, redelivery: false, since: at(0) }]);
  });

  it.each([
    ['given up after its last attempt', {}, 'given_up'],
    ['withdrawn', { failureClass: 'content_withdrawn' as const }, 'content_withdrawn'],
    ['sent to a URL that is not allowed', { failureClass: 'url_not_allowed' as const }, 'url_unusable'],
  ])('has failed once it was %s', async (_what, over, because) => {
    await promise();
    await happened(callback.scheduled, callback.started(7, START), callback.finished(7, START, null, over));
    expect(await counts()).toMatchObject({ failed: 1, failedBecause: { [because]: 1 }, open: 0 });
  });

  it('that had failed is open again if an operator requests it, and counts as what comes of it', async () => {
    await promise();
    await happened(callback.scheduled, callback.started(7, START), callback.finished(7, START, null));
    await happened(callback.requested(1, START));
    expect(await open()).toEqual([{ state: 'open', why: 'redelivery_requested', since: at(0) }]);
    expect(await counts()).toMatchObject({ promised: 1, failed: 0, open: 1 });
    const redelivery = { redelivery: true };
    await happened(callback.started(1, START, redelivery), callback.acknowledged(1, START, redelivery));
    expect(await counts()).toMatchObject({ promised: 1, attempts: 2, acknowledged: 1, failed: 0, open: 0 });
  });

  it('is not owed if its payment was rolled back before it was scheduled, and owed again if that lands', async () => {
    await promise();
    await written.write(PAYMENT, at(2), paid.rolledBack);
    expect(await counts()).toMatchObject({ promised: 1, rolledBack: 1, open: 0 });
    await written.write(PAYMENT, at(3), settling(PaymentSettledLate, callback.DELIVERY));
    expect(await counts()).toMatchObject({ promised: 1, rolledBack: 0, open: 1 });
    expect([...(await report()).open()][0]?.promisedAt).toBe(at(1));
  });

  it('that was scheduled before the rollback continues', async () => {
    await promise();
    await happened(callback.scheduled);
    await written.write(PAYMENT, at(3), paid.rolledBack);
    await happened(callback.started(1, START), callback.acknowledged(1, START));
    expect(await counts()).toMatchObject({ promised: 1, acknowledged: 1, rolledBack: 0 });
  });

  it('that was scheduled although its payment had just been rolled back continues too', async () => {
    await promise();
    await written.write(PAYMENT, at(2), paid.rolledBack);
    await happened(callback.scheduled);
    expect(await counts()).toMatchObject({ promised: 1, scheduled: 1, rolledBack: 0, open: 1 });
  });
});

describe('the groups', () => {
  beforeEach(async () => {
    await written.write(PAYMENT, at(0), ...submitted(owed(callback.DELIVERY), owed(OTHER, 'unusable')));
    await written.write(PAYMENT, at(1), settling(PaymentSettled, callback.DELIVERY, OTHER));
    await happened(callback.scheduled, callback.started(1, START), callback.acknowledged(1, START));
  });

  it.each([
    ['host' as const, { 'receiver.example': [1, 1, 0], unusable: [1, 0, 1] }],
    ['wallet' as const, { [paid.WALLET]: [2, 1, 1] }],
    ['day' as const, { '2026-06-01': [2, 1, 1] }],
  ])('by %s have what was promised, acknowledged and is open', async (by, expected) => {
    const found = [...(await report({ by })).groups()].map(
      ([name, { promised, acknowledged, open: left }]) => [name, [promised, acknowledged, left]] as const,
    );
    expect(Object.fromEntries(found)).toEqual(expected);
  });

  it('hold only what was promised in the period', async () => {
    expect((await report({ from: at(1), to: at(1) })).total.promised).toBe(2);
    expect((await report({ to: at(0) })).total).toEqual(NO_COUNTS);
    expect((await report({ from: at(2) })).total).toEqual(NO_COUNTS);
  });

  it('are shown as a table, with what the open ones wait for', async () => {
    expect([...reportLines(await report(), 'host', at(60))].join('\n')).toBe(`\
host              promised  scheduled  attempted  attempts  acknowledged  failed  cancelled  rolled back  open
receiver.example         1          1          1         1             1       0          0            0     0
unusable                 1          0          0         0             0       0          0            0     1
total                    2          1          1         1             1       0          0            0     1

Open:
  2026-06-01 12:01:00 UTC  ${OTHER}  unusable  not scheduled since its payment settled at 2026-06-01 12:01:00 UTC`);
  });
});

describe('a paused host', () => {
  const HOST = operatorStream(hostSubject(callback.ORIGIN));
  const act = { origin: callback.ORIGIN, by: 'Ann Lee', reason: 'they move' };
  const lines = async (limit?: number) => [...reportLines(await report(), 'host', at(60), limit)].join('\n');

  it('is named for a callback that waits for an attempt, until it is resumed', async () => {
    await promise();
    await happened(callback.scheduled, callback.started(1, START), callback.finished(1, START, START + minutes(3)));
    await written.write(HOST, at(3), HostPaused.of(act));
    await written.write(HOST, at(4), HostPaused.of({ ...act, by: 'Ben' }));
    expect(await lines()).toContain(
      'attempt 2 of 7 was due at 2026-06-01 12:03:00 UTC; its host is paused since 2026-06-01 12:03:00 UTC by Ann Lee: they move',
    );
    const found = await report();
    const [one] = found.open();
    expect(found.pauseOf(one!)).toEqual({ since: at(3), by: 'Ann Lee', reason: 'they move' });
    await written.write(HOST, at(5), HostResumed.of(act));
    expect(await lines()).not.toContain('paused');
  });

  it('does not explain a callback that was never scheduled, or another host', async () => {
    await promise();
    await written.write(HOST, at(3), HostPaused.of(act));
    expect(await lines()).not.toContain('paused');
    await happened(callback.scheduled, callback.started(1, START));
    expect(await lines()).not.toContain('paused');
  });
});

it('shows as many groups and open callbacks as asked for, and how many more there are', async () => {
  await written.write(PAYMENT, at(0), ...submitted(owed(callback.DELIVERY), owed(OTHER, 'https://other.example')));
  await written.write(PAYMENT, at(1), settling(PaymentSettled, callback.DELIVERY, OTHER));
  const text = [...reportLines(await report(), 'host', at(60), 1)].join('\n');
  expect(text).toMatch(/^host .*\nother\.example .*\n… and 1 more, which the total contains; see --limit\ntotal +2 /);
  expect(text).toMatch(/\nOpen:\n .*\n {2}… and 1 more; see --limit$/);
});

type Act =
  | ('settle' | 'fail' | 'rollBack' | 'finalize')
  | ('schedule' | 'start' | 'ack' | 'refuse' | 'withdraw' | 'interrupt' | 'redeliver' | 'cancel');
/** What is tried in one step of a history, on a payment and one of its callbacks. What no rule allows changes nothing. */
const STEPS: readonly (readonly Act[])[] = [
  ['settle'],
  ['settle', 'schedule'],
  ['fail'],
  ['rollBack'],
  ['finalize'],
  ['schedule'],
  ['start'],
  ['start', 'ack'],
  ['start', 'refuse'],
  ['start', 'withdraw'],
  ['start', 'interrupt'],
  ['redeliver'],
  ['redeliver', 'start', 'refuse'],
  ['cancel'],
  ['start', 'cancel'],
];
const step = fc.record({ of: fc.nat(1), callback: fc.nat(1), does: fc.constantFrom(...STEPS) });
type Step = { readonly of: number; readonly callback: number; readonly does: readonly Act[] };

describe('whatever happens', () => {
  it('the report is what the streams say in the end, and its columns add up', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 40, size: 'max' }),
        fc.constantFrom('host', 'wallet', 'day'),
        async (steps, by) => {
          const log = await openWrittenLog();
          try {
            const history = await play(log, steps);
            const found = await readPromises(log.log, { ...ALL, by });
            const expected = new Map<string, Counts>();
            for (const one of history) {
              const group = GROUPINGS[by](one);
              expected.set(group, plusCounts(expected.get(group) ?? NO_COUNTS, countsOf(one)));
            }
            expect(Object.fromEntries(found.groups())).toEqual(Object.fromEntries(expected));
            const total = found.total;
            expect(total.acknowledged + total.failed + total.cancelled + total.rolledBack + total.open).toBe(
              total.promised,
            );
            const { given_up, content_withdrawn, url_unusable } = total.failedBecause;
            expect(given_up + content_withdrawn + url_unusable).toBe(total.failed);
            expect([...found.open()].length).toBe(total.open);
            expect(total.attempted).toBeLessThanOrEqual(total.scheduled);
            // With almost nothing in memory, the report is the same.
            const spilled = await readPromises(log.log, { ...ALL, by }, 1);
            expect({ ...spilled, groups: [...spilled.groups()], open: [...spilled.open()] }).toMatchObject({
              total,
              groups: [...found.groups()],
              open: [...found.open()],
            });
            expect([...spilled.open(1)]).toEqual([...found.open()].slice(0, 1));
            spilled.close();
          } finally {
            await log.close();
          }
        },
      ),
      { numRuns: 40 },
    );
  });
});

/** Plays a history by the rules of the service; returns each promise as its complete streams tell. */
async function play(log: WrittenLog, steps: readonly Step[]) {
  let now = START;
  const payments = [0, 1].map((of) => {
    const hash = String(of).repeat(64);
    const ids = [0, 1].map((index) => `${of}${index}aaaaaa-5a34-4b8e-9c3d-2f1a7b6c5d4e`);
    const origins = [callback.ORIGIN, of === 1 ? 'unusable' : 'https://other.example:8443'];
    const wallet = of === 0 ? paid.WALLET : callback.WALLET;
    return { hash, stream: paymentStream(hash), ids, origins, wallet };
  });
  const fold = async (stream: string) => (await log.log.read(stream)).map((recorded) => decodeEvent(recorded));
  for (const { stream, ids, origins, wallet } of payments) {
    const authorized = PaymentAuthorized.of({ ...paid.authorization, wallet });
    const callbacks = ids.map((id, index) => owed(id, origins[index]));
    await log.write(stream, toInstant(now), authorized, owing(...callbacks), paid.submitted);
  }
  const acts = steps.flatMap(({ does, ...on }) => does.map((act) => ({ ...on, does: act })));
  for (const { of, callback: index, does } of acts) {
    now += minutes(14 * 60);
    const { stream, ids, hash, wallet, origins } = payments[of]!;
    const deliveryId = ids[index]!;
    const state = (await fold(stream)).reduce(
      (known, event) => paymentDecider.evolve(known, event as PaymentEvent),
      paymentDecider.initialState,
    );
    const deliveryState = (await fold(deliveryStream(deliveryId))).reduce(
      (known, event) => delivery.evolve(known, event as DeliveryEvent),
      delivery.initialState,
    );
    const onPayment: Partial<Record<typeof does, PaymentCommand>> = {
      settle: { type: 'Settle', slot: 7 },
      fail: { type: 'Fail', reason: 'expired', detail: null },
      rollBack: { type: 'RollBack', reason: 'not_on_the_finalized_chain' },
      finalize: { type: 'Finalize', slot: 7 },
    };
    const command = onPayment[does];
    if (command) {
      const events = paymentDecider.decide(state, command);
      if (!isRejection(events) && events.length > 0) await log.write(stream, toInstant(now), ...events);
      continue;
    }
    const facts = {
      ...callback.facts,
      deliveryId,
      payment: hash,
      wallet,
      origin: origins[index]!,
      createdAt: toInstant(now),
    };
    if (does === 'schedule' && !['settled', 'rolled_back'].includes(state.status)) continue;
    const underway = 'underway' in deliveryState ? deliveryState.underway : null;
    const outcome = (failureClass: 'http_5xx' | 'content_withdrawn' | null): DeliveryCommand | null =>
      underway && {
        type: 'FinishAttempt',
        claimed: underway,
        outcome: { responseCode: null, failureClass, retryAfterSeconds: null, durationMs: 1 },
        now,
        jitter: 0,
      };
    const onDelivery: Partial<Record<typeof does, DeliveryCommand | null>> = {
      schedule: { type: 'Schedule', facts },
      start: { type: 'StartAttempt', now, keyId: 'k', owner: 'node' },
      ack: outcome(null),
      refuse: outcome('http_5xx'),
      withdraw: outcome('content_withdrawn'),
      interrupt: { type: 'Interrupt', now, ownerIsGone: true, jitter: 0 },
      redeliver: { type: 'RequestRedelivery', now, by: 'operator', reason: 'asked' },
      cancel: { type: 'Cancel', now, by: 'operator', reason: 'asked' },
    };
    const asked = onDelivery[does];
    const events = asked ? delivery.decide(deliveryState, asked) : [];
    if (!isRejection(events) && events.length > 0)
      await log.write(deliveryStream(deliveryId), toInstant(now), ...events);
  }
  const promises: CallbackPromise[] = [];
  for (const { stream, ids, origins, wallet, hash } of payments) {
    const recorded = await log.log.read(stream);
    const settled = recorded.find(({ type }) => type.startsWith('PaymentSettled'));
    if (!settled) continue;
    const last = recorded.findLast(({ type }) => type.startsWith('PaymentSettled') || type === 'PaymentRolledBack');
    for (const [index, deliveryId] of ids.entries()) {
      const made: CallbackPromise = {
        deliveryId,
        payment: hash,
        requestId: paid.REQUEST,
        wallet,
        origin: origins[index]!,
        promisedAt: settled.metadata.recordedAt,
        rolledBack: last?.type === 'PaymentRolledBack',
        delivery: { status: 'none' },
        attempts: 0,
        lastFailure: null,
      };
      promises.push(
        (await fold(deliveryStream(deliveryId))).reduce(
          (known, event) => withDelivery(known, event as DeliveryEvent),
          made,
        ),
      );
    }
  }
  return promises;
}
