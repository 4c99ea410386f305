import { expect, it } from 'vitest';
import { DoubtSpan } from '../../../src/processes/payment-recovery/doubt-span.ts';

const HOUR = 3_600_000_000;
const MINUTE = 60_000_000;

function opened(start = 100 * HOUR) {
  let wall = start;
  let steady = 0;
  const span = new DoubtSpan({ now: () => wall }, { now: () => steady }, HOUR);
  return {
    from: () => span.from(),
    now: () => wall,
    pass(micros: number, set = 0) {
      steady += micros;
      wall += micros + set;
    },
  };
}

it('an hour, by the steady clock', () => {
  const span = opened();
  for (let minutes = 0; minutes < 200; minutes++) {
    // The clock is assumed to have been right before the span began, so a little more is checked then.
    expect(span.from()).toBe(Math.max(100 * HOUR - HOUR, span.now() - HOUR - (minutes <= 60 ? minutes * MINUTE : 0)));
    span.pass(MINUTE);
  }
});

it('an hour as it passed, if the clock is set forward meanwhile', () => {
  const span = opened();
  for (let minutes = 0; minutes < 120; minutes++) {
    span.from();
    span.pass(MINUTE);
  }
  const givenUp = span.now();
  span.pass(MINUTE, 6 * HOUR);
  expect(span.from()).toBeLessThanOrEqual(givenUp - 58 * MINUTE);
  for (let minutes = 1; minutes < 58; minutes++) {
    span.pass(MINUTE);
    expect(span.from(), `after ${minutes} minutes`).toBeLessThanOrEqual(givenUp);
  }
  for (let minutes = 0; minutes < 10; minutes++) {
    span.pass(MINUTE);
    span.from();
  }
  expect(span.from()).toBeGreaterThan(givenUp);
});

it('everything since then, if the clock was set back', () => {
  const span = opened();
  span.from();
  span.pass(MINUTE, -6 * HOUR);
  expect(span.from()).toBe(span.now() - HOUR);
});
