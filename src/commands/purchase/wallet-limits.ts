/**
 * What a wallet may do in a minute and in a day (docs/design/payments.md#wallet-limits): fixed windows that start with
 * the first counted request, in counters that hold across nodes.
 */
import { type Problem, problem } from '../../errors.ts';
import { type Clock, MICROS_PER_SECOND, type Micros } from '../../runtime/instant.ts';
import type { Counted, Increment, ReadStore } from '../../storage/read-store.ts';

export const REQUESTS_PER_MINUTE = 60;
export const CASES_PER_DAY = 10_000;
/**
 * A payment that fails costs us its query and, where it is sponsored, its network fee: so many in an hour, and the
 * wallet must pause.
 */
export const SETTLEMENT_FAILURES_PER_HOUR = 3;

const MINUTE: Micros = 60 * MICROS_PER_SECOND;
const HOUR: Micros = 60 * MINUTE;
const DAY: Micros = 24 * HOUR;

export interface LimitPorts {
  readonly readStore: Pick<ReadStore, 'increment' | 'incrementInTurn'>;
  readonly clock: Clock;
}

/** What remains of the tighter limit: the `RateLimit-*` headers. */
export interface RateLimitState {
  readonly limit: number;
  readonly remaining: number;
  /** Whole seconds until the window ends. */
  readonly resetSeconds: number;
}

/** A request that was counted. What it took of the day is settled once it is known how many cases were answered. */
export interface Admission {
  readonly state: RateLimitState;
  /** How many payments of the wallet failed within the hour. */
  readonly failures: number;
  /** What became of the increments that were to be made along with it. */
  readonly along: readonly Counted[];
  /** When the windows end that it was counted in: later there is nothing of it to be given back. */
  readonly ends: WindowEnds;
}

export interface WindowEnds {
  readonly minute: Micros;
  readonly day: Micros;
}

// The wallet first: what one payment counts then lies together in the store, and is written together.
const minuteOf = (wallet: string) => `${wallet}-requests-minute`;
const dayOf = (wallet: string) => `${wallet}-cases-day`;
const failuresOf = (wallet: string) => `${wallet}-settlement-failures`;

/**
 * Counts one request of a wallet, and one case of its day in advance, so that requests that run at once cannot all
 * be the last one. A refused request counts for nothing.
 * @param along increments to be made at the same go if the request is admitted
 */
export async function admit(
  { readStore, clock }: LimitPorts,
  wallet: string,
  along: readonly Increment[] = [],
): Promise<Admission | Problem> {
  const { failures, refused } = await refuseForFailures({ readStore, clock }, wallet);
  if (refused) return refused;
  const now = clock.now();
  const [minute, day, ...counted] = await readStore.incrementInTurn([
    { id: minuteOf(wallet), amount: 1, limit: REQUESTS_PER_MINUTE, now, windowMicros: MINUTE },
    { id: dayOf(wallet), amount: 1, limit: CASES_PER_DAY, now, windowMicros: DAY },
    ...along,
  ]);
  if (minute && !minute.allowed) return limited(minute, REQUESTS_PER_MINUTE, 'minute', now);
  if (!minute || !day) throw new RangeError('a read store gave no outcome of an increment');
  if (!day.allowed) {
    await readStore.increment(minuteOf(wallet), -1, REQUESTS_PER_MINUTE, now, MINUTE);
    return limited(day, CASES_PER_DAY, 'day', now);
  }
  const minuteLeft = REQUESTS_PER_MINUTE - minute.count;
  const dayLeft = CASES_PER_DAY - day.count;
  const tighter =
    dayLeft < minuteLeft
      ? { limit: CASES_PER_DAY, remaining: dayLeft, resetSeconds: secondsUntil(day, now) }
      : { limit: REQUESTS_PER_MINUTE, remaining: minuteLeft, resetSeconds: secondsUntil(minute, now) };
  return { state: tighter, failures, along: counted, ends: { minute: minute.resetsAt, day: day.resetsAt } };
}

/** How many payments of a wallet failed within the hour, and its refusal where those are too many. */
export async function refuseForFailures(
  { readStore, clock }: LimitPorts,
  wallet: string,
): Promise<{ readonly failures: number; readonly refused: Problem | null }> {
  const now = clock.now();
  const counted = await readStore.increment(failuresOf(wallet), 0, SETTLEMENT_FAILURES_PER_HOUR, now, HOUR);
  const tooMany = counted.count >= SETTLEMENT_FAILURES_PER_HOUR;
  const refused = tooMany ? limited(counted, SETTLEMENT_FAILURES_PER_HOUR, 'settlement_failures', now) : null;
  return { failures: counted.count, refused };
}

/**
 * Gives back what a request took of both windows: it turned out to prove nothing about who sent it. Of a window that has
 * begun since it took nothing, and giving back there would let another request in.
 */
export async function uncount({ readStore, clock }: LimitPorts, wallet: string, ends: WindowEnds): Promise<void> {
  const now = clock.now();
  if (now < ends.minute) await readStore.increment(minuteOf(wallet), -1, REQUESTS_PER_MINUTE, now, MINUTE);
  if (now < ends.day) await readStore.increment(dayOf(wallet), -1, CASES_PER_DAY, now, DAY);
}

/**
 * Corrects the day once the outcome is known: a request that failed took nothing of it, a batch takes all its cases.
 * @param cases answered and paid for
 * @param ends of the windows that the request was counted in
 */
export async function countCases(
  { readStore, clock }: LimitPorts,
  wallet: string,
  cases: number,
  ends: WindowEnds,
): Promise<void> {
  const now = clock.now();
  const correction = cases - 1;
  if (correction === 0 || (correction < 0 && now >= ends.day)) return;
  // A batch that began below the limit may end above it.
  await readStore.increment(dayOf(wallet), correction, Number.MAX_SAFE_INTEGER, now, DAY);
}

/** Counts a payment that failed on chain, or never landed. */
export async function countSettlementFailure({ readStore, clock }: LimitPorts, wallet: string): Promise<void> {
  await readStore.increment(failuresOf(wallet), 1, Number.MAX_SAFE_INTEGER, clock.now(), HOUR);
}

const secondsUntil = ({ resetsAt }: Counted, now: Micros): number =>
  Math.max(1, Math.ceil((resetsAt - now) / MICROS_PER_SECOND));

function limited(
  counted: Counted,
  limit: number,
  window: 'minute' | 'day' | 'settlement_failures',
  now: Micros,
): Problem {
  const wait = secondsUntil(counted, now);
  const what = {
    minute: `At most ${limit} requests a minute are taken from one wallet`,
    day: `At most ${limit} cases a day are answered for one wallet`,
    settlement_failures: `${limit} payments of this wallet failed within an hour`,
  }[window];
  return problem('rate_limit_exceeded', { retry_after: wait, limit, window }, `${what}; wait ${wait} seconds.`);
}
