/**
 * A lease that was taken by a clock which has since been set back ends, by the clock as it is now, hours from now. Whoever
 * waits for one can tell that its holder is gone all the same: a holder renews it well before its time is over, so one
 * that stays as it is for a whole one is held by nobody. Of another machine's clock nothing need be known for that.
 */
import type { Micros } from '../runtime/instant.ts';

/** A lease as it is stored. */
export interface StoredLease {
  readonly token: number;
  readonly expiresAt: Micros;
}

interface Seen extends StoredLease {
  readonly at: Micros;
}

export class UnrenewedLeases {
  readonly #seen = new Map<string, Seen>();

  /** Notes how a lease stands that somebody else holds. @returns whether it was not renewed for its whole time */
  isUnrenewed(name: string, { token, expiresAt }: StoredLease, now: Micros, durationMicros: Micros): boolean {
    // It ends in its time.
    if (expiresAt <= now + durationMicros) {
      this.#seen.delete(name);
      return false;
    }
    const seen = this.#seen.get(name);
    const isSame = seen?.token === token && seen.expiresAt === expiresAt && seen.at <= now;
    if (!isSame) this.#seen.set(name, { token, expiresAt, at: now });
    return isSame && now - seen.at >= durationMicros;
  }
}
