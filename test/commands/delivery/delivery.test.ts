import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isRejection } from '../../../src/commands/decider.ts';
import {
  type AttemptUnderWay,
  type Delivery,
  type DeliveryCommand,
  delivery,
  type ReceivedOutcome,
} from '../../../src/commands/delivery/delivery.ts';
import { dueAt } from '../../../src/commands/delivery/wait.ts';
import type { DeliveryEvent } from '../../../src/events/delivery.ts';
import { type Instant, type Micros, toInstant, toMicros } from '../../../src/runtime/instant.ts';
import { given } from '../../given-when-then.ts';
import {
  ACT,
  acknowledged,
  cancelled,
  claim,
  facts,
  finished,
  interrupted,
  KEY,
  minutes,
  NODE,
  requested,
  START,
  scheduled,
  seconds,
  started,
} from './delivery.fixtures.ts';

const when = (...history: readonly DeliveryEvent[]) => given(delivery, ...history);
const start = (now: Micros): DeliveryCommand => ({ type: 'StartAttempt', now, keyId: KEY, owner: NODE });
const refusal: ReceivedOutcome = {
  responseCode: 503,
  failureClass: 'http_5xx',
  retryAfterSeconds: null,
  durationMs: 2_000,
};
const finish = (claimed: AttemptUnderWay, now: Micros, outcome: Partial<ReceivedOutcome> = {}, jitter = 0) =>
  ({ type: 'FinishAttempt', claimed, outcome: { ...refusal, ...outcome }, now, jitter }) as const;
const interrupt = (now: Micros, ownerIsGone = false) =>
  ({ type: 'Interrupt', now, ownerIsGone, jitter: 0 }) as const satisfies DeliveryCommand;

describe('a delivery', () => {
  it('is scheduled once', () => {
    when().when({ type: 'Schedule', facts }).then(scheduled);
    when(scheduled).when({ type: 'Schedule', facts }).then();
  });
  it('has no attempt before it is scheduled', () => {
    when().when(start(START)).thenRejected('not_scheduled');
    when()
      .when({ type: 'RequestRedelivery', now: START, ...ACT })
      .thenRejected('not_scheduled');
  });
  it('is first attempted at once', () => {
    when(scheduled).when(start(START)).then(started(1, START));
  });
  it('is over when its receiver acknowledges', () => {
    const done = acknowledged(1, START);
    when(scheduled, started(1, START))
      .when(finish(claim(1, START), START + seconds(2), { responseCode: 200, failureClass: null }))
      .then(done);
    when(scheduled, started(1, START), done)
      .when(start(START + minutes(9_999)))
      .thenRejected('nothing_due');
    expect(when(scheduled, started(1, START), done).state).toMatchObject({ status: 'succeeded', attempts: 1 });
  });
  it('is attempted by one at a time', () => {
    when(scheduled, started(1, START)).when(start(START)).thenRejected('attempt_under_way');
  });
  it('accepts the outcome of the running attempt only', () => {
    const at = START + seconds(1);
    when(scheduled, started(1, START))
      .when(finish(claim(1, at), at))
      .thenRejected('not_under_way');
    when(scheduled, started(1, START))
      .when(finish(claim(1, START, { owner: 'b' }), at))
      .thenRejected('not_under_way');
    when(scheduled)
      .when(finish(claim(1, START), at))
      .thenRejected('not_under_way');
  });
  it('ends no attempt before it began, wherever the clock was set', () => {
    when(scheduled, started(1, START))
      .when(finish(claim(1, START), START - minutes(5)))
      .then(finished(1, START, START + minutes(3), { finishedAt: toInstant(START) }));
  });
});

