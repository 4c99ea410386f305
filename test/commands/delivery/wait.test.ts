import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isRejection } from '../../../src/commands/decider.ts';
import { type Delivery, type DeliveryCommand, delivery } from '../../../src/commands/delivery/delivery.ts';
import { CLOCK_TOLERANCE, isOver, waitOf } from '../../../src/commands/delivery/wait.ts';
import type { DeliveryEvent } from '../../../src/events/delivery.ts';
import type { Micros } from '../../../src/runtime/instant.ts';
import { given } from '../../given-when-then.ts';
import {
  ACT,
  finished,
  KEY,
  minutes,
  NODE,
  requested,
  rescheduled,
  START,
  scheduled,
  seconds,
  started,
} from './delivery.fixtures.ts';

const when = (...history: readonly DeliveryEvent[]) => given(delivery, ...history);
const reschedule = (now: Micros): DeliveryCommand => ({ type: 'Reschedule', now });
const start = (now: Micros): DeliveryCommand => ({ type: 'StartAttempt', now, keyId: KEY, owner: NODE });
const HOURS_BEFORE = START - minutes(360);

describe('a wait, after the clock was set back', () => {
  const failedOnce = [scheduled, started(1, START), finished(1, START, START + seconds(2) + minutes(3))];

  it('starts over if it began in what is now the future', () => {
    const anew = rescheduled(2, START + seconds(2) + minutes(3), HOURS_BEFORE, minutes(3));
    when(...failedOnce)
      .when(reschedule(HOURS_BEFORE))
      .then(anew);
    when(...failedOnce, anew)
      .when(start(HOURS_BEFORE + minutes(3) - 1))
      .thenRejected('not_due_yet');
    when(...failedOnce, anew)
      .when(start(HOURS_BEFORE + minutes(3)))
      .then(started(2, HOURS_BEFORE + minutes(3)));
  });
  it('keeps its length, regardless of what the receiver asked for', () => {
    const next = START + seconds(2) + minutes(6);
    when(scheduled, started(1, START), finished(1, START, next))
      .when(reschedule(HOURS_BEFORE))
      .then(rescheduled(2, next, HOURS_BEFORE, minutes(6)));
  });
  it('continues if the clock was set back by less than the elapsed part, or by almost nothing', () => {
    when(...failedOnce)
      .when(reschedule(START + minutes(1)))
      .then();
    when(...failedOnce)
      .when(reschedule(START + seconds(2) - CLOCK_TOLERANCE))
      .then();
  });
  it('starts over once, and again if the clock is set back again', () => {
    const anew = rescheduled(2, START + seconds(2) + minutes(3), HOURS_BEFORE, minutes(3));
    when(...failedOnce, anew)
      .when(reschedule(HOURS_BEFORE + seconds(1)))
      .then();
    const again = HOURS_BEFORE - minutes(60);
    when(...failedOnce, anew)
      .when(reschedule(again))
      .then(rescheduled(2, HOURS_BEFORE + minutes(3), again, minutes(3)));
  });
  it('for the outcome of an attempt lasts as long as a lease', () => {
    const anew = rescheduled(1, START + seconds(60), HOURS_BEFORE, seconds(60), { awaits: 'outcome' });
    when(scheduled, started(1, START)).when(reschedule(HOURS_BEFORE)).then(anew);
    const interrupt = (now: Micros) => ({ type: 'Interrupt', now, ownerIsGone: false, jitter: 0 }) as const;
    when(scheduled, started(1, START), anew)
      .when(interrupt(HOURS_BEFORE + seconds(60) - 1))
      .thenRejected('lease_running');
    const over = when(scheduled, started(1, START), anew).when(interrupt(HOURS_BEFORE + seconds(60)));
    over.then(
      finished(1, START, START, {
        finishedAt: finished(1, START, null).data.startedAt,
        outcome: 'interrupted',
        responseCode: null,
        failureClass: 'interrupted',
        durationMs: null,
      }),
    );
  });
  it('leaves the outcome of that attempt to the process that makes it', () => {
    const anew = rescheduled(1, START + seconds(60), HOURS_BEFORE, seconds(60), { awaits: 'outcome' });
    const claimed = started(1, START).data;
    const outcome = { responseCode: 200, failureClass: null, retryAfterSeconds: null, durationMs: 2_000 };
    const { state } = when(scheduled, started(1, START), anew);
    const decided = delivery.decide(state, { type: 'FinishAttempt', claimed, outcome, now: HOURS_BEFORE, jitter: 0 });
    expect(isRejection(decided)).toBe(false);
  });
  it('does not exist for what is due at once: a first attempt, a repeated one, a redelivery', () => {
    when(scheduled).when(reschedule(HOURS_BEFORE)).then();
    when(scheduled).when(start(HOURS_BEFORE)).then(started(1, HOURS_BEFORE));
    when(...failedOnce, requested(1, START + minutes(1)))
      .when(start(HOURS_BEFORE))
      .then(started(1, HOURS_BEFORE, { redelivery: true }));
  });
  it('does not exist for a delivery that has ended', () => {
    when(scheduled, started(7, START), finished(7, START, null))
      .when(reschedule(HOURS_BEFORE))
      .then();
  });
});

describe('wherever the clock is set', () => {
  const step = fc.record({
    does: fc.constantFrom('attempt', 'attempt', 'attempt', 'die', 'redeliver', 'nothing'),
    jumpMinutes: fc.oneof(fc.constant(0), fc.integer({ min: -400, max: 400 })),
    passesSeconds: fc.integer({ min: 0, max: 3_000 }),
    retryAfterSeconds: fc.option(fc.integer({ min: 0, max: 100_000 })),
  });

  it('a delivery waits at most as long as its current wait, and has at most seven attempts', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        let state: Delivery = delivery.evolve(delivery.initialState, scheduled);
        let now = START;
        let attempts = 0;
        const decide = (command: DeliveryCommand) => {
          const events = delivery.decide(state, command);
          if (isRejection(events)) return false;
          state = events.reduce<Delivery>(delivery.evolve, state);
          return true;
        };
        for (const { does, jumpMinutes, passesSeconds, retryAfterSeconds } of steps) {
          now += minutes(jumpMinutes) + seconds(passesSeconds);
          decide(reschedule(now));
          const wait = waitOf(state);
          if (wait) {
            // Never longer than 24 hours and a half, twice the longest delay: the most that Retry-After may ask for.
            expect(wait.until - wait.since).toBeLessThanOrEqual(minutes(2 * 729));
            if (!isOver(wait, now))
              expect(wait.until - now).toBeLessThanOrEqual(wait.until - wait.since + CLOCK_TOLERANCE);
          }
          if (does === 'redeliver') decide({ type: 'RequestRedelivery', now, ...ACT });
          if (state.status !== 'none' && state.underway) {
            decide({ type: 'Interrupt', now, ownerIsGone: false, jitter: 0 });
            continue;
          }
          if (does === 'redeliver' || does === 'nothing' || !decide(start(now))) continue;
          if (state.status === 'none' || !state.underway) throw new Error('it has begun');
          if (!state.underway.redelivery) attempts = Math.max(attempts, state.underway.attempt);
          const outcome = { responseCode: 503, failureClass: 'http_5xx', retryAfterSeconds, durationMs: 1 } as const;
          if (does === 'attempt')
            decide({ type: 'FinishAttempt', claimed: state.underway, outcome, now: now + 1_000, jitter: 0.05 });
        }
        expect(attempts).toBeLessThanOrEqual(7);
        if (state.status === 'failed') expect(state.attempts).toBe(7);
      }),
      { numRuns: 400 },
    );
  });
});
