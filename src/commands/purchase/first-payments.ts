/**
 * Sponsored payments of wallets that have never paid (docs/design/payments.md#first-payments). Such a wallet can be
 * emptied before its payment lands: that costs its owner 5,000 lamports and us up to 15,000. So of each wallet one is
 * submitted at a time, and of each client only so many may be undecided, or have failed, within an hour. A payment that
 * settles ends both: it has paid for hundreds of failures.
 */
import { type Problem, problem } from '../../errors.ts';
import { type Clock, MICROS_PER_SECOND, type Micros } from '../../runtime/instant.ts';
import { remember } from '../../runtime/remember.ts';
import { leaseOwner } from '../../storage/lease-owner.ts';
import type { Lease, ReadStore } from '../../storage/read-store.ts';
import { type Patience, tooManyUnderWay } from './reservation.ts';
import { SELF_PAID_HINT } from './sponsor-budget.ts';
import type { WaitingLines } from './waiting-lines.ts';
import { refuseForFailures } from './wallet-limits.ts';

/** Of one client on one node, within an hour. Those that settle do not count. */
export const UNPROVEN_OF_A_CLIENT = 10;
/** Longer than a payment can be undecided, where the chain is well. A killed process of this machine keeps no turn. */
const TURN: Micros = 120 * MICROS_PER_SECOND;
const HOUR_MS = 3_600_000;
const PAUSE_MS = 100;
const MOST_REMEMBERED = 10_000;

export interface FirstPaymentPorts {
  readonly readStore: Pick<ReadStore, 'increment' | 'incrementInTurn' | 'acquireLease' | 'releaseLease'>;
  readonly clock: Clock;
  settledPayments(wallet: string): Promise<number>;
  /** Of the turns that this process takes; `leaseOwner()` where left out. */
  readonly owner?: string;
}

export interface SponsoredPayment {
  readonly wallet: string;
  /** Of the payment. */
  readonly stream: string;
}

/** A request to submit one. */
export interface FirstPaymentRequest extends SponsoredPayment {
  /** Null where it is not known: then only the wallet is counted. */
  readonly client: string | null;
  /** How many payments of the wallet had failed within the hour when this one was admitted. */
  readonly failures: number;
}

export class FirstPayments {
  readonly #ports: FirstPaymentPorts;
  readonly #owner: string;
  readonly #clients = new UnprovenOfClients();
  /** Wallets that are known to have paid. */
  readonly #paid = new Map<string, true>();
  /** By the stream of the payment. */
  readonly #turns = new Map<string, Lease>();

  constructor(ports: FirstPaymentPorts) {
    this.#ports = ports;
    this.#owner = ports.owner ?? leaseOwner();
  }

  /**
   * Waits until a payment may be submitted: its wallet has paid before, or it is the wallet's turn, which `leave` or
   * `decided` ends.
   * @returns why it may not, where it had to wait for too long, or another payment of the wallet has failed since
   * @throws StorageFailure
   */
  async take(
    request: FirstPaymentRequest,
    lines: Pick<WaitingLines, 'nap'>,
    { until, signal }: Patience,
  ): Promise<Problem | null> {
    const { wallet, stream, client, failures } = request;
    for (;;) {
      if (await this.#hasPaid(wallet)) return null;
      const refusal = this.#clients.take(client, stream);
      try {
        const isTurn = !refusal && (await this.#takeTurn(request));
        // Read after the turn is taken, since an outcome is counted before it ends a turn. What was admitted before a
        // failure was simulated on a balance that may be gone by now.
        const hasFailed = (await refuseForFailures(this.#ports, wallet)).failures > failures;
        if (isTurn && !hasFailed) return null;
        await this.leave(request);
        if (hasFailed) return failedMeanwhile();
      } catch (error) {
        await this.leave(request).catch(() => undefined);
        throw error;
      }
      if (signal.aborted || performance.now() >= until) return refusal ?? tooManyUnderWay(1);
      await lines.nap(wallet, PAUSE_MS * (0.5 + Math.random()), signal);
    }
  }

  /** The payment will not be submitted by this request. @throws StorageFailure */
  async leave({ stream }: SponsoredPayment): Promise<void> {
    this.#clients.decided(stream, false);
    await this.#endTurn(stream);
  }

  /**
   * The payment has its outcome.
   * @param outcome `failed` where that is its wallet's doing
   * @throws StorageFailure
   */
  async decided({ wallet, stream }: SponsoredPayment, outcome: 'settled' | 'failed' | 'expired'): Promise<void> {
    this.#clients.decided(stream, outcome === 'failed');
    if (outcome === 'settled') remember(this.#paid, wallet, true, MOST_REMEMBERED);
    await this.#endTurn(stream);
  }

  async #hasPaid(wallet: string): Promise<boolean> {
    if (this.#paid.has(wallet)) return true;
    if ((await this.#ports.settledPayments(wallet)) <= 0) return false;
    remember(this.#paid, wallet, true, MOST_REMEMBERED);
    return true;
  }

  async #takeTurn({ wallet, stream }: SponsoredPayment): Promise<boolean> {
    const { readStore, clock } = this.#ports;
    const owner = `${this.#owner}/${stream}`;
    const turn = await readStore.acquireLease(`first-payment-${wallet}`, owner, clock.now(), TURN);
    if (turn) remember(this.#turns, stream, turn, MOST_REMEMBERED);
    return turn !== null;
  }

  /** A turn that another process has ends with its time: only the log says there what became of the payment. */
  async #endTurn(stream: string): Promise<void> {
    const turn = this.#turns.get(stream);
    this.#turns.delete(stream);
    if (turn) await this.#ports.readStore.releaseLease(turn);
  }
}

interface Unproven {
  count: number;
  /** By the monotonic clock, milliseconds. */
  readonly endsAt: number;
}

/** What the first payments of each client's wallets have come to, on this node. */
class UnprovenOfClients {
  readonly #clients = new Map<string, Unproven>();
  /** Who sent each payment that is undecided. */
  readonly #senders = new Map<string, Unproven>();

  take(client: string | null, stream: string): Problem | null {
    if (client === null) return null;
    const now = performance.now();
    let unproven = this.#clients.get(client);
    if (!unproven || unproven.endsAt <= now) {
      unproven = { count: 0, endsAt: now + HOUR_MS };
      remember(this.#clients, client, unproven, MOST_REMEMBERED);
    }
    if (unproven.count >= UNPROVEN_OF_A_CLIENT) return tooManyUnproven(Math.ceil((unproven.endsAt - now) / 1_000));
    unproven.count++;
    remember(this.#senders, stream, unproven, MOST_REMEMBERED);
    return null;
  }

  decided(stream: string, counts: boolean): void {
    const unproven = this.#senders.get(stream);
    this.#senders.delete(stream);
    if (unproven && !counts) unproven.count--;
  }
}

const tooManyUnproven = (retryAfter: number): Problem =>
  problem(
    'rate_limit_exceeded',
    { retry_after: retryAfter, limit: UNPROVEN_OF_A_CLIENT, window: 'first_payments', hint: SELF_PAID_HINT },
    `At most ${UNPROVEN_OF_A_CLIENT} payments of wallets that have never paid are sponsored for this address while they are undecided or have failed within the hour.`,
  );

const failedMeanwhile = (): Problem =>
  problem(
    'rate_limit_exceeded',
    { retry_after: 2, limit: 1, window: 'payments_under_way' },
    'Another payment of this wallet has just failed, so this one was not sent. Check the balance of the wallet, then sign again.',
  );