describe('the schedule', () => {
  /** The specification's table: each delay counts from the end of the previous attempt. */
  const delays = [3, 9, 27, 81, 243, 729];

  it('follows the specification, and ends after the seventh failure', () => {
    const history: DeliveryEvent[] = [scheduled];
    let at = START;
    for (let attempt = 1; attempt <= 7; attempt++) {
      history.push(started(attempt, at));
      const delay = delays[attempt - 1];
      const next = delay === undefined ? null : at + seconds(2) + minutes(delay);
      when(...history)
        .when(finish(claim(attempt, at), at + seconds(2)))
        .then(finished(attempt, at, next));
      history.push(finished(attempt, at, next));
      if (next === null) break;
      when(...history)
        .when(start(next - 1))
        .thenRejected('not_due_yet');
      when(...history)
        .when(start(next))
        .then(started(attempt + 1, next));
      at = next;
    }
    when(...history)
      .when(start(at + minutes(99_999)))
      .thenRejected('nothing_due');
    expect(when(...history).state).toMatchObject({ status: 'failed', attempts: 7, nextAttemptAt: null });
  });
  it('adds jitter, up to 5 %', () => {
    const next = START + seconds(2) + minutes(3 * 1.05);
    when(scheduled, started(1, START))
      .when(finish(claim(1, START), START + seconds(2), {}, 0.05))
      .then(finished(1, START, next));
  });
  it('waits longer if the receiver asks for it, at most twice as long and never less, and records what it asked', () => {
    const waits = (retryAfterSeconds: number, delay: Micros) =>
      when(scheduled, started(1, START))
        .when(finish(claim(1, START), START + seconds(2), { retryAfterSeconds }))
        .then(finished(1, START, START + seconds(2) + delay, { retryAfterSeconds }));
    waits(240, minutes(4));
    waits(86_400, minutes(6));
    waits(1, minutes(3));
  });
  it('ends if the answer was withdrawn', () => {
    const failure = { responseCode: null, failureClass: 'content_withdrawn' } as const;
    when(scheduled, started(1, START))
      .when(finish(claim(1, START), START + seconds(2), failure))
      .then(finished(1, START, null, failure));
  });
});

describe('an attempt whose process died', () => {
  const over = START + seconds(60);

  it('is interrupted when its lease ends, or at once if the process is known to be gone', () => {
    when(scheduled, started(1, START))
      .when(interrupt(over - 1))
      .thenRejected('lease_running');
    when(scheduled, started(1, START)).when(interrupt(over)).then(interrupted(1, START));
    when(scheduled, started(1, START))
      .when(interrupt(START + seconds(3), true))
      .then(
        interrupted(1, START, {
          finishedAt: toInstant(START + seconds(3)),
          nextAttemptAt: toInstant(START + seconds(3)),
        }),
      );
    when(scheduled).when(interrupt(over)).thenRejected('not_under_way');
  });
  it('is repeated under its number, at once', () => {
    when(scheduled, started(1, START), interrupted(1, START)).when(start(over)).then(started(1, over));
  });
  it('counts as failed after three repeats', () => {
    const history: DeliveryEvent[] = [scheduled];
    let at = START;
    for (let run = 1; run <= 3; run++) {
      history.push(started(1, at), interrupted(1, at));
      at += seconds(60);
    }
    history.push(started(1, at));
    when(...history)
      .when(interrupt(at + seconds(60)))
      .then(interrupted(1, at, { outcome: 'failed', nextAttemptAt: toInstant(at + seconds(60) + minutes(3)) }));
  });
  it('that was stopped with its service is interrupted, too', () => {
    when(scheduled, started(1, START))
      .when(finish(claim(1, START), START + seconds(2), { responseCode: null, failureClass: 'interrupted' }))
      .then(
        interrupted(1, START, {
          finishedAt: toInstant(START + seconds(2)),
          durationMs: 2_000,
          nextAttemptAt: toInstant(START + seconds(2)),
        }),
      );
  });
});

describe('a cancellation', () => {
  const at = START + minutes(1);
  const cancel: DeliveryCommand = { type: 'Cancel', now: at, ...ACT };
  const waiting = [scheduled, started(1, START), finished(1, START, START + minutes(3))];

  it('ends what is still to come', () => {
    when(...waiting)
      .when(cancel)
      .then(cancelled(at));
    const after = when(...waiting, cancelled(at));
    expect(after.state).toMatchObject({ status: 'cancelled', attempts: 1, nextAttemptAt: null });
    after.when(start(START + minutes(9_999))).thenRejected('nothing_due');
  });
  it('changes nothing if nothing is to come', () => {
    when(scheduled, started(1, START), acknowledged(1, START)).when(cancel).then();
    when(...waiting, cancelled(at))
      .when(cancel)
      .then();
  });
  it('waits for the attempt under way, and records one that was lost', () => {
    const underway = [scheduled, started(1, START)];
    when(...underway)
      .when({ ...cancel, now: START + seconds(59) })
      .thenRejected('attempt_under_way');
    const lost = interrupted(1, START);
    when(...underway)
      .when(cancel)
      .then(lost, cancelled(at));
    expect(when(...underway, lost, cancelled(at)).state).toMatchObject({ status: 'cancelled', attempts: 0 });
  });
  it('of a redelivery leaves a delivered or failed delivery as it was', () => {
    for (const [end, status] of [
      [acknowledged(1, START), 'succeeded'],
      [finished(1, START, null), 'failed'],
    ] as const) {
      const asked = [scheduled, started(1, START), end, requested(1, START)];
      when(...asked)
        .when(cancel)
        .then(cancelled(at));
      expect(when(...asked, cancelled(at)).state).toMatchObject({ status, redelivery: null });
    }
  });
  it('does not prevent a redelivery that is requested later', () => {
    const history = [...waiting, cancelled(at), requested(1, at), started(1, at, { redelivery: true })];
    const failed = finished(1, at, null, { redelivery: true });
    expect(when(...history, failed).state).toMatchObject({ status: 'cancelled', nextAttemptAt: null });
    const done = acknowledged(1, at, { redelivery: true });
    expect(when(...history, done).state).toMatchObject({ status: 'succeeded' });
  });
});

