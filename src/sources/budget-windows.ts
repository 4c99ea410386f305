/**
 * The rolling windows of a source's budget (docs/design/sources.md#budget). Pure: the times of the requests in the longest
 * window are the whole state, so every window is exact, and all of them apply together.
 */
import { MICROS_PER_MS, MICROS_PER_SECOND, type Micros } from '../runtime/instant.ts';
import type { BudgetStanding, Rate } from './budget.ts';
import type { Priority } from './source.ts';

export interface BudgetState {
  /** When requests were taken, whole milliseconds in microseconds, ascending. */
  readonly times: readonly Micros[];
  /** Those of them that were taken for cases that are not known here. */
  readonly unknownCases: readonly Micros[];
  /** Nobody asks before then; null if the source did not say so. */
  readonly heldUntil: Micros | null;
}

export const UNSPENT: BudgetState = { times: [], unknownCases: [], heldUntil: null };

/** The part of each window that requests of a priority may fill. The rest is left to the more urgent ones. */
const SHARES: Readonly<Record<Priority, number>> = {
  paid: 1,
  unknown_case: 0.9,
  watched: 0.8,
  wanted: 0.5,
  backfill: 0.5,
};
/**
 * The part that looks at unknown cases may fill, whatever others take: anybody can invent numbers, and a look that finds
 * nothing earns nothing. A window too short for it still has room for one whole first look.
 */
const SHARES_OF_UNKNOWN: Readonly<Partial<Record<Priority, number>>> = { unknown_case: 0.5, wanted: 0.25 };
/** Requests of a first look at a case of 80 entries: its number, four pages of entries, parties, attorneys. */
export const FIRST_LOOK = 7;

/**
 * By how much the clocks of two nodes may differ, and a request may be late on its way: each window from a minute on is
 * longer by that. Five requests a minute become five in 63 seconds.
 */
export const MARGIN: Micros = 3 * MICROS_PER_SECOND;
/** A shorter window is a matter of manners, not of a count that the source keeps. */
const MARGIN_SHARE = 20;
/** Times that lie further ahead come from a clock that was wrong. They must not close the budget until then. */
const WRONG_CLOCK: Micros = 300 * MICROS_PER_SECOND;
/** No source may stop requests for longer at once; its windows have passed by then. */
const LONGEST_HOLD: Micros = 86_400 * MICROS_PER_SECOND + MARGIN;

export type Taken =
  | { readonly taken: true; readonly state: BudgetState }
  | { readonly taken: false; readonly retryAt: Micros };

/** Takes one request, or says when it could be taken if nobody else takes one. */
export function takeFrom(state: BudgetState, rates: readonly Rate[], now: Micros, priority: Priority): Taken {
  const { times, unknownCases, heldUntil } = tidied(state, rates, now);
  if (heldUntil !== null) return { taken: false, retryAt: heldUntil };
  const at = timeOf(times, now);
  const ofUnknown = SHARES_OF_UNKNOWN[priority];
  const waits = rates.flatMap((rate) => [
    ...freeAt(times, rate, at, mostFor(rate, priority)),
    ...(ofUnknown === undefined ? [] : freeAt(unknownCases, rate, at, mostForUnknown(rate, ofUnknown))),
  ]);
  if (waits.length > 0) return { taken: false, retryAt: Math.max(...waits) };
  return {
    taken: true,
    state: {
      times: [...times, at],
      unknownCases: ofUnknown === undefined ? unknownCases : [...unknownCases, at],
      heldUntil: null,
    },
  };
}

/**
 * The source refused a request until a time, although the budget allowed it: the account is used elsewhere, too. The
 * window that the source must mean counts as full, and its other requests leave it evenly from that time on.
 */
export function holdUntil(state: BudgetState, rates: readonly Rate[], now: Micros, until: Micros): BudgetState {
  const { times, unknownCases, heldUntil } = tidied(state, rates, now);
  const end = Math.min(until, now + LONGEST_HOLD);
  if (end <= now) return { times, unknownCases, heldUntil };
  const held = Math.max(heldUntil ?? 0, end);
  // The source tests its shortest window first.
  const rate = byLength(rates).find((one) => end - now <= lengthOf(one));
  if (!rate) return { times, unknownCases, heldUntil: held };
  const missing = Math.max(0, rate.requests - countIn(times, rate, timeOf(times, now)));
  const step = Math.max(0, now + lengthOf(rate) - end) / Math.max(1, missing);
  const elsewhere = Array.from({ length: missing }, (_, index) =>
    wholeMs(Math.min(now, end + index * step - lengthOf(rate))),
  );
  return { times: [...times, ...elsewhere].sort((a, b) => a - b), unknownCases, heldUntil: held };
}

export function standingOf(state: BudgetState, rates: readonly Rate[], now: Micros): BudgetStanding {
  const { times, heldUntil } = tidied(state, rates, now);
  const at = timeOf(times, now);
  return { rates: rates.map((rate) => ({ ...rate, used: countIn(times, rate, at) })), heldUntil };
}

/** At least one, so that a small budget is not closed to anybody. */
export const mostFor = ({ requests }: Rate, priority: Priority): number =>
  Math.max(1, Math.floor(requests * SHARES[priority]));

const mostForUnknown = ({ requests }: Rate, share: number): number =>
  Math.max(FIRST_LOOK, Math.floor(requests * share));

/** For how long a request counts. */
const lengthOf = ({ micros }: Rate): Micros => micros + Math.min(MARGIN, Math.floor(micros / MARGIN_SHARE));

const byLength = (rates: readonly Rate[]): readonly Rate[] => [...rates].sort((a, b) => a.micros - b.micros);

/** Later than the true time by less than a millisecond, which is safe. */
const wholeMs = (time: Micros): Micros => Math.ceil(time / MICROS_PER_MS) * MICROS_PER_MS;

/** The time of a request now: never before one that was taken already, whichever node took it. */
const timeOf = (times: readonly Micros[], now: Micros): Micros => Math.max(wholeMs(now), times.at(-1) ?? 0);

const isIn = (time: Micros, rate: Rate, at: Micros): boolean => time + lengthOf(rate) > at;

function countIn(times: readonly Micros[], rate: Rate, at: Micros): number {
  const first = times.findIndex((time) => isIn(time, rate, at));
  return first === -1 ? 0 : times.length - first;
}

function freeAt(times: readonly Micros[], rate: Rate, at: Micros, most: number): readonly Micros[] {
  const used = countIn(times, rate, at);
  if (used < most) return [];
  const leaves = times[times.length - most] ?? at;
  return [leaves + lengthOf(rate)];
}

/** Without what no window holds any more, and without a hold that is over. */
function tidied({ times, unknownCases, heldUntil }: BudgetState, rates: readonly Rate[], now: Micros): BudgetState {
  const longest = Math.max(0, ...rates.map(lengthOf));
  const ahead = (times.at(-1) ?? 0) - wholeMs(now);
  const corrected = (all: readonly Micros[]) => (ahead > WRONG_CLOCK ? all.map((time) => time - ahead) : all);
  const at = timeOf(corrected(times), now);
  const counting = (all: readonly Micros[]) => corrected(all).filter((time) => time + longest > at);
  const isHeld = heldUntil !== null && heldUntil > now && heldUntil <= now + LONGEST_HOLD;
  return {
    times: counting(times),
    unknownCases: counting(unknownCases),
    heldUntil: isHeld ? heldUntil : null,
  };
}
