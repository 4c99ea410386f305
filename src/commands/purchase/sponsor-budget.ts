/**
 * Limits what failed payments of all wallets together may cost the fee payer (docs/design/payments.md#sponsor-budget).
 * The counters are shared by all nodes. Each reads them at most once a second, never during a payment.
 */
import type { BaseLogger } from 'pino';
import { type Problem, problem } from '../../errors.ts';
import { type Clock, MICROS_PER_SECOND, type Micros } from '../../runtime/instant.ts';
import type { Counted, ReadStore } from '../../storage/read-store.ts';

/** Lamports. */
export interface SponsorLimits {
  readonly lamportsPerHour: number;
  readonly lamportsPerDay: number;
}

export type SponsorWindow = 'hour' | 'day';

export interface SponsorStanding {
  readonly window: SponsorWindow;
  /** Lamports lost to failed payments within the window. */
  readonly lost: number;
  readonly limit: number;
  readonly resetsAt: Micros;
}

export interface SponsorPause {
  /**
   * Who is paused: wallets without a settled payment, and beyond twice the budget all wallets. Otherwise strangers
   * could lock out customers at the price of a few fees.
   */
  readonly wallets: 'new' | 'all';
  readonly standing: SponsorStanding;
}

export interface SponsorBudgetPorts {
  readonly readStore: Pick<ReadStore, 'increment'>;
  readonly clock: Clock;
  readonly limits: SponsorLimits;
  readonly logger: Pick<BaseLogger, 'info' | 'warn' | 'error'>;
}

const HOUR: Micros = 3_600 * MICROS_PER_SECOND;
const WINDOWS: readonly { readonly window: SponsorWindow; readonly micros: Micros }[] = [
  { window: 'hour', micros: HOUR },
  { window: 'day', micros: 24 * HOUR },
];
const LOOK_EVERY_MS = 1_000;
/** Beyond this multiple of the budget, sponsorship pauses for every wallet. */
const ALL_PAUSE_AT = 2;
const UNBOUNDED = Number.MAX_SAFE_INTEGER;

const counterOf = (window: SponsorWindow) => `sponsored-fees-lost-${window}`;

/** The decision: the window that pauses sponsorship the longest, if any. */
export function pauseOf(standings: readonly SponsorStanding[], now: Micros): SponsorPause | null {
  const spent = standings.filter(({ lost, limit, resetsAt }) => lost >= limit && resetsAt > now);
  const [standing] = spent.toSorted((a, b) => b.resetsAt - a.resetsAt);
  if (!standing) return null;
  const forAll = spent.some(({ lost, limit }) => lost >= ALL_PAUSE_AT * limit);
  return { wallets: forAll ? 'all' : 'new', standing };
}

export class SponsorBudget {
  readonly #ports: SponsorBudgetPorts;
  #standings: readonly SponsorStanding[] = [];
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | null = null;
  #alarmed = false;

  constructor(ports: SponsorBudgetPorts) {
    this.#ports = ports;
  }

  /** The losses at the last read; empty before the first. */
  get standings(): readonly SponsorStanding[] {
    return this.#standings;
  }

  /** Whether sponsorship is paused, as far as this node knows. Starts a read if the last one is a second old. */
  pause(): SponsorPause | null {
    if (performance.now() - this.#lookedAt >= LOOK_EVERY_MS) this.look().catch(() => undefined);
    return pauseOf(this.#standings, this.#ports.clock.now());
  }

  /** Reads the counters. @throws StorageFailure */
  look(): Promise<void> {
    this.#looking ??= this.#count(0).finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  /** Counts the fee of a sponsored payment that failed on chain. @throws StorageFailure */
  lost(lamports: bigint): Promise<void> {
    return this.#count(Number(lamports));
  }

  async #count(lamports: number): Promise<void> {
    const { readStore, clock, limits } = this.#ports;
    this.#lookedAt = performance.now();
    const now = clock.now();
    const standings: SponsorStanding[] = [];
    for (const { window, micros } of WINDOWS) {
      const counted: Counted = await readStore.increment(counterOf(window), lamports, UNBOUNDED, now, micros);
      const limit = window === 'hour' ? limits.lamportsPerHour : limits.lamportsPerDay;
      standings.push({ window, lost: counted.count, limit, resetsAt: counted.resetsAt });
    }
    this.#standings = standings;
    this.#report(pauseOf(standings, now));
  }

  /** Logs once when sponsorship pauses and once when it resumes. */
  #report(pause: SponsorPause | null): void {
    const { logger } = this.#ports;
    if (pause && !this.#alarmed) {
      const { window, lost, limit } = pause.standing;
      logger.error(
        { alarm: 'sponsored_payments_paused', window, lamportsLost: lost, lamportsAllowed: limit },
        'failed payments cost the fee payer more than its budget: sponsored payments pause, others continue',
      );
    } else if (!pause && this.#alarmed) logger.info({}, 'sponsored payments are accepted again');
    this.#alarmed = pause !== null;
  }
}

export const SELF_PAID_HINT =
  'Pay the network fee yourself: send a transfer of your own as X402-Payment (its terms are in X-Payment-Requirements), or repeat the request after details.retry_after seconds. Nothing was charged.';

/** The problem for a sponsored payment while sponsorship is paused. */
export function pausedProblem({ standing }: SponsorPause, now: Micros): Problem {
  const retryAfter = Math.max(1, Math.ceil((standing.resetsAt - now) / MICROS_PER_SECOND));
  return problem(
    'service_unavailable',
    { component: 'sponsored_payments', retry_after: retryAfter, hint: SELF_PAID_HINT },
    'The service pays no network fees for this wallet at the moment. A transfer that pays its own fee is accepted.',
  );
}