describe('a redelivery', () => {
  const exhausted = [scheduled, started(7, START), finished(7, START, null)];
  const asked = START + minutes(60);
  const redo = claim(1, asked, { redelivery: true });

  it('is made once, with its own number', () => {
    when(...exhausted)
      .when({ type: 'RequestRedelivery', now: asked, ...ACT })
      .then(requested(1, asked));
    when(...exhausted, requested(1, asked))
      .when({ type: 'RequestRedelivery', now: asked, ...ACT })
      .then();
    when(...exhausted, requested(1, asked))
      .when(start(asked))
      .then(started(1, asked, { redelivery: true }));
  });
  it('makes the delivery succeed', () => {
    const history = [...exhausted, requested(1, asked), started(1, asked, { redelivery: true })];
    when(...history)
      .when(finish(redo, asked + seconds(2), { responseCode: 200, failureClass: null }))
      .then(acknowledged(1, asked, { redelivery: true }));
    expect(when(...history, acknowledged(1, asked, { redelivery: true })).state).toMatchObject({
      status: 'succeeded',
      attempts: 7,
    });
  });
  it('that fails changes nothing', () => {
    const history = [...exhausted, requested(1, asked), started(1, asked, { redelivery: true })];
    when(...history)
      .when(finish(redo, asked + seconds(2)))
      .then(finished(1, asked, null, { redelivery: true }));
    const after = when(...history, finished(1, asked, null, { redelivery: true }));
    after.when(start(asked + minutes(9_999))).thenRejected('nothing_due');
    expect(after.state).toMatchObject({ status: 'failed', attempts: 7 });
  });
  it('leaves the schedule as it is', () => {
    const next = START + minutes(3);
    const history = [
      scheduled,
      started(1, START),
      finished(1, START, next),
      requested(1, START + minutes(1)),
      started(1, START + minutes(1), { redelivery: true }),
    ];
    const failed = finished(1, START + minutes(1), next, { redelivery: true });
    when(...history)
      .when(finish(claim(1, START + minutes(1), { redelivery: true }), START + minutes(1) + seconds(2)))
      .then(failed);
    when(...history, failed)
      .when(start(next - 1))
      .thenRejected('not_due_yet');
    when(...history, failed)
      .when(start(next))
      .then(started(2, next));
  });
  it('of a delivered delivery leaves it delivered', () => {
    const history = [scheduled, started(1, START), acknowledged(1, START), requested(1, asked)];
    when(...history)
      .when(start(asked))
      .then(started(1, asked, { redelivery: true }));
    const failed = finished(1, asked, null, { redelivery: true });
    expect(when(...history, started(1, asked, { redelivery: true }), failed).state).toMatchObject({
      status: 'succeeded',
    });
  });
});

