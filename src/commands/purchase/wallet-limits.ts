/**
 * A wallet's limits per minute and per day (docs/design/payments.md#wallet-limits): fixed windows that start with the
 * first counted request, in counters shared by all nodes.
 */
import { type Problem, problem } from '../../errors.ts';
import { type Clock, MICROS_PER_SECOND, type Micros } from '../../runtime/instant.ts';
import type { Counted, Increment, ReadStore } from '../../storage/read-store.ts';

export const REQUESTS_PER_MINUTE = 60;
export const CASES_PER_DAY = 10_000;
/** Repeated presentations of one payment. They count in their own window, not in the wallet's minute. */
export const REPEATS_PER_MINUTE = 20;
/**
 * A failed payment costs us its query and, if sponsored, its network fee. After this many within an hour the wallet is
 * paused.
 */
export const SETTLEMENT_FAILURES_PER_HOUR = 3;

const MINUTE: Micros = 60 * MICROS_PER_SECOND;
const HOUR: Micros = 60 * MINUTE;
const DAY: Micros = 24 * HOUR;
const YEAR: Micros = 365 * DAY;
/** Longer than a blockhash is valid, so that a payment counts once for as long as it can be presented. */
const PAYMENT_LIFE: Micros = 3 * MINUTE;

export interface LimitPorts {
  readonly readStore: Pick<ReadStore, 'increment' | 'incrementInTurn'>;
  readonly clock: Clock;
}

/** Whom and what to count. */
export interface Presented {
  readonly wallet: string;
  /** The hash of the payment's message, the same for each copy of the payment. */
  readonly payment: string;
}

/** The remainder of the tighter limit, for the `RateLimit-*` headers. */
export interface RateLimitState {
  readonly limit: number;
  readonly remaining: number;
  /** Whole seconds until the window ends. */
  readonly resetSeconds: number;
}

/** A counted request. Its part of the daily limit is corrected once the number of answered cases is known. */
export interface Admission {
  readonly state: RateLimitState;
  /** How many payments of the wallet failed within the hour. */
  readonly failures: number;
  /** The results of the increments that were combined with it. */
  readonly along: readonly Counted[];
  /** When the windows of its counters end. After that there is nothing to give back. */
  readonly ends: WindowEnds;
}

export interface WindowEnds {
  /** Null for a repeat of a payment, which does not count against the minute. */
  readonly first: { readonly payment: Micros; readonly minute: Micros } | null;
  readonly day: Micros;
}

// The wallet comes first in the key, so that the counters of one payment are adjacent in the store and written
// together.
const minuteOf = (wallet: string) => `${wallet}-requests-minute`;
const presentedOf = ({ wallet, payment }: Presented) => `${wallet}-presented-${payment}`;
const repeatsOf = ({ wallet, payment }: Presented) => `${wallet}-repeats-${payment}`;
const dayOf = (wallet: string) => `${wallet}-cases-day`;
const failuresOf = (wallet: string) => `${wallet}-settlement-failures`;
const yearOf = (wallet: string) => `${wallet}-settlement-failures-year`;

/**
 * Counts one request of a wallet, and one case of its day in advance, so that concurrent requests cannot all be the
 * last allowed one. A rejected request counts for nothing. A payment counts once against the minute, however often it
 * is presented, because a captured header must not exhaust its owner's minute.
 * @param along increments to combine with it if the request is admitted
 */
export async function admit(
  { readStore, clock }: LimitPorts,
  presented: Presented,
  along: readonly Increment[] = [],
): Promise<Admission | Problem> {
  const { wallet } = presented;
  const { failures, refused } = await refuseForFailures({ readStore, clock }, wallet);
  if (refused) return refused;
  const now = clock.now();
  const inMinute = { id: minuteOf(wallet), amount: 1, limit: REQUESTS_PER_MINUTE, now, windowMicros: MINUTE };
  const inDay = { id: dayOf(wallet), amount: 1, limit: CASES_PER_DAY, now, windowMicros: DAY };

  const once = { id: presentedOf(presented), amount: 1, limit: 1, now, windowMicros: PAYMENT_LIFE };
  const counted = await readStore.incrementInTurn([once, inMinute, inDay, ...along]);
  if (counted[0]?.allowed) return concluded(counted, [once, inMinute]);

  // If the minute is full, nothing passes; the presentation that was just counted may itself be rejected by it.
  const minute = await readStore.increment(inMinute.id, 0, REQUESTS_PER_MINUTE, now, MINUTE);
  if (minute.count >= REQUESTS_PER_MINUTE) return limited(minute, REQUESTS_PER_MINUTE, 'minute', now);
  const again = { id: repeatsOf(presented), amount: 1, limit: REPEATS_PER_MINUTE, now, windowMicros: MINUTE };
  const [repeat, ...others] = await readStore.incrementInTurn([again, inDay, ...along]);
  if (repeat && !repeat.allowed) return limited(repeat, REPEATS_PER_MINUTE, 'payment', now);
  return concluded([repeat, minute, ...others], [again]);

  /** @param taken counted increments to give back if a later limit rejects the request */
  async function concluded(
    [own, minute, day, ...others]: readonly (Counted | undefined)[],
    taken: readonly Increment[],
  ): Promise<Admission | Problem> {
    if (own && minute && !minute.allowed) {
      // Otherwise the payment would look like one that was already counted.
      await giveBack(taken.slice(0, 1));
      return limited(minute, REQUESTS_PER_MINUTE, 'minute', now);
    }
    if (!own || !minute || !day) throw new RangeError('a read store gave no outcome of an increment');
    if (!day.allowed) {
      await giveBack(taken);
      return limited(day, CASES_PER_DAY, 'day', now);
    }
    const minuteLeft = REQUESTS_PER_MINUTE - minute.count;
    const dayLeft = CASES_PER_DAY - day.count;
    const tighter =
      dayLeft < minuteLeft
        ? { limit: CASES_PER_DAY, remaining: dayLeft, resetSeconds: secondsUntil(day, now) }
        : { limit: REQUESTS_PER_MINUTE, remaining: minuteLeft, resetSeconds: secondsUntil(minute, now) };
    const first = taken.includes(inMinute) ? { payment: own.resetsAt, minute: minute.resetsAt } : null;
    return {
      state: tighter,
      failures,
      along: others.filter((other) => other !== undefined),
      ends: { first, day: day.resetsAt },
    };
  }

  async function giveBack(taken: readonly Increment[]): Promise<void> {
    for (const { id, limit, windowMicros } of taken) await readStore.increment(id, -1, limit, now, windowMicros);
  }
}

