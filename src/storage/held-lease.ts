/** A lease that is renewed while its work runs, and that stops the work if it is lost. */

import type { Clock, Micros } from '../runtime/instant.ts';
import { MICROS_PER_MS } from '../runtime/instant.ts';
import { steadyClock } from '../runtime/steady-clock.ts';
import { onHeartbeat } from './heartbeat.ts';
import type { Lease, ReadStore } from './read-store.ts';

/** A lease is renewed at least this often in its duration; all leases of a process are renewed at once. */
const HEARTBEATS_IN_A_LEASE = 3;
/** The last part of a lease does not count as held, because the clocks of two machines differ slightly. */
const SAFETY_MARGIN = 0.1;

/** Another owner acquired the lease, or it could not be renewed in time. */
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
  /** A clock that is never adjusted; the system's if omitted. */
  readonly steady?: Clock;
  readonly name: string;
  readonly owner: string;
  readonly durationMs: number;
}

/**
 * Until when a lease counts as held, by both clocks. The steady clock is needed because a wall clock that is set back
 * would extend the lease by hours; the wall clock, because the steady one stops while the machine sleeps.
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

  /** Acquires the lease; null while another owner holds it. */
  static async acquire(options: LeaseOptions): Promise<HeldLease | null> {
    const until = validUntil(options);
    const lease = await acquire(options);
    return lease && new HeldLease(options, lease, until);
  }

  /** Aborts when the lease is lost. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /**
   * Call this before each write. Renews the lease if the heartbeat was too late to do so.
   * @throws LeaseLost
   */
  async assertHeld(): Promise<void> {
    if (this.#isOver()) await this.#renew();
    if (this.#lost.signal.aborted) throw new LeaseLost(this.#lease.name);
  }

  /** Ends the lease, so that the next owner can acquire it. */
  async release(): Promise<void> {
    this.#endHeartbeat();
    // A renewal in progress must not reacquire the lease after its release.
    await this.#beating;
    if (!this.#lost.signal.aborted) await this.#options.readStore.releaseLease(this.#lease);
    this.#lost.abort();
  }

  async #beat(): Promise<void> {
    try {
      await this.#renew();
    } catch {
      // The store cannot be reached; until the lease ends, there is time to retry.
      if (this.#isOver()) this.#lose();
    }
  }

  async #renew(): Promise<void> {
    const until = validUntil(this.#options);
    const lease = await acquire(this.#options);
    // A new token means that the lease had lapsed: another owner may have worked in the meantime.
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

/** The validity of a lease that is requested now. */
function validUntil({ clock, steady = steadyClock, durationMs }: LeaseOptions): Validity {
  const sure = durationMs * MICROS_PER_MS * (1 - SAFETY_MARGIN);
  return { wall: clock.now() + sure, steady: steady.now() + sure };
}
