/**
 * What the payments of a wallet that are under way will take of its tokens, and how many they are, across all nodes. The
 * chain alone cannot see: payments that are sent at once all pass its simulation, though the wallet may afford only one,
 * and one transfer that empties the wallet makes all of them fail. A sponsored payment that fails costs us its fee, and
 * every other its query. So each reserves its amount and its place before it is simulated, and gives both back when its
 * outcome is recorded.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isProblem, type Problem, problem } from '../../errors.ts';
import { MICROS_PER_SECOND, type Micros } from '../../runtime/instant.ts';
import { type Chain, ChainUnavailable } from '../../solana/chain.ts';
import type { Counted, Increment } from '../../storage/read-store.ts';
import { isUnwritten } from '../../storage/storage-failure.ts';
import { insufficientFunds } from '../payment/chain-checks.ts';
import { allowedUnderWay } from './allowance.ts';
import type { ProvenWallets } from './proven-wallets.ts';
import type { WaitingLines } from './waiting-lines.ts';
import { type LimitPorts, refuseForFailures } from './wallet-limits.ts';

export interface ReservationPorts extends LimitPorts {
  readonly chain: Pick<Chain, 'tokenBalance'>;
  /** One for all requests of a process: it lets one of each wallet's look, and not all of them. */
  readonly lines: WaitingLines;
  readonly proven: Pick<ProvenWallets, 'isProven'>;
  /** How many payments of a wallet have settled; asked only where it has many under way. */
  settledPayments(wallet: string): Promise<number>;
}

export interface Spending {
  readonly wallet: string;
  /** The token account that pays, base58. */
  readonly source: string;
  /**
   * Whether it is the wallet's own associated account. Another may be lent for less than it holds, which its balance
   * does not show, so only one of its payments is under way at a time. Asked only where others are under way: to derive the
   * account of a wallet that was never seen takes longer than all the rest.
   */
  own(): boolean;
  /** Base units. */
  readonly amount: bigint;
}

/** How long a request waits for the wallet's other payments to be decided. */
export interface Patience {
  /** By the monotonic clock (`performance.now()`), milliseconds. */
  readonly until: number;
  readonly signal: AbortSignal;
}

/** Longer than a payment can be undecided on a healthy chain: what a killed process reserved is then free. */
export const RESERVATION_WINDOW: Micros = 120 * MICROS_PER_SECOND;
const PAUSE_MS = 100;
/** Each pause is this much longer than the one before; the node that frees a place wakes its own waiters at once. */
const PAUSE_GROWTH = 1.25;
const LONGEST_PAUSE_MS = 1_000;

const reservedOf = (wallet: string) => `${wallet}-reserved`;
/** The chain did not answer. */
export const chainUnavailable = (): Problem => problem('service_unavailable', { component: 'chain', retry_after: 2 });

/**
 * Amount and place share one counter, so that a payment reserves both by one write: a place counts as more base units
 * than there are in circulation twice over, and 8,000 of them are still exact.
 */
const PLACE = 2 ** 40;
const packed = (amount: bigint): number => PLACE + Number(amount);

/**
 * What is given back after its window ended is taken from the next one, which then holds less than is under way. An
 * amount that has become negative by that is none, and the place that it borrowed from is still taken.
 */
function unpacked(count: number): { readonly reserved: bigint; readonly underWay: number } {
  const amount = count % PLACE;
  const isBorrowed = amount >= PLACE / 2;
  return { reserved: isBorrowed ? 0n : BigInt(amount), underWay: Math.floor(count / PLACE) + (isBorrowed ? 1 : 0) };
}

/**
 * The increment that reserves an amount: it can be made along with others, before `reserve` says what it came to. A
 * wallet's only payment has a window of its own, which does not end while that payment may land.
 */
export const reservation = (wallet: string, amount: bigint, now: Micros): Increment => ({
  id: reservedOf(wallet),
  amount: packed(amount),
  limit: Number.MAX_SAFE_INTEGER,
  now,
  windowMicros: RESERVATION_WINDOW,
  restartsAtZero: true,
});

