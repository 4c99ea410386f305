/** A lease that is renewed while its work goes on, and that stops the work when it is lost. */
import type { Clock, Micros } from '../instant.ts';
import { MICROS_PER_MS } from '../instant.ts';
import type { Lease, ReadStore } from '../storage/read-store.ts';

/** A lease is renewed when this much of it is over. */
const HEARTBEATS_IN_A_LEASE = 3;
/** Near its end a lease no longer counts as held: clocks of two machines differ a little. */
const SAFETY_MARGIN = 0.1;

/** Another owner has taken the lease, or it could not be renewed in time. */
export class LeaseLost extends Error {
  readonly code = 'lease_lost';
  constructor(name: string) {
    super(`the lease ${name} is lost`);
    this.name = 'LeaseLost';
  }
}

export interface LeaseOptions {
  readonly readStore: ReadStore;
  readonly clock: Clock;
  readonly name: string;
  readonly owner: string;
  readonly durationMs: number;
}

export class HeldLease {
  readonly #options: LeaseOptions;
  readonly #lost = new AbortController();
  readonly #heartbeat: NodeJS.Timeout;
  readonly #lease: Lease;
  #validUntil: Micros;
  #beating: Promise<void> = Promise.resolve();

  private constructor(options: LeaseOptions, lease: Lease, validUntil: Micros) {
    this.#options = options;
    this.#lease = lease;
    this.#validUntil = validUntil;
    this.#heartbeat = setInterval(() => {
      this.#beating = this.#beat();
    }, options.durationMs / HEARTBEATS_IN_A_LEASE);
  }

  /** Takes the lease; null while somebody else holds it. */
  static async take(options: LeaseOptions): Promise<HeldLease | null> {
    const asked = options.clock.now();
    const lease = await acquire(options, asked);
    return lease && new HeldLease(options, lease, validUntil(options, asked));
  }

  /** Aborts when the lease is lost. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /**
   * To be called before each write. Renews the lease where the heartbeat has not, for want of time.
   * @throws LeaseLost
   */
  async assertHeld(): Promise<void> {
    if (this.#options.clock.now() >= this.#validUntil) await this.#renew();
    if (this.#lost.signal.aborted) throw new LeaseLost(this.#lease.name);
  }

  /** Lets the next owner in. */
  async release(): Promise<void> {
    clearInterval(this.#heartbeat);
    // A renewal that is on its way must not take back what is given away here.
    await this.#beating;
    if (!this.#lost.signal.aborted) await this.#options.readStore.releaseLease(this.#lease);
    this.#lost.abort();
  }

  async #beat(): Promise<void> {
    try {
      await this.#renew();
    } catch {
      // The store cannot be reached; until the lease ends there is time to try again.
      if (this.#options.clock.now() >= this.#validUntil) this.#lose();
    }
  }

  async #renew(): Promise<void> {
    const asked = this.#options.clock.now();
    const lease = await acquire(this.#options, asked);
    // A new token means that the lease lapsed: another owner may have worked meanwhile.
    if (lease?.token === this.#lease.token) this.#validUntil = validUntil(this.#options, asked);
    else this.#lose();
  }

  #lose(): void {
    clearInterval(this.#heartbeat);
    this.#lost.abort();
  }
}

const acquire = ({ readStore, name, owner, durationMs }: LeaseOptions, now: Micros): Promise<Lease | null> =>
  readStore.acquireLease(name, owner, now, durationMs * MICROS_PER_MS);

const validUntil = ({ durationMs }: LeaseOptions, asked: Micros): Micros =>
  asked + durationMs * MICROS_PER_MS * (1 - SAFETY_MARGIN);
