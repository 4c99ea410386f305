import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isRejection } from '../../src/commands/decider.ts';
import { type Delivery, type DeliveryCommand, delivery } from '../../src/commands/delivery/delivery.ts';
import { ATTEMPT_DEADLINE_SECONDS, MAX_JITTER, RETRY_DELAYS_MINUTES } from '../../src/commands/delivery/schedule.ts';
import { dueAt } from '../../src/commands/delivery/wait.ts';
import { type DeliveryEvent, deliveryStream } from '../../src/events/delivery.ts';
import type { JsonObject } from '../../src/events/event.ts';
import {
  DELIVERIES,
  DELIVERY_TIMERS,
  type DeliveryRecord,
  type DeliveryTimer,
  deliveries,
  LONGEST_SPAN,
  partitionOf,
  spanEnds,
  spanOf,
} from '../../src/projections/deliveries.ts';
import { toInstant, toMicros } from '../../src/runtime/instant.ts';
import {
  ACT,
  acknowledged,
  DELIVERY,
  facts,
  finished,
  interrupted,
  KEY,
  minutes,
  requested,
  START,
  scheduled,
  seconds,
  started,
  WALLET,
} from '../commands/delivery/delivery.fixtures.ts';

function fold(history: readonly DeliveryEvent[]) {
  const documents = new Map<string, JsonObject>();
  for (const [index, event] of history.entries()) {
    if (!deliveries.events.some(({ type }) => type === event.type)) continue;
    const recorded = { stream: deliveryStream(DELIVERY), revision: index } as never;
    const projected = { event: event as never, recorded, contents: new Map() };
    for (const target of deliveries.targets(projected)) {
      const document = deliveries.fold(target, documents.get(target.collection) ?? null, projected);
      if (document) documents.set(target.collection, document);
      else documents.delete(target.collection);
    }
  }
  return {
    record: documents.get(DELIVERIES) as DeliveryRecord | undefined,
    timer: documents.get(DELIVERY_TIMERS) as DeliveryTimer | undefined,
  };
}