/** What `reservation` came to. */
export interface Reserving {
  /** Of the wallet's payments within the hour, read before it was made. */
  readonly failures: number;
  /** All that the wallet has reserved since, this payment's amount included; base units. */
  readonly reserved: bigint;
  /** How many payments of the wallet are under way, this one included. */
  readonly underWay: number;
  /** When the window ends that it was made in. */
  readonly until: Micros;
}

/** What `reserve` has reserved. */
export interface Reserved {
  /** From then on there is nothing to be given back. */
  readonly until: Micros;
}

/** Reads what the counter of `reservation` came to. */
export const reservedBy = (failures: number, { count, resetsAt }: Counted): Reserving => ({
  failures,
  ...unpacked(count),
  until: resetsAt,
});

/**
 * Reserves an amount, waiting while the wallet's other payments may still leave enough for it. Those that wait do so in
 * line: each look costs two writes and a call to the chain, and anybody can have sixty requests wait for half a minute.
 * A payment that is alone is not looked at: the simulation that follows says whether it can be paid.
 * @param begun what `reservation` of this amount came to, where it was made already
 * @returns the reservation, or why there is none
 */
export async function reserve(
  ports: ReservationPorts,
  spending: Spending,
  { until, signal }: Patience,
  begun: Reserving | null = null,
): Promise<Reserved | Problem> {
  // Payments that wait already come first.
  const first = begun || !ports.lines.has(spending.wallet) ? await attempt(ports, spending, begun) : null;
  if (first && 'until' in first) return first;
  if (first && (first.final || signal.aborted || performance.now() >= until)) return first.problem;
  const endTurn = await ports.lines.turn(spending.wallet, { until, signal });
  if (endTurn === null) {
    const last = first ?? (await attempt(ports, spending, null));
    return 'until' in last ? last : last.problem;
  }
  try {
    for (let pauseMs = PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, PAUSE_GROWTH * pauseMs)) {
      const outcome = (await look(ports, spending)) ?? (await attempt(ports, spending, null));
      if ('until' in outcome) return outcome;
      if (outcome.final || signal.aborted || performance.now() >= until) return outcome.problem;
      // Jittered, so that those who wait on several nodes do not come back together and block each other.
      await ports.lines.nap(spending.wallet, pauseMs * (0.5 + Math.random()), signal);
    }
  } finally {
    endTurn();
  }
}

interface NotReserved {
  readonly problem: Problem;
  /** False where it may be another one, or none, once the wallet's other payments are decided. */
  readonly final: boolean;
}

/** Whether there is a place at all, without a write. */
async function look(ports: ReservationPorts, { wallet, amount }: Spending): Promise<NotReserved | null> {
  const { failures, refused } = await refuseForFailures(ports, wallet);
  if (refused) return { problem: refused, final: true };
  const { id, limit, now, windowMicros } = reservation(wallet, amount, ports.clock.now());
  const seen = reservedBy(failures, await ports.readStore.increment(id, 0, limit, now, windowMicros));
  return seen.underWay === 0 ? null : tooMany(ports, wallet, { ...seen, underWay: seen.underWay + 1 });
}

async function attempt(
  ports: ReservationPorts,
  spending: Spending,
  made: Reserving | null,
): Promise<Reserved | NotReserved> {
  const { wallet, amount } = spending;
  const begun = made ?? (await begin(ports, spending));
  if (isProblem(begun)) return { problem: begun, final: true };
  let refusal: NotReserved | null;
  try {
    refusal =
      (await failedMeanwhile(ports, wallet, begun)) ??
      (begun.underWay <= 1 ? null : await tooMany(ports, wallet, begun)) ??
      (begun.underWay <= 1 ? null : await tooMuch(ports, spending, begun.reserved));
  } catch (error) {
    await giveBack(ports, wallet, amount, begun.until);
    throw error;
  }
  if (!refusal) return begun;
  await giveBack(ports, wallet, amount, begun.until);
  return refusal;
}

/** A failure is counted before its place is given back, so the payment that got the place reads it now at the latest. */
async function failedMeanwhile(
  ports: LimitPorts,
  wallet: string,
  { failures }: Reserving,
): Promise<NotReserved | null> {
  const refused = failures === 0 ? null : (await refuseForFailures(ports, wallet)).refused;
  return refused && { problem: refused, final: true };
}

