/**
 * Given events with times that clocks or insiders wrote, when an audit asks what time it was in the log, then a stop of the
 * service counts as one, and a wrong clock does not hide what came late.
 */
import { describe, expect, it } from 'vitest';
import { LogTime } from '../../src/audit/log-time.ts';
import { banRules, unpausedTime } from '../../src/audit/rules/operator-acts.ts';

const at = (day: number, hour = 0): string =>
  `2026-03-${String(day).padStart(2, '0')}T${String(hour).padStart(2, '0')}:00:00.000000Z`;

function timeAfter(...times: readonly string[]): LogTime {
  let logTime = new LogTime();
  for (const time of times) {
    logTime.note(time, 'PaymentSettled');
    // As a run does that continues from a checkpoint.
    logTime = new LogTime(JSON.parse(JSON.stringify(logTime.toJson())));
  }
  return logTime;
}

describe('the time of the log', () => {
  it('is that of its newest event', () => {
    expect(timeAfter().newest).toBeNull();
    expect(timeAfter(at(1), at(1, 5), at(1, 3)).newest).toBe(at(1, 5));
  });

  it('knows a stop of more than a day', () => {
    expect(timeAfter(at(1), at(1, 23), at(2, 23)).silences).toEqual([]);
    expect(timeAfter(at(1), at(4), at(4, 1), at(9)).silences).toEqual([
      { from: at(1), to: at(4) },
      { from: at(4, 1), to: at(9) },
    ]);
  });

  it('does not mistake a clock that was ahead for a stop, and continues with the others', () => {
    const logTime = timeAfter(at(1), at(20), at(1, 1), at(1, 2));
    expect(logTime.silences).toEqual([]);
    expect(logTime.newest).toBe(at(1, 2));
  });

  it('keeps the stop before two nodes whose clocks differ', () => {
    expect(timeAfter(at(1), at(4, 1), at(4)).silences).toEqual([{ from: at(1), to: at(4) }]);
  });

  it('does not mistake a date before a stop that is long over for a clock that was ahead', () => {
    const logTime = timeAfter(at(1), at(4), at(4, 20), at(5, 10), at(2));
    expect(logTime.newest).toBe(at(5, 10));
    expect(logTime.silences).toEqual([{ from: at(1), to: at(4) }]);
  });
});

describe('a ban', () => {
  const ADDRESS = 'Fh3kL9mQ2rT5vX8yB1nC4wZ7pS6dG9jK2eR5tY8uA1xV';
  /** Breaches by a payment some hours after a ban that was recorded on the second day, by a clock of the first. */
  const breachesAfter = (hours: number): readonly string[] => {
    const breaches: string[] = [];
    const logTime = timeAfter(at(2));
    const findings = { breach: (rule: string) => breaches.push(rule), state: () => {}, unprovable: () => {}, logTime };
    const event = (type: string, recordedAt: string) => ({
      ...{ type, stream: `operator-wallet-${ADDRESS}`, revision: 0, position: '1', id: 'one' },
      ...{ data: { wallet: ADDRESS }, metadata: { recordedAt, schemaVersion: 1 } },
    });
    const banned = banRules.judge(undefined, event('WalletBanned', at(1)), findings);
    banRules.judge(banned, event('PaymentAuthorized', at(2, hours)), findings);
    return breaches;
  };

  it('counts from its place in the log, even if the clock of the operator is behind', () => {
    expect(breachesAfter(0)).toEqual([]);
    expect(breachesAfter(1)).toEqual(['banned_wallet_buys_nothing']);
  });
});

describe('the time that counts against a delivery', () => {
  const HOUR = 3_600_000_000;
  const hours = (pauses: readonly [string, string][], silences: readonly [string, string][] = []) => {
    const spans = (all: readonly [string, string][]) => all.map(([from, to]) => ({ from, to }));
    const states = { host: { pausedSince: null, pauses: spans(pauses) } };
    return unpausedTime(states, 'host', { from: at(2), to: at(3) }, spans(silences)) / HOUR;
  };

  it('is without pauses and silences, and each hour is left out once', () => {
    expect(hours([])).toBe(24);
    expect(hours([[at(1), at(2, 6)]])).toBe(18);
    expect(hours([[at(2, 20), at(4)]])).toBe(20);
    expect(hours([[at(2, 6), at(2, 12)]], [[at(2, 8), at(2, 18)]])).toBe(12);
    expect(hours([[at(1), at(1, 5)]], [[at(5), at(9)]])).toBe(24);
    expect(hours([[at(1), at(9)]])).toBe(0);
  });
});
