/**
 * Sponsored payments of wallets that are not proven (docs/design/payments.md#first-payments). Such a wallet can be emptied
 * before its payment lands: that costs its owner 5,000 lamports and us up to 15,000. One payment of each is under way at
 * a time; here is what keeps one transaction from making many fail, and one site from using up what all may cost us.
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

/** Of one site on one node: how many are submitted and undecided at once. */
export const FIRST_OF_A_SITE = 5;
/** Of one site on one node: past so many that failed on chain within an hour, no more are sponsored. */
export const FAILED_OF_A_SITE = 6;
/** Longer than a payment can be undecided on a healthy chain. */
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
  /** When payments of each site failed, by the monotonic clock, milliseconds. */
  readonly #failures = new Map<string, readonly number[]>();

  constructor(ports: FirstPaymentPorts) {
    this.#ports = ports;
  }

  /**
   * Before the chain is asked anything.
   * @param site the network of the client: an IPv4 address, or an IPv6 /48; null where it is not known
   * @returns null for a payment that needs no care; a problem for one that is not sponsored; else one to be ended
   * @throws StorageFailure
   */
  async begin(transaction: FirstTransaction, site: string | null): Promise<FirstPayment | Problem | null> {
    const { wallet, source, sponsored, othersCanBreak } = transaction;
    if (!sponsored || (await this.#ports.proven.isProven(wallet))) return null;
    // One transaction sends something to many wallets, and makes the guards of all of them fail.
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

interface SitePlace {
  refusal(): Problem | null;
  turn(patience: Patience): Promise<EndTurn | null>;
  failed(): void;
}

/** To be ended, however it ends; the first end counts. */
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
   * Why it is not sponsored, asked once the chain would run it: a delegate of many accounts empties all of them by one
   * transaction.
   */
  async refusal(): Promise<Problem | null> {
    try {
      const balance = await this.#chain.tokenBalance(this.#source);
      // An endpoint that is behind knows no account that another one has just taken the money from.
      return balance === null ? chainUnavailable() : balance.isDelegated ? notFromThisAccount() : null;
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      return chainUnavailable();
    }
  }

  /** Waits for a place among those of its site that may be submitted at once. */
  async turn(patience: Patience): Promise<Problem | null> {
    this.#endTurn = await this.#place.turn(patience);
    return this.#endTurn === null ? tooMany(2) : this.#place.refusal();
  }

  /** It is no longer under way. */
  end(outcome: Exclude<FirstOutcome, 'undecided'>): void {
    if (this.#endTurn === null) return;
    if (outcome === 'failed') this.#place.failed();
    this.#endTurn();
    this.#endTurn = null;
  }

  /** Keeps its place until its outcome is known, whichever process records it; returns at once. */
  follow(look: () => Promise<FirstOutcome>): void {
    const kept = new FirstPayment(this.#chain, this.#source, this.#place);
    kept.#endTurn = this.#endTurn;
    this.#endTurn = null;
    void kept.#await(look);
  }

  async #await(look: () => Promise<FirstOutcome>): Promise<void> {
    let outcome: FirstOutcome = 'undecided';
    for (let waited = 0; waited < UNDECIDED_MS && outcome === 'undecided'; waited += LOOK_EVERY_MS) {
      await sleep(LOOK_EVERY_MS, undefined, { ref: false });
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
