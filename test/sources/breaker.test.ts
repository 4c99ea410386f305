/**
 * Given the circuit breaker of a source, when looks fail, then it opens for the kinds of faults that a source is to blame for,
 * lets one look try after each pause, with pauses that grow, and closes with the first answer.
 */
import { describe, expect, it } from 'vitest';
import { MICROS_PER_SECOND, type Micros } from '../../src/runtime/instant.ts';
import { admit, type BreakerState, CLOSED, createBreaker, FAULTS_TO_OPEN, observe } from '../../src/sources/breaker.ts';
import type { SourceFault } from '../../src/sources/source.ts';

const NOW = 1_767_225_600_000_000;
const seconds = (count: number): Micros => count * MICROS_PER_SECOND;

const stateAfter = (faults: readonly (SourceFault | null)[], from: BreakerState = CLOSED, now = NOW): BreakerState =>
  faults.reduce<BreakerState>((state, fault) => observe(state, fault, now), from);
const times = (fault: SourceFault, count: number): SourceFault[] => Array<SourceFault>(count).fill(fault);

/** What remains of the pause at a time; null if it is closed. */
const pauseOf = (state: BreakerState, now = NOW): number | null =>
  state.is === 'open' ? (state.until - now) / MICROS_PER_SECOND : null;

describe('faults', () => {
  it.each<SourceFault>([
    'connection',
    'timeout',
    'unavailable',
    'unreadable',
    'too_large',
    'refused_address',
    'forbidden',
  ])('of the source (%s) open it when they are enough in a row', (fault) => {
    expect(stateAfter(times(fault, FAULTS_TO_OPEN - 1)).is).toBe('closed');
    expect(pauseOf(stateAfter(times(fault, FAULTS_TO_OPEN)))).toBe(30);
    expect(stateAfter([...times(fault, FAULTS_TO_OPEN - 1), null, fault]).is).toBe('closed');
  });

  it.each<SourceFault>(['blocked', 'unauthorised'])('of the account (%s) open it at once, for an hour', (fault) => {
    expect(pauseOf(stateAfter([fault]))).toBe(3_600);
  });

  it.each<SourceFault>(['throttled', 'bad_request', 'no_entries'])(
    'that are an answer (%s) keep it closed',
    (fault) => {
      expect(stateAfter(times(fault, 20))).toEqual(CLOSED);
      expect(stateAfter([...times('timeout', FAULTS_TO_OPEN - 1), fault])).toEqual(CLOSED);
    },
  );

  it.each<SourceFault>(['budget', 'paused', 'open', 'interrupted'])('of this service (%s) change nothing', (fault) => {
    expect(stateAfter(times(fault, 20))).toEqual(CLOSED);
    expect(stateAfter(['timeout', fault])).toEqual({ is: 'closed', faults: 1 });
  });
});

describe('an open breaker', () => {
  const open = stateAfter(times('timeout', FAULTS_TO_OPEN));

  it('lets nothing through in its pause, and then one look', () => {
    expect(admit(open, NOW + seconds(29)).admitted).toBe(false);
    const probing = admit(open, NOW + seconds(30));
    expect(probing.admitted).toBe(true);
    expect(admit(probing.state, NOW + seconds(31)).admitted).toBe(false);
  });

  it('lets another one try if the outcome of the first never comes', () => {
    const { state } = admit(open, NOW + seconds(30));
    expect(admit(state, NOW + seconds(90)).admitted).toBe(true);
  });

  it('lets another one try at once if the first was ended by this service', () => {
    const { state } = admit(open, NOW + seconds(30));
    expect(admit(observe(state, 'interrupted', NOW + seconds(31)), NOW + seconds(31)).admitted).toBe(true);
  });

  it('waits longer after each look that fails, up to a quarter of an hour', () => {
    let state = open;
    let now = NOW;
    const pauses: (number | null)[] = [pauseOf(state)];
    for (let time = 0; time < 7; time++) {
      now = state.is === 'open' ? state.until : now;
      state = observe(admit(state, now).state, 'unavailable', now);
      pauses.push(pauseOf(state, now));
    }
    expect(pauses).toEqual([30, 60, 120, 240, 480, 900, 900, 900]);
    expect(observe(admit(state, now + seconds(900)).state, null, now + seconds(900))).toEqual(CLOSED);
  });

  it('is not prolonged by looks that began before it opened', () => {
    expect(observe(open, 'timeout', NOW + seconds(20))).toEqual(open);
    expect(observe(open, null, NOW + seconds(20))).toEqual(CLOSED);
  });

  it('opens again after its pauses if the clock is set back', () => {
    expect(admit(open, NOW - seconds(86_400)).admitted).toBe(true);
  });
});

describe('the breaker of a process', () => {
  it('says why and until when, and reports each change', () => {
    let now = NOW;
    const changes: BreakerState[] = [];
    const breaker = createBreaker({ now: () => now }, 'scotus', (state) => changes.push(state));
    for (let time = 0; time < FAULTS_TO_OPEN; time++) {
      expect(breaker.admit()).toBeNull();
      breaker.observe('connection', 'scotus 25-1');
    }
    expect(breaker.admit()).toEqual({
      fault: 'open',
      reason: 'scotus has failed (connection) and is left alone',
      retryAt: NOW + seconds(30),
    });
    now += seconds(30);
    expect(breaker.admit()).toBeNull();
    breaker.observe(null, 'scotus 25-1');
    expect(changes.map(({ is }) => is)).toEqual(['open', 'closed']);
  });
});
