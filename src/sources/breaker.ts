/**
 * The circuit breaker of a source (docs/design/sources.md#circuit-breaker): a source that fails is left alone for a while,
 * and then tried with one look. Pure, but for the small shell at the end.
 */
import { type Clock, MICROS_PER_SECOND, type Micros } from '../runtime/instant.ts';
import type { Fault, SourceFault } from './source.ts';

export type BreakerState =
  /** Everything passes. `faults`: how many looks in a row have failed. */
  | { readonly is: 'closed'; readonly faults: number }
  | {
      readonly is: 'open';
      readonly fault: SourceFault;
      readonly until: Micros;
      /** How often it has opened since the source last worked; the pauses grow with it. */
      readonly times: number;
      /** When the one look that may try was let through; null if none is under way. */
      readonly probedAt: Micros | null;
    };

export const CLOSED: BreakerState = { is: 'closed', faults: 0 };

/** Looks in a row that must fail. */
export const FAULTS_TO_OPEN = 5;
const SHORTEST_PAUSE = 30 * MICROS_PER_SECOND;
const LONGEST_PAUSE = 15 * 60 * MICROS_PER_SECOND;
/** An account that is blocked, or a wrong credential: only people can repair that. */
const ACCOUNT_PAUSE = 3_600 * MICROS_PER_SECOND;
/** A probe whose outcome never came, e.g. because its process was stopped in the middle, blocks the source no longer than this. */
const PROBE_PATIENCE = 60 * MICROS_PER_SECOND;

/** Faults of a source that does not work. */
const FAILING: ReadonlySet<SourceFault> = new Set([
  'connection',
  'timeout',
  'too_large',
  'unavailable',
  'unreadable',
  'refused_address',
  // Nothing was shown: it may refuse this service altogether.
  'forbidden',
]);
/** Faults of the account: they open the breaker at once. */
const ACCOUNT: ReadonlySet<SourceFault> = new Set(['blocked', 'unauthorised']);
/** The source answered, and as it should: it works, whatever it said of this one request. */
const ANSWERED: ReadonlySet<SourceFault> = new Set(['throttled', 'bad_request', 'no_entries']);

/** Faults that one case may have for itself, e.g. by its size: in a closed breaker, only one look of each counts. */
const OF_ONE_CASE: ReadonlySet<SourceFault> = new Set(['timeout', 'too_large', 'unreadable']);

/** Whether a look may begin, and the state if it does. */
export function admit(state: BreakerState, now: Micros): { readonly state: BreakerState; readonly admitted: boolean } {
  if (state.is === 'closed') return { state, admitted: true };
  const { until, probedAt } = state;
  // A clock that was set back must not keep it open for longer than the pause.
  const isOver = now >= until || now < until - LONGEST_OF_ALL;
  const isProbed = probedAt !== null && Math.abs(now - probedAt) < PROBE_PATIENCE;
  if (!isOver || isProbed) return { state, admitted: false };
  return { state: { ...state, probedAt: now }, admitted: true };
}

/** The state after a look that was let through. Null: the source showed what was asked for. */
export function observe(state: BreakerState, fault: SourceFault | null, now: Micros): BreakerState {
  if (fault === null || ANSWERED.has(fault)) return CLOSED;
  if (ACCOUNT.has(fault)) return opened(state, fault, now, ACCOUNT_PAUSE);
  // Our own limits, an operator's act, or the end of this process: they say nothing about the source.
  if (!FAILING.has(fault)) return state.is === 'open' ? { ...state, probedAt: null } : state;
  if (state.is === 'closed' && state.faults + 1 < FAULTS_TO_OPEN) return { is: 'closed', faults: state.faults + 1 };
  const times = state.is === 'open' ? state.times : 0;
  return opened(state, fault, now, Math.min(LONGEST_PAUSE, SHORTEST_PAUSE * 2 ** times));
}

const LONGEST_OF_ALL = Math.max(ACCOUNT_PAUSE, LONGEST_PAUSE);

function opened(state: BreakerState, fault: SourceFault, now: Micros, pause: Micros): BreakerState {
  // Looks that began before it opened end one after the other; they must not prolong the pause.
  if (state.is === 'open' && state.probedAt === null && now < state.until) return state;
  const times = state.is === 'open' ? state.times + 1 : 1;
  return { is: 'open', fault, until: now + pause, times, probedAt: null };
}

/** The breaker of one source in one process. */
export interface Breaker {
  readonly state: BreakerState;
  /** Null: the look may begin, and its outcome must be observed. Otherwise why not. */
  admit(): Fault | null;
  /** @param ofCase which case was looked at */
  observe(fault: SourceFault | null, ofCase: string): void;
}

/** @param onChange called after it has opened, opened again, or closed */
export function createBreaker(
  clock: Clock,
  name: string,
  onChange: (state: BreakerState) => void = () => undefined,
): Breaker {
  let state = CLOSED;
  /** Cases that have failed since the source last worked, each for a reason that may be its own. */
  const failed = new Set<string>();
  return {
    get state() {
      return state;
    },
    admit() {
      const before = state;
      const { state: next, admitted } = admit(before, clock.now());
      state = next;
      if (admitted || before.is === 'closed') return null;
      return { fault: 'open', reason: `${name} has failed (${before.fault}) and is left alone`, retryAt: before.until };
    },
    observe(fault, ofCase) {
      const before = state;
      const isRepeated = state.is === 'closed' && failed.has(ofCase);
      if (fault === null || ANSWERED.has(fault)) failed.clear();
      else if (OF_ONE_CASE.has(fault)) {
        if (isRepeated) return;
        failed.add(ofCase);
      }
      state = observe(before, fault, clock.now());
      const [was, is] = [before.is === 'open' ? before.until : null, state.is === 'open' ? state.until : null];
      if (was !== is) onChange(state);
    },
  };
}
