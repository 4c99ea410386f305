/** A lease that is renewed while its work goes on, and that stops the work when it is lost. */

import type { Clock, Micros } from '../runtime/instant.ts';
import { MICROS_PER_MS } from '../runtime/instant.ts';
import { steadyClock } from '../runtime/steady-clock.ts';
import { onHeartbeat } from './heartbeat.ts';
import type { Lease, ReadStore } from './read-store.ts';

/** A lease is renewed when this part of it is over, or before: all leases of a process are renewed at once. */
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
  /** A clock that is never set; the system's where left out. */
  readonly steady?: Clock;
  readonly name: string;
  readonly owner: string;
  readonly durationMs: number;
}

/**
 * Until when a lease counts as held, by both clocks: the steady one, since a wall clock that is set back would make it
 * last for hours; and the wall clock, since the other stands still while the machine sleeps.
 */
interface Validity {
  readonly wall: Micros;
  readonly steady: Micros;
}

export class HeldLease {
  readonly #options: LeaseOptions;
  readonly #lost = new AbortController();
  readonly #endHeartbeat: () => void;
  readonly #lease: Lease;
  #validUntil: Validity;
  #beating: Promise<void> = Promise.resolve();

  private constructor(options: LeaseOptions, lease: Lease, validUntil: Validity) {
    this.#options = options;
    this.#lease = lease;
    this.#validUntil = validUntil;
    this.#endHeartbeat = onHeartbeat(options.durationMs / HEARTBEATS_IN_A_LEASE, () => {
      this.#beating = this.#beat();
    });
  }

  /** Takes the lease; null while somebody else holds it. */
  static async take(options: LeaseOptions): Promise<HeldLease | null> {
    const until = validUntil(options);
    const lease = await acquire(options);
    return lease && new HeldLease(options, lease, until);
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
    if (this.#isOver()) await this.#renew();
    if (this.#lost.signal.aborted) throw new LeaseLost(this.#lease.name);
  }

  /** Lets the next owner in. */
  async release(): Promise<void> {
    this.#endHeartbeat();
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
      if (this.#isOver()) this.#lose();
    }
  }

  async #renew(): Promise<void> {
    const until = validUntil(this.#options);
    const lease = await acquire(this.#options);
    // A new token means that the lease lapsed: another owner may have worked meanwhile.
    if (lease?.token === this.#lease.token) this.#validUntil = until;
    else this.#lose();
  }

  #isOver(): boolean {
    const { clock, steady = steadyClock } = this.#options;
    return clock.now() >= this.#validUntil.wall || steady.now() >= this.#validUntil.steady;
  }

  #lose(): void {
    this.#endHeartbeat();
    this.#lost.abort();
  }
}

const acquire = ({ readStore, clock, name, owner, durationMs }: LeaseOptions): Promise<Lease | null> =>
  readStore.acquireLease(name, owner, clock.now(), durationMs * MICROS_PER_MS);

/** Of a lease that is asked for now. */
function validUntil({ clock, steady = steadyClock, durationMs }: LeaseOptions): Validity {
  const sure = durationMs * MICROS_PER_MS * (1 - SAFETY_MARGIN);
  return { wall: clock.now() + sure, steady: steady.now() + sure };
}