/** How many payments of a wallet failed within the hour; a problem if there are too many. */
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
 * Gives back everything that a request counted, because it did not prove its sender. A window that began later is
 * unchanged; giving back there would admit an additional request. The count against the payment's own limit stays.
 */
export async function uncount(
  { readStore, clock }: LimitPorts,
  presented: Presented,
  { first, day }: WindowEnds,
): Promise<void> {
  const { wallet } = presented;
  const now = clock.now();
  if (first && now < first.payment) await readStore.increment(presentedOf(presented), -1, 1, now, PAYMENT_LIFE);
  if (first && now < first.minute) {
    await readStore.increment(minuteOf(wallet), -1, REQUESTS_PER_MINUTE, now, MINUTE);
  }
  if (now < day) await readStore.increment(dayOf(wallet), -1, CASES_PER_DAY, now, DAY);
}

/**
 * Corrects the daily count once the outcome is known: 0 for a failed request, all cases for a batch.
 * @param cases answered and paid for
 * @param ends of the windows in which the request was counted
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
  // A batch may start below the limit and end above it.
  await readStore.increment(dayOf(wallet), correction, Number.MAX_SAFE_INTEGER, now, DAY);
}

/** Counts a payment that failed on chain or never landed. */
export async function countSettlementFailure({ readStore, clock }: LimitPorts, wallet: string): Promise<void> {
  const now = clock.now();
  await readStore.increment(failuresOf(wallet), 1, Number.MAX_SAFE_INTEGER, now, HOUR);
  await readStore.increment(yearOf(wallet), 1, Number.MAX_SAFE_INTEGER, now, YEAR);
}

/** How many payments of a wallet failed within the year that began with the first failure. */
export async function failuresWithinAYear({ readStore, clock }: LimitPorts, wallet: string): Promise<number> {
  return (await readStore.increment(yearOf(wallet), 0, Number.MAX_SAFE_INTEGER, clock.now(), YEAR)).count;
}

/** How far one limit of a wallet is used up. */
export interface LimitUse {
  readonly used: number;
  readonly limit: number;
  /** When its window ends; null if none is open. */
  readonly resetsAt: Micros | null;
}

export interface WalletLimits {
  readonly requestsPerMinute: LimitUse;
  readonly casesPerDay: LimitUse;
  readonly failuresPerHour: LimitUse;
  readonly failuresOfYear: number;
}

/** The limits of a wallet as they are now, for operators. Counts nothing. */
export async function limitsInUse({ readStore, clock }: LimitPorts, wallet: string): Promise<WalletLimits> {
  const now = clock.now();
  const use = async (id: string, limit: number, window: Micros): Promise<LimitUse> => {
    const { count, resetsAt } = await readStore.increment(id, 0, limit, now, window);
    return { used: count, limit, resetsAt: count === 0 ? null : resetsAt };
  };
  const [requestsPerMinute, casesPerDay, failuresPerHour, failuresOfYear] = await Promise.all([
    use(minuteOf(wallet), REQUESTS_PER_MINUTE, MINUTE),
    use(dayOf(wallet), CASES_PER_DAY, DAY),
    use(failuresOf(wallet), SETTLEMENT_FAILURES_PER_HOUR, HOUR),
    failuresWithinAYear({ readStore, clock }, wallet),
  ]);
  return { requestsPerMinute, casesPerDay, failuresPerHour, failuresOfYear };
}

const secondsUntil = ({ resetsAt }: Counted, now: Micros): number =>
  Math.max(1, Math.ceil((resetsAt - now) / MICROS_PER_SECOND));

function limited(
  counted: Counted,
  limit: number,
  window: 'minute' | 'day' | 'payment' | 'settlement_failures',
  now: Micros,
): Problem {
  const wait = secondsUntil(counted, now);
  const what = {
    minute: `At most ${limit} requests a minute are taken from one wallet`,
    day: `At most ${limit} cases a day are answered for one wallet`,
    payment: `At most ${limit} times a minute one payment may be presented again`,
    settlement_failures: `${limit} payments of this wallet failed within an hour`,
  }[window];
  return problem('rate_limit_exceeded', { retry_after: wait, limit, window }, `${what}; wait ${wait} seconds.`);
}
