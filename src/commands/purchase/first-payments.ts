/**
 * Sponsored payments of wallets that are not proven (docs/design/payments.md#first-payments): they prevent one
 * transaction from making many payments fail, and one site from using up the common budget.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Problem, problem } from '../../errors.ts';
import { remember } from '../../runtime/remember.ts';
import { associatedTokenAddress } from '../../solana/addresses.ts';
import { type Chain, ChainUnavailable } from '../../solana/chain.ts';
import type { VerifiedTransaction } from '../../solana/verify-transaction.ts';
import type { ProvenWallets } from './proven-wallets.ts';
import { chainUnavailable, type Patience } from './reservation.ts';
import { SELF_PAID_HINT } from './sponsor-budget.ts';
import { type EndTurn, WaitingLines } from './waiting-lines.ts';

/** Per site and node: how many submitted payments may have no outcome yet. */
export const FIRST_OF_A_SITE = 5;
/** Per site and node: after this many on-chain failures within an hour, no more are sponsored. */
export const FAILED_OF_A_SITE = 6;
/** Longer than a payment can be without an outcome on a healthy chain. */
const UNDECIDED_MS = 180_000;
const LOOK_EVERY_MS = 15_000;
const HOUR_MS = 3_600_000;
const MOST_SITES = 10_000;

export interface FirstPaymentPorts {
  readonly chain: Pick<Chain, 'tokenBalance'>;
  readonly proven: Pick<ProvenWallets, 'isProven'>;
  readonly mint: string;
}

export type FirstTransaction = Pick<VerifiedTransaction, 'wallet' | 'source' | 'sponsored' | 'othersCanBreak'>;

/** `failed`: on chain, at our cost. */
export type FirstOutcome = 'failed' | 'undecided' | 'harmless';

export class FirstPayments {
  readonly #ports: FirstPaymentPorts;
  readonly #lines = new WaitingLines(FIRST_OF_A_SITE);
  /** Times of the failures of each site, by the monotonic clock, milliseconds. */
  readonly #failures = new Map<string, readonly number[]>();

  constructor(ports: FirstPaymentPorts) {
    this.#ports = ports;
  }

  /**
   * Checks a payment before any call to the chain.
   * @param site the client's network: an IPv4 address or an IPv6 /48; null if unknown
   * @returns null for a payment without these limits; a problem for one that is not sponsored; otherwise a first
   * payment, which the caller must end
   * @throws StorageFailure
   */
  async begin(transaction: FirstTransaction, site: string | null): Promise<FirstPayment | Problem | null> {
    const { wallet, source, sponsored, othersCanBreak } = transaction;
    if (!sponsored || (await this.#ports.proven.isProven(wallet))) return null;
    // One transaction that sends something to many wallets would make all their guards fail.
    if (othersCanBreak) return problem('payment_rejected', { reason: 'guard_not_sponsored' });
    if (source !== associatedTokenAddress(wallet, this.#ports.mint)) return notFromThisAccount();
    const place: SitePlace = {
      refusal: () => (site === null ? null : this.#spent(site)),
      turn: (patience) => (site === null ? Promise.resolve(() => undefined) : this.#lines.turn(site, patience)),
      failed: () => {
        if (site !== null) remember(this.#failures, site, [...this.#failuresOf(site), performance.now()], MOST_SITES);
      },
    };
    return place.refusal() ?? new FirstPayment(this.#ports.chain, source, place);
  }

  #failuresOf(site: string): readonly number[] {
    const since = performance.now() - HOUR_MS;
    return (this.#failures.get(site) ?? []).filter((at) => at > since);
  }

  #spent(site: string): Problem | null {
    const failures = this.#failuresOf(site);
    const [oldest] = failures;
    if (oldest === undefined || failures.length < FAILED_OF_A_SITE) return null;
    return tooMany(Math.ceil((oldest + HOUR_MS - performance.now()) / 1_000));
  }
}

type Pause = (ms: number) => Promise<unknown>;

/** Keeps no process alive. */
const pauseAlone: Pause = (ms) => sleep(ms, undefined, { ref: false });

interface SitePlace {
  refusal(): Problem | null;
  turn(patience: Patience): Promise<EndTurn | null>;
  failed(): void;
}

/** A payment that counts until it is ended; only the first end counts. */
export class FirstPayment {
  readonly #chain: FirstPaymentPorts['chain'];
  readonly #source: string;
  readonly #place: SitePlace;
  #endTurn: EndTurn | null = null;

  constructor(chain: FirstPaymentPorts['chain'], source: string, place: SitePlace) {
    this.#chain = chain;
    this.#source = source;
    this.#place = place;
  }

  /**
   * Why it is not sponsored. Asked after the chain has accepted it in a simulation: the delegate of many accounts could
   * empty all of them by one transaction.
   */
  async refusal(): Promise<Problem | null> {
    try {
      const balance = await this.#chain.tokenBalance(this.#source);
      // An endpoint that is behind may not know the account, although the money was just moved there.
      return balance === null ? chainUnavailable() : balance.isDelegated ? notFromThisAccount() : null;
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      return chainUnavailable();
    }
  }

  /** Waits until its site has fewer submitted payments than allowed. */
  async turn(patience: Patience): Promise<Problem | null> {
    this.#endTurn = await this.#place.turn(patience);
    return this.#endTurn === null ? tooMany(2) : this.#place.refusal();
  }

  /** Ends it: it is no longer pending. */
  end(outcome: Exclude<FirstOutcome, 'undecided'>): void {
    if (this.#endTurn === null) return;
    if (outcome === 'failed') this.#place.failed();
    this.#endTurn();
    this.#endTurn = null;
  }

  /**
   * Counts it until its outcome is known, whichever process records that. Returns immediately.
   * @param pause between two looks, milliseconds
   */
  follow(look: () => Promise<FirstOutcome>, pause: Pause = pauseAlone): void {
    const kept = new FirstPayment(this.#chain, this.#source, this.#place);
    kept.#endTurn = this.#endTurn;
    this.#endTurn = null;
    void kept.#await(look, pause);
  }

  async #await(look: () => Promise<FirstOutcome>, pause: Pause): Promise<void> {
    let outcome: FirstOutcome = 'undecided';
    for (let waited = 0; waited < UNDECIDED_MS && outcome === 'undecided'; waited += LOOK_EVERY_MS) {
      await pause(LOOK_EVERY_MS);
      outcome = await look().catch(() => 'undecided' as const);
    }
    this.end(outcome === 'failed' ? 'failed' : 'harmless');
  }
}

const notFromThisAccount = (): Problem => problem('payment_rejected', { reason: 'source_not_sponsored' });

const tooMany = (retryAfter: number): Problem =>
  problem(
    'rate_limit_exceeded',
    { retry_after: retryAfter, limit: FIRST_OF_A_SITE, window: 'first_payments', hint: SELF_PAID_HINT },
    `At most ${FIRST_OF_A_SITE} payments of new wallets are sponsored for one address at once, and none after ${FAILED_OF_A_SITE} failed on the chain within an hour.`,
  );