describe('for any sequence of steps', () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ does: fc.constant('start'), late: fc.integer({ min: -400, max: 90_000 }) }) },
    {
      weight: 4,
      arbitrary: fc.record({
        does: fc.constant('finish'),
        failure: fc.constantFrom(null, 'http_5xx', 'timeout', 'interrupted', 'http_5xx', 'http_4xx'),
        retryAfter: fc.option(fc.integer({ min: 0, max: 1_000_000 })),
        jitter: fc.double({ min: -1, max: 2, noNaN: true }),
        stale: fc.boolean(),
      }),
    },
    { weight: 2, arbitrary: fc.record({ does: fc.constant('interrupt'), gone: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ does: fc.constant('redeliver') }) },
    { weight: 1, arbitrary: fc.record({ does: fc.constant('cancel') }) },
  );
  type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

  /** Plays one node, or several that do not know of one another, against one stream. */
  function play(steps: readonly Step[]): readonly DeliveryEvent[] {
    let state: Delivery = delivery.evolve(delivery.initialState, scheduled);
    const events: DeliveryEvent[] = [scheduled];
    const claims: AttemptUnderWay[] = [];
    let now = START;
    const decide = (command: DeliveryCommand) => {
      const outcome = delivery.decide(state, command);
      if (isRejection(outcome)) return;
      for (const event of outcome) {
        events.push(event);
        state = delivery.evolve(state, event);
        if (event.type === 'DeliveryAttemptStarted') claims.push(event.data);
      }
    };
    for (const one of steps) {
      now += seconds(1);
      if (one.does === 'start' && 'late' in one) {
        now = Math.max(now, (dueAt(state) ?? now) + seconds(one.late));
        decide(start(now));
      } else if (one.does === 'finish' && 'failure' in one) {
        const claimed = one.stale ? claims[0] : claims.at(-1);
        if (claimed)
          decide(
            finish(claimed, now, { failureClass: one.failure, retryAfterSeconds: one.retryAfter } as never, one.jitter),
          );
      } else if (one.does === 'interrupt' && 'gone' in one) decide(interrupt(now, one.gone));
      else if (one.does === 'cancel') decide({ type: 'Cancel', now, ...ACT });
      else if (one.does === 'redeliver') decide({ type: 'RequestRedelivery', now, ...ACT });
    }
    return events;
  }

  const DELAYS = [3, 9, 27, 81, 243, 729];
  const ofTheSeven = <Event extends { data: { redelivery: boolean } }>(events: readonly Event[]) =>
    events.filter(({ data }) => !data.redelivery);

  it('there are never more than seven attempts, none is early, and none overlaps another', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const events = play(steps);
        const starts = events.filter((event) => event.type === 'DeliveryAttemptStarted');
        const ends = events.filter((event) => event.type === 'DeliveryAttemptFinished');
        expect(Math.max(0, ...ofTheSeven(starts).map(({ data }) => data.attempt))).toBeLessThanOrEqual(7);
        const counted = ofTheSeven(ends).filter(({ data }) => data.outcome !== 'interrupted');
        expect(counted.map(({ data }) => data.attempt)).toEqual(counted.map((_, index) => index + 1));
        // One at a time: starts and ends alternate, and each end belongs to the preceding start.
        let underway: AttemptUnderWay | null = null;
        let due: Instant | null = facts.createdAt;
        let runs = 0;
        for (const event of events) {
          if (event.type === 'DeliveryAttemptStarted') {
            expect(underway).toBeNull();
            underway = event.data;
            if (!event.data.redelivery) {
              expect(due).not.toBeNull();
              expect(toMicros(event.data.startedAt)).toBeGreaterThanOrEqual(toMicros(due!));
            }
          }
          if (event.type === 'DeliveryCancelled') {
            expect(underway).toBeNull();
            due = null;
          }
          if (event.type !== 'DeliveryAttemptFinished') continue;
          const { attempt, redelivery, outcome, startedAt, finishedAt, nextAttemptAt } = event.data;
          expect(underway).toMatchObject({ attempt, redelivery, startedAt });
          underway = null;
          if (redelivery && outcome !== 'acknowledged') expect(nextAttemptAt).toBe(due);
          due = nextAttemptAt;
          if (redelivery) continue;
          runs = outcome === 'interrupted' ? runs + 1 : 0;
          expect(runs).toBeLessThanOrEqual(3);
          if (outcome !== 'failed' || nextAttemptAt === null) continue;
          const delay = minutes(DELAYS[attempt - 1]!);
          const waited = toMicros(nextAttemptAt) - toMicros(finishedAt);
          expect(waited).toBeGreaterThanOrEqual(delay);
          expect(waited).toBeLessThanOrEqual(2 * delay);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('a delivery that is not acknowledged or withdrawn gets all seven', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const events = play(steps);
        const state = events.reduce<Delivery>(delivery.evolve, delivery.initialState);
        if (state.status === 'failed') expect(state.attempts).toBe(7);
        if (state.status === 'pending' || state.status === 'retrying') expect(dueAt(state)).not.toBeNull();
      }),
      { numRuns: 300 },
    );
  });
});
