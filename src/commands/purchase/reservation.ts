/**
 * Reservations of what a wallet's pending payments will cost, and how many they are, across all nodes. Each payment
 * reserves its amount and a place before it is simulated, and releases both when its outcome is recorded
 * (docs/design/payments.md#payments-under-way).
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
  /** Shared by all requests of a process, so that only one request per wallet reads the counters at a time. */
  readonly lines: WaitingLines;
  readonly proven: Pick<ProvenWallets, 'isProven'>;
  /** How many payments of a wallet have settled. Asked only if it has several pending. */
  settledPayments(wallet: string): Promise<number>;
}

export interface Spending {
  readonly wallet: string;
  /** The token account that pays, base58. */
  readonly source: string;
  /**
   * Whether this is the wallet's own associated account. Another account may be delegated for less than its balance, so
   * such a payment must be the wallet's only pending one. Evaluated only if others are pending, because deriving the
   * account of an unknown wallet is the slowest step.
   */
  own(): boolean;
  /** Base units. */
  readonly amount: bigint;
}

/** How long a request waits for outcomes of the wallet's other payments. */
export interface Patience {
  /** By the monotonic clock (`performance.now()`), milliseconds. */
  readonly until: number;
  readonly signal: AbortSignal;
}

/** Longer than a payment can be without an outcome on a healthy chain: reservations of a killed process then expire. */
export const RESERVATION_WINDOW: Micros = 120 * MICROS_PER_SECOND;
const PAUSE_MS = 100;
/** Each pause grows by this factor. The node that releases a place wakes its own waiters immediately. */
const PAUSE_GROWTH = 1.25;
const LONGEST_PAUSE_MS = 1_000;

const reservedOf = (wallet: string) => `${wallet}-reserved`;
/** The chain did not respond. */
export const chainUnavailable = (): Problem => problem('service_unavailable', { component: 'chain', retry_after: 2 });

/**
 * Amount and place share one counter, so that one write reserves both. A place counts as more base units than twice the
 * token's total supply, and 8,000 places are still exact.
 */
const PLACE = 2 ** 40;
const packed = (amount: bigint): number => PLACE + Number(amount);

/**
 * A release after the end of its window reduces the next window, which then shows less than is pending. A negative
 * amount counts as zero, and the place that it was borrowed from stays reserved.
 */
function unpacked(count: number): { readonly reserved: bigint; readonly underWay: number } {
  const amount = count % PLACE;
  const isBorrowed = amount >= PLACE / 2;
  return { reserved: isBorrowed ? 0n : BigInt(amount), underWay: Math.floor(count / PLACE) + (isBorrowed ? 1 : 0) };
}

/**
 * The increment that reserves an amount. It can be combined with other increments, before `reserve` evaluates the
 * result. A wallet's only payment gets its own window, which does not end while that payment may land.
 */
export const reservation = (wallet: string, amount: bigint, now: Micros): Increment => ({
  id: reservedOf(wallet),
  amount: packed(amount),
  limit: Number.MAX_SAFE_INTEGER,
  now,
  windowMicros: RESERVATION_WINDOW,
  restartsAtZero: true,
});

/** The result of `reservation`. */
export interface Reserving {
  /** Failed payments of the wallet within the hour, read before the reservation. */
  readonly failures: number;
  /** Everything that the wallet has reserved, including this payment's amount; base units. */
  readonly reserved: bigint;
  /** The wallet's pending payments, including this one. */
  readonly underWay: number;
  /** When the window of the reservation ends. */
  readonly until: Micros;
}

/** A successful reservation. */
export interface Reserved {
  /** After this time there is nothing to release. */
  readonly until: Micros;
}

/** Evaluates the counter after `reservation`. */
export const reservedBy = (failures: number, { count, resetsAt }: Counted): Reserving => ({
  failures,
  ...unpacked(count),
  until: resetsAt,
});

/**
 * Reserves an amount, and waits while the outcomes of the wallet's other payments may leave enough for it. Waiting
 * requests queue, because each attempt costs two writes and a call to the chain, and a caller can make sixty requests
 * wait for 30 seconds. For a single payment the balance is not read; the simulation that follows shows whether it can
 * be paid.
 * @param begun the result of `reservation` for this amount, if it was already made
 * @returns the reservation, or why there is none
 */
export async function reserve(
  ports: ReservationPorts,
  spending: Spending,
  { until, signal }: Patience,
  begun: Reserving | null = null,
): Promise<Reserved | Problem> {
  // Payments that already wait come first.
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
      // With jitter, so that waiters on several nodes do not retry together and block each other.
      await ports.lines.nap(spending.wallet, pauseMs * (0.5 + Math.random()), signal);
    }
  } finally {
    endTurn();
  }
}

interface NotReserved {
  readonly problem: Problem;
  /** False if the result may change once the wallet's other payments have outcomes. */
  readonly final: boolean;
}

/** Whether a place is free, without a write. */
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

/**
 * A failure is counted before its place is released, so the payment that gets the place reads it here at the latest.
 */
async function failedMeanwhile(
  ports: LimitPorts,
  wallet: string,
  { failures }: Reserving,
): Promise<NotReserved | null> {
  const refused = failures === 0 ? null : (await refuseForFailures(ports, wallet)).refused;
  return refused && { problem: refused, final: true };
}

/**
 * Whether the wallet has more pending payments than allowed. Counts settled payments only if there are many pending.
 */
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

/** Whether the wallet's pending payments exceed its balance. */
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

/** Reserves first and compares afterwards, so that a later reservation includes this one. */
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
 * Releases a reservation: the payment has an outcome or will never be broadcast.
 * @param until when the window of the reservation ended; in a later window a release would free the place of another
 * payment
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
 * Until when a submitted payment's reservation window certainly lasts. The payment was answered and submitted within a
 * minute of its reservation.
 * @param answeredAt microseconds
 */
export const reservedUntil = (answeredAt: Micros): Micros => answeredAt + RESERVATION_WINDOW / 2;

/** Pauses before a failed release is retried, milliseconds: half a window in total. */
const GIVE_BACK_AGAIN_MS = [1_000, 2_000, 4_000, 8_000, 15_000, 30_000] as const;

/**
 * Retries `giveBack` after it has failed without a write. Never throws. A wallet that can pay for one answer must not
 * be rejected because of a payment that was never submitted. A reservation that is not released, or may have been
 * already, expires with its window.
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