/** Whether more payments of the wallet are under way than it may have. Counts those that settled for many only. */
async function tooMany(
  ports: ReservationPorts,
  wallet: string,
  { failures, underWay }: Reserving,
): Promise<NotReserved | null> {
  const isProven = await ports.proven.isProven(wallet);
  const least = allowedUnderWay({ isProven, settled: 1, failures });
  if (underWay <= least) return null;
  const limit =
    isProven && failures === 0
      ? allowedUnderWay({ isProven, settled: await ports.settledPayments(wallet), failures })
      : least;
  return underWay <= limit ? null : { problem: tooManyUnderWay(limit), final: false };
}

/** Whether all that the wallet has under way is more than it has. */
async function tooMuch(
  { chain }: ReservationPorts,
  { source, own, amount }: Spending,
  reserved: bigint,
): Promise<NotReserved | null> {
  if (!own()) return { problem: tooManyUnderWay(1), final: false };
  try {
    const balance = (await chain.tokenBalance(source))?.amount ?? 0n;
    if (reserved <= balance) return null;
    const final = balance < amount;
    return { problem: insufficientFunds((final ? amount : reserved) - balance), final };
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    return { problem: chainUnavailable(), final: false };
  }
}

const UNDER_WAY_RETRY_SECONDS = 2;

const tooManyUnderWay = (limit: number): Problem =>
  problem(
    'rate_limit_exceeded',
    { retry_after: UNDER_WAY_RETRY_SECONDS, limit, window: 'payments_under_way' },
    `${limit === 1 ? 'Only one payment' : `At most ${limit} payments`} of this wallet may be under way at once: wait until the others are settled. Each payment that settles allows more.`,
  );

/** Reserves first and compares then: a later reservation includes this one. */
async function begin(
  { readStore, clock }: ReservationPorts,
  { wallet, amount }: Spending,
): Promise<Reserving | Problem> {
  const { failures, refused } = await refuseForFailures({ readStore, clock }, wallet);
  if (refused) return refused;
  const [counted] = await readStore.incrementInTurn([reservation(wallet, amount, clock.now())]);
  if (!counted) throw new RangeError('a read store gave no outcome of an increment');
  return reservedBy(failures, counted);
}

/**
 * Ends a reservation: the payment has its outcome, or will never be broadcast.
 * @param until when the window ended that it was made in: in a later one it would free the place of another payment
 */
export async function giveBack(
  { readStore, clock }: LimitPorts,
  wallet: string,
  amount: bigint,
  until: Micros,
): Promise<void> {
  const now = clock.now();
  if (now >= until) return;
  await readStore.increment(reservedOf(wallet), -packed(amount), Number.MAX_SAFE_INTEGER, now, RESERVATION_WINDOW);
}

/**
 * Until when a submitted payment surely has the window that it was reserved in: it was answered, and submitted, within a
 * minute of that.
 * @param answeredAt microseconds
 */
export const reservedUntil = (answeredAt: Micros): Micros => answeredAt + RESERVATION_WINDOW / 2;

/** While storage fails, what could not be given back is tried again after these pauses, milliseconds: half a window. */
export const GIVE_BACK_AGAIN_MS = [1_000, 2_000, 4_000, 8_000, 15_000, 30_000] as const;

/**
 * As `giveBack`, where that has just failed and nothing was written; never throws. A wallet that can pay for one answer
 * must not be refused for a payment that was never submitted. What is not given back in the end, or may have been given
 * back already, is free when its window ends.
 */
export async function giveBackLater(
  ports: LimitPorts,
  wallet: string,
  amount: bigint,
  until: Micros,
  pauses: readonly number[] = GIVE_BACK_AGAIN_MS,
): Promise<void> {
  for (const pauseMs of pauses) {
    await sleep(pauseMs, undefined, { ref: false });
    try {
      await giveBack(ports, wallet, amount, until);
      return;
    } catch (error) {
      if (!isUnwritten(error)) return;
    }
  }
}