describe('the read models of deliveries', () => {
  it('show a new delivery as due at once', () => {
    const { record, timer } = fold([scheduled]);
    expect(record).toMatchObject({ status: 'pending', attempts: 0, wallet: WALLET, court: 'cand', span: null });
    expect(timer).toEqual({
      partition: partitionOf(WALLET),
      dueAt: facts.createdAt,
      since: facts.createdAt,
      wallet: WALLET,
      origin: facts.origin,
      scheduledFor: facts.createdAt,
      scheduledSince: facts.createdAt,
      askedAt: null,
    });
  });
  it('show each attempt, including interrupted ones and redeliveries, and count only the seven', () => {
    const at = START + minutes(4);
    const { record, timer } = fold([
      scheduled,
      started(1, START),
      interrupted(1, START),
      started(1, START + seconds(60)),
      finished(1, START + seconds(60), at),
      requested(1, START + minutes(2)),
      started(1, START + minutes(2), { redelivery: true }),
      acknowledged(1, START + minutes(2), { redelivery: true }),
    ]);
    expect(record).toMatchObject({
      status: 'succeeded',
      attempts: 1,
      firstAttemptAt: facts.createdAt,
      lastAttemptAt: toInstant(START + minutes(2)),
      nextAttemptAt: null,
      lastResponseCode: 200,
    });
    expect(record?.attemptLog.map((one) => [one.attempt, one.redelivery, one.failureClass, one.keyId])).toEqual([
      [1, false, 'interrupted', KEY],
      [1, false, 'http_5xx', KEY],
      [1, true, null, KEY],
    ]);
    expect(timer).toBeUndefined();
  });
  it('drop the due time of a finished delivery, and restore it on a redelivery request', () => {
    const over = [scheduled, started(7, START), finished(7, START, null)];
    expect(fold(over).timer).toBeUndefined();
    const asked = START + minutes(99);
    expect(fold([...over, requested(1, asked)]).timer).toMatchObject({ dueAt: toInstant(asked), origin: facts.origin });
  });
  it('keep only the newest of very many attempts', () => {
    const history: DeliveryEvent[] = [scheduled];
    for (let i = 1; i <= 250; i++) {
      history.push(requested(i, START), finished(i, START + seconds(i), null, { redelivery: true }));
    }
    expect(fold(history).record?.attemptLog.map(({ attempt }) => attempt)).toHaveLength(200);
  });
  it('agree with the rules for every delivery', () => {
    const step = fc.record({
      does: fc.constantFrom('start', 'start', 'finish', 'finish', 'interrupt', 'redeliver', 'cancel'),
      failure: fc.constantFrom(null, 'http_5xx', 'http_5xx', 'http_5xx', 'interrupted', 'content_withdrawn'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let state: Delivery = delivery.evolve(delivery.initialState, scheduled);
        const events: DeliveryEvent[] = [scheduled];
        let now = START;
        for (const { does, failure } of steps) {
          now = does === 'start' ? Math.max(now, dueAt(state) ?? now) : now + seconds(1);
          const underway = state.status === 'none' ? null : state.underway;
          const outcome = { responseCode: 500, failureClass: failure, retryAfterSeconds: null, durationMs: 1 } as never;
          const command: DeliveryCommand | null =
            does === 'start'
              ? { type: 'StartAttempt', now, keyId: KEY, owner: 'n' }
              : does === 'interrupt'
                ? { type: 'Interrupt', now, ownerIsGone: true, jitter: 0 }
                : does === 'redeliver'
                  ? { type: 'RequestRedelivery', now, ...ACT }
                  : does === 'cancel'
                    ? { type: 'Cancel', now, ...ACT }
                    : underway && { type: 'FinishAttempt', claimed: underway, outcome, now, jitter: 0 };
          const decided = command ? delivery.decide(state, command) : [];
          if (isRejection(decided)) continue;
          events.push(...decided);
          state = decided.reduce<Delivery>(delivery.evolve, state);
          if (state.status === 'none') throw new Error('it was scheduled');
          const { record, timer } = fold(events);
          const { status, attempts, nextAttemptAt } = state;
          expect([record?.status, record?.attempts, record?.nextAttemptAt]).toEqual([status, attempts, nextAttemptAt]);
          if (!state.underway) expect(timer ? toMicros(timer.dueAt) : null).toBe(dueAt(state));
          // While an attempt runs, a process that takes over must find it.
          else expect(timer).toBeDefined();
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('the span between creation and last attempt', () => {
  it('grows with the time between, and the longest has no end', () => {
    const late = (micros: number) => spanOf(toInstant(START), toInstant(START + micros));
    expect([late(0), late(minutes(1)), late(minutes(1) + 1)]).toEqual([null, null, 1]);
    for (let span = 1; span < LONGEST_SPAN; span++) {
      expect([late(spanEnds(span)), late(spanEnds(span) + 1)]).toEqual([span, span + 1]);
    }
    expect(late(minutes(60 * 24 * 365 * 50))).toBe(LONGEST_SPAN);
    expect(spanEnds(LONGEST_SPAN)).toBe(Number.POSITIVE_INFINITY);
  });
  it('keeps the times of the schedule in narrow bands', () => {
    let at = 0;
    for (const [index, delay] of RETRY_DELAYS_MINUTES.entries()) {
      at += delay;
      const latest = minutes(at * (1 + MAX_JITTER)) + (index + 1) * seconds(ATTEMPT_DEADLINE_SECONDS);
      const span = spanOf(toInstant(START), toInstant(START + minutes(at)));
      expect(spanOf(toInstant(START), toInstant(START + latest)), `${at} minutes`).toBe(span);
      expect(spanEnds(span! - 1)).toBeGreaterThan(minutes(at * 0.96));
    }
  });
  it('distributes wallets evenly', () => {
    const counts = new Array(16).fill(0);
    for (let i = 0; i < 16_000; i++) counts[partitionOf(`wallet ${i}`)]++;
    expect(Math.min(...counts)).toBeGreaterThan(850);
    expect(Math.max(...counts)).toBeLessThan(1_150);
  });
});
