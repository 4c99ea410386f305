/**
 * Given what a settled payment owes, when it was done late, then it is in breach if the service worked meanwhile, and not
 * if it was stopped: for hours, for days, or with acts of an operator in between.
 */
import { describe, expect, it } from 'vitest';
import { CountedTime } from '../../../src/audit/counted-time.ts';
import { isOwedTooLong, LogTime } from '../../../src/audit/log-time.ts';
import { type Instant, toInstant } from '../../../src/runtime/instant.ts';
import { HOUR, MINUTE, START } from '../recorder.ts';

const atMinute = (minutes: number): Instant => toInstant(START + minutes * MINUTE);
type Minute = number | readonly [minute: number, type: string];

/** Whether what a payment owed from the first event on is done too late by the last. */
function isLate(...events: readonly Minute[]): boolean {
  let logTime = new LogTime();
  const moments = events.map((event) => {
    const [at, type] = typeof event === 'number' ? [event, 'PaymentAuthorized'] : event;
    const moment = logTime.momentAt(atMinute(at));
    logTime.note(atMinute(at), type);
    // As a run does that continues from a checkpoint.
    logTime = new LogTime(JSON.parse(JSON.stringify(logTime.toJson())));
    return moment;
  });
  const [first, last] = [moments.at(1), moments.at(-1)];
  if (!first || !last) throw new Error('two events are needed');
  return isOwedTooLong(first, last);
}

const every = (step: number, from: number, to: number): number[] =>
  Array.from({ length: (to - from) / step + 1 }, (_, index) => from + index * step);

describe('what a payment owed', () => {
  it('is late after more than an hour in which the service worked', () => {
    expect(isLate(-20, ...every(10, 0, 60))).toBe(false);
    expect(isLate(-20, ...every(10, 0, 70))).toBe(true);
  });

  it('is not late if the service was stopped for hours or days, also with acts of an operator in between', () => {
    expect(isLate(-20, 0, 5, 600)).toBe(false);
    expect(isLate(-20, 0, 5, 9 * 24 * 60)).toBe(false);
    const acts = every(10, 10, 300).map((minute): Minute => [minute, 'HostPaused']);
    expect(isLate(-20, 0, ...acts, 310)).toBe(false);
  });

  it('is late after more than a day in which the log had events, however few', () => {
    expect(isLate(-20, 0, 12 * 60, 24 * 60)).toBe(false);
    expect(isLate(-20, 0, 12 * 60, 25 * 60)).toBe(true);
    expect(isLate(-20, 0, ...every(720, 720, 7200).map((minute): Minute => [minute, 'FilingsRecorded']))).toBe(true);
  });

  it.each([50, 300, 3 * 24 * 60])('is not late because a clock is set forward by %i minutes', (jump) => {
    expect(isLate(-20, 0, jump, jump + 1)).toBe(false);
  });

  it('is not late because a clock was behind when it was owed', () => {
    expect(isLate(3 * 24 * 60, 0, 3 * 24 * 60 + 1)).toBe(false);
  });
});

describe('counted time', () => {
  const counted = (...minutes: readonly number[]): number => {
    const time = new CountedTime(HOUR);
    for (const at of minutes) time.note(atMinute(at));
    return time.at(atMinute(minutes.at(-1) ?? 0)) / MINUTE;
  };

  it('is the time between events without the gaps', () => {
    expect(counted(0)).toBe(0);
    expect(counted(0, 30, 60)).toBe(60);
    expect(counted(0, 30, 100, 110)).toBe(40);
  });

  it('never falls when a clock is set back', () => {
    expect(counted(0, 30, 20)).toBe(30);
  });

  it('judges the others after a clock that was ahead', () => {
    expect(counted(0, 30, 1000, 40, 50)).toBe(50);
    expect(counted(0, 30, 1000, 400, 410)).toBe(40);
  });

  it('looks ahead without noting', () => {
    const time = new CountedTime(HOUR);
    time.note(atMinute(0));
    expect([time.at(atMinute(20)), time.at(atMinute(200)), time.at(atMinute(-5))]).toEqual([20 * MINUTE, 0, 0]);
  });
});
